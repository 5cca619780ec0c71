"""A comparison as JUnit XML, for the test views of CI systems: one case a task, and one for the ruling."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from repoassay.errors import BadInput
from repoassay.report.compare.gate import Ruling
from repoassay.report.compare.pairs import Change, TaskPair
from repoassay.report.compare.versus import Comparison, Versus
from repoassay.text import one_line

__all__ = ["junit", "write_junit"]

_MOST = 400


def junit(comparison: Comparison, rulings: Sequence[Ruling]) -> bytes:
    """The document: a suite for each comparison. A broken task is a failure, an unknown one skipped."""
    root = Element("testsuites", name="repoassay compare")
    reasons = {id(ruling.versus): ruling.reasons for ruling in rulings}
    for versus in comparison.versus:
        _suite(root, versus, reasons.get(id(versus)))
    for name in ("tests", "failures", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(root: Element, versus: Versus, reasons: Sequence[str] | None) -> None:
    name = f"{one_line(versus.first.label, 120)} to {one_line(versus.second.label, 120)}"
    suite = SubElement(root, "testsuite", name=name, errors="0")
    if reasons is not None:
        case = SubElement(suite, "testcase", classname=name, name="regression", time="0")
        if reasons:
            SubElement(case, "failure", message=one_line(" ".join(reasons), _MOST), type="regression")
    for pair in versus.pairs:
        _case(suite, name, pair)
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("*/failure"))))
    suite.set("skipped", str(len(suite.findall("*/skipped"))))


def _case(suite: Element, classname: str, pair: TaskPair) -> None:
    case = SubElement(suite, "testcase", classname=classname, name=one_line(pair.task, _MOST), time="0")
    before, after = (f"{rate.successes} of {rate.judged}" for rate in (pair.first, pair.second))
    if pair.change is Change.BROKEN:
        comment = f": {one_line(pair.comment, _MOST)}" if pair.comment else ""
        SubElement(case, "failure", message=f"was {before}, is {after}{comment}", type="broken")
    elif pair.change is Change.UNKNOWN:
        SubElement(case, "skipped", message="no answer on both sides")


def write_junit(path: Path, comparison: Comparison, rulings: Sequence[Ruling]) -> None:
    """Write the document whole or not at all, replacing an earlier one.

    Raises:
        BadInput: When it cannot be written there.
    """
    part = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".junit-", delete=False) as stream:
            part = Path(stream.name)
            stream.write(junit(comparison, rulings))
        part.chmod(0o644)
        os.replace(part, path)  # noqa: PTH105 - replaces a link itself, not what it points to
    except OSError as error:
        if part is not None:
            with contextlib.suppress(OSError):
                part.unlink()
        raise BadInput(
            f"The JUnit file {path} cannot be written: {error.strerror}.", "Name another --junit."
        ) from error
