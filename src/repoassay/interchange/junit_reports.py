"""JUnit XML as a run: a test case is a submission that was judged, as `submit --junit` and CI systems write them.

The reader takes elements and their text alone: a document type is refused before anything of it is read, so that no
entity is ever expanded or fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from xml.parsers import expat

from repoassay.agents import moment
from repoassay.errors import BadInput
from repoassay.interchange.agent_files import plain_files
from repoassay.interchange.foreign_run import ForeignAttempt, ReportedResult
from repoassay.text import printable

__all__ = ["JUnitReports"]

_MOST_FILE = 256 * 2**20
_MOST_TEXT = 20_000
_DEEPEST = 64
_PROBLEMS = ("failure", "error", "skipped")
_REPEATED = re.compile(r"(?P<task>.+)#\d{1,9}")
"""A test case of `submit`: the submission's id and its number."""


@dataclass(slots=True)
class _Case:
    classname: str
    name: str
    seconds: float
    stamp: datetime | None
    problem: str = ""
    message: str = ""
    text: str = ""


class JUnitReports:
    """Each test case an attempt: its name the task, its class the agent."""

    title = "JUnit XML: a test case is a submission, its class who made it"
    gives = "run"
    version = "JUnit XML as submit, pytest and Jenkins write it"
    lost = (
        "Patches, trajectories, tokens and dollars: it has none.",
        "Properties, and what a case printed.",
        "Whether an error was the submission's: it counts as unknown.",
    )  # fmt: skip

    def recognizes(self, source: Path) -> bool:
        """Whether the file, or an XML file in the folder itself, begins as one."""
        try:
            files = [source] if source.is_file() else sorted(source.glob("*.xml"))[:20]
            return any(path.suffix == ".xml" and b"<testsuite" in _head(path) for path in files)
        except OSError:
            return False

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a test case."""
        for path in plain_files(source, ".xml"):
            if source.is_file() or b"<testsuite" in _head(path):
                for case in _Reader(path).cases():
                    yield _attempt(case)


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(4096)


def _attempt(case: _Case) -> ForeignAttempt:
    named = _REPEATED.fullmatch(case.name)
    passed = {"": True, "failure": False}.get(case.problem)
    message = " ".join(part for part in (case.message, case.text.strip()[:2000]) if part)
    word = f"{case.problem}: " if case.problem in ("error", "skipped") else ""
    stamp = case.stamp
    return ForeignAttempt(
        task=named["task"] if named else case.name,
        agent=case.classname or "unknown",
        reported=ReportedResult(passed, "JUnit", comments=(f"{word}{message}".strip(),) if word or message else ()),
        started=stamp,
        ended=stamp + timedelta(seconds=case.seconds) if stamp else None,
    )


class _Reader:
    """Reads one document, a piece at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._done: list[_Case] = []
        self._case: _Case | None = None
        self._stamps: list[datetime | None] = []
        self._depth, self._taking = 0, False
        self._parser = expat.ParserCreate()
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text

    def cases(self) -> Iterator[_Case]:
        """Test cases in order.

        Raises:
            BadInput: It is no whole XML document, has a document type, or is too large.
        """
        if self._path.stat().st_size > _MOST_FILE:
            raise self._error(f"is larger than {_MOST_FILE >> 20} MiB")
        with self._path.open("rb") as stream:
            while True:
                piece = stream.read(1 << 16)
                try:
                    self._parser.Parse(piece, not piece)
                except expat.ExpatError as error:
                    raise self._error(f"is no whole XML document ({error})") from None
                yield from self._done
                self._done = []
                if not piece:
                    return

    def _error(self, what: str) -> BadInput:
        return BadInput(
            f"{printable(str(self._path), 500)} {what}.",
            "Write the report again, as plain XML without a document type.",
        )

    def _doctype(self, *_: object) -> None:
        raise self._error("has a document type, which may hold entities")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"is nested deeper than {_DEEPEST} elements")
        if name == "testsuite":
            self._stamps.append(moment(attributes.get("timestamp")))
        elif name == "testcase":
            stamp = moment(attributes.get("timestamp")) or next((one for one in reversed(self._stamps) if one), None)
            self._case = _Case(
                attributes.get("classname", ""), attributes.get("name", ""), _seconds(attributes.get("time")), stamp
            )
        elif name in _PROBLEMS and self._case is not None and not self._case.problem:
            self._case.problem, self._case.message = name, attributes.get("message", "")[:_MOST_TEXT]
            self._taking = True

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._taking = False
        if name == "testsuite" and self._stamps:
            self._stamps.pop()
        elif name == "testcase" and self._case is not None:
            self._done.append(self._case)
            self._case = None

    def _text(self, text: str) -> None:
        if self._taking and self._case is not None and len(self._case.text) < _MOST_TEXT:
            self._case.text += text[:_MOST_TEXT]


def _seconds(text: str | None) -> float:
    try:
        found = float(text or 0)
    except ValueError:
        return 0.0
    return found if 0 <= found < 10**8 else 0.0
