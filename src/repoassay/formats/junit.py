"""JUnit XML, for the test views of CI systems: written whole, without characters that XML 1.0 cannot hold."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from repoassay.errors import BadInput

__all__ = ["JUnitCase", "JUnitSuite", "junit_document", "write_junit_file"]

_COUNTS = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))


@dataclass(frozen=True, slots=True)
class JUnitCase:
    """One test case. `problem` is the element that says why it did not pass, empty where it did; `seconds` as text."""

    classname: str
    name: str
    problem: Literal["", "failure", "error", "skipped"] = ""
    message: str = ""
    kind: str = ""
    text: str = ""
    seconds: str = "0"


@dataclass(frozen=True, slots=True)
class JUnitSuite:
    """Test cases of one name."""

    name: str
    cases: Sequence[JUnitCase]


def junit_document(suites: Sequence[JUnitSuite], name: str = "") -> bytes:
    """The document: suites below a root of this name, or the only suite itself where it has none."""
    elements = [_suite(suite) for suite in suites]
    root = elements[0] if not name else Element("testsuites", name=_legal(name))
    if name:
        root.extend(elements)
        for key in ("tests", "failures", "errors", "skipped"):
            root.set(key, str(sum(int(suite.get(key, "0")) for suite in elements)))
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(suite: JUnitSuite) -> Element:
    element = Element("testsuite", name=_legal(suite.name), tests=str(len(suite.cases)))
    for key, problem in _COUNTS:
        element.set(key, str(sum(case.problem == problem for case in suite.cases)))
    for case in suite.cases:
        shown = SubElement(
            element, "testcase", classname=_legal(case.classname), name=_legal(case.name), time=case.seconds
        )
        if case.problem:
            reason = SubElement(shown, case.problem, message=_legal(case.message))
            reason.text = _legal(case.text) or None
            if case.kind:
                reason.set("type", case.kind)
    return element


def _legal(text: str) -> str:
    return "".join(letter for letter in text if letter in "\t\n\r" or " " <= letter <= "\ud7ff" or letter > "\udfff")


def write_junit_file(path: Path, document: bytes) -> None:
    """Write a document whole or not at all, replacing an earlier one.

    Raises:
        BadInput: When it cannot be written there.
    """
    part = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".junit-", delete=False) as stream:
            part = Path(stream.name)
            stream.write(document)
        part.chmod(0o644)
        os.replace(part, path)  # noqa: PTH105 - replaces a link itself, not what it points to
    except OSError as error:
        if part is not None:
            with contextlib.suppress(OSError):
                part.unlink()
        raise BadInput(
            f"The JUnit file {path} cannot be written: {error.strerror}.", "Name another --junit."
        ) from error
