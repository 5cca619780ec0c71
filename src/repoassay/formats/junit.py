"""JUnit XML, for the test views of CI systems: written whole, without characters that XML 1.0 cannot hold."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from repoassay.errors import BadInput

__all__ = ["JUnitCase", "JUnitSpool", "JUnitSuite", "junit_document", "write_junit_file"]

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


class JUnitSpool:
    """Test cases of one suite, of any number, on disk until they are written. A context manager."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._problems: Counter[str] = Counter()
        self._count = 0
        self._cases = tempfile.TemporaryFile("w+b")  # noqa: SIM115 - closed by __exit__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cases.close()

    def add(self, case: JUnitCase) -> None:
        """Add a test case."""
        element = _case(case)
        indent(element, level=1)
        self._cases.write(b"  " + tostring(element, encoding="unicode").encode() + b"\n")
        self._problems[case.problem] += 1
        self._count += 1

    def write(self, path: Path) -> None:
        """Write the document that `junit_document` makes of these cases; raises as `write_junit_file`."""
        write_junit_file(path, self.parts())

    def parts(self) -> Iterator[bytes]:
        """The same document in parts, to be written elsewhere."""
        head = _head(self._name, self._count, self._problems)
        if not self._count:
            yield tostring(head, encoding="utf-8", xml_declaration=True) + b"\n"
            return
        begin, _, end = tostring(
            head, encoding="utf-8", xml_declaration=True, short_empty_elements=False
        ).rpartition(b"</")  # fmt: skip
        self._cases.seek(0)
        yield begin + b"\n"
        yield from self._cases
        yield b"</" + end + b"\n"


def _suite(suite: JUnitSuite) -> Element:
    element = _head(suite.name, len(suite.cases), Counter(case.problem for case in suite.cases))
    element.extend(map(_case, suite.cases))
    return element


def _head(name: str, count: int, problems: Mapping[str, int]) -> Element:
    element = Element("testsuite", name=_legal(name), tests=str(count))
    for key, problem in _COUNTS:
        element.set(key, str(problems.get(problem, 0)))
    return element


def _case(case: JUnitCase) -> Element:
    shown = Element("testcase", classname=_legal(case.classname), name=_legal(case.name), time=case.seconds)
    if case.problem:
        reason = SubElement(shown, case.problem, message=_legal(case.message))
        reason.text = _legal(case.text) or None
        if case.kind:
            reason.set("type", case.kind)
    return shown


def _legal(text: str) -> str:
    return "".join(letter for letter in text if letter in "\t\n\r" or " " <= letter <= "\ud7ff" or letter > "\udfff")


def write_junit_file(path: Path, document: bytes | Iterable[bytes]) -> None:
    """Write a document, or its parts, whole or not at all, replacing an earlier one.

    Raises:
        BadInput: When it cannot be written there.
    """
    part = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".junit-", delete=False) as stream:
            part = Path(stream.name)
            stream.writelines([document] if isinstance(document, bytes) else document)
        part.chmod(0o644)
        os.replace(part, path)  # noqa: PTH105 - replaces a link itself, not what it points to
    except OSError as error:
        if part is not None:
            with contextlib.suppress(OSError):
                part.unlink()
        raise BadInput(
            f"The JUnit file {path} cannot be written: {error.strerror}.", "Name another --junit."
        ) from error
