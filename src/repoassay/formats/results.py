"""Results of submissions as JSON lines: appended one by one, read back to go on, and turned into a JUnit report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

from repoassay.errors import BadInput
from repoassay.formats.junit import JUnitCase, JUnitSuite, junit_document, write_junit_file
from repoassay.records import OBJECTS, Codec, JsonLines, with_version
from repoassay.text import printable, quote

__all__ = ["ResultLog", "read_results", "write_results_junit"]

_NOUN = "result of this program"
_LONGEST_LINE = 64 * 2**20


def _read_result(line: bytes) -> dict[str, Any]:
    record = OBJECTS.read(line)
    wanted = (("id", str), ("number", int), ("message", str), ("patch_sha256", str))
    if not all(isinstance(record.get(key), kind) for key, kind in wanted):
        raise ValueError("is no result")
    return record


def _write_result(record: dict[str, Any]) -> bytes:
    return json.dumps(with_version(record)).encode()


def _file(path: Path) -> JsonLines[dict[str, Any]]:
    return JsonLines(path, Codec(_read_result, _write_result), longest=_LONGEST_LINE, fsync=False, follow=True)


class ResultLog:
    """One JSON object a line, by submission id and number; with no path, kept in memory alone.

    A torn last line, as a killed process leaves, is cut off; any other line that is no result is refused.

    Raises:
        BadInput: When the file cannot be used.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file = _file(path) if path is not None else None
        self.records: list[dict[str, Any]] = []
        self._seen: dict[tuple[str, int], str] = {}

    def __enter__(self) -> Self:
        if self._file is not None:
            self.records = _judged(self._file.open_all(_NOUN))
            self._seen = {(one["id"], one["number"]): one["patch_sha256"] for one in self.records}
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def has(self, name: str, number: int, patch: str) -> bool:
        """Whether a submission has its result; `patch` is the sha256 of its patch.

        Raises:
            BadInput: When the result is of another patch.
        """
        found = self._seen.get((name, number))
        if found not in (None, patch):
            raise BadInput(
                f"{self._path} holds the result of another patch for {quote(name)}, number {number}.",
                "Name another file for these submissions.",
            )
        return found is not None

    def add(self, record: dict[str, Any]) -> None:
        """Append one result and hand it to the operating system."""
        self.records.append(record)
        self._seen[record["id"], record["number"]] = record["patch_sha256"]
        if self._file is not None:
            self._file.append(record)


def read_results(path: Path) -> list[dict[str, Any]]:
    """Read what `ResultLog` wrote, without what we failed to judge.

    Raises:
        BadInput: When there is no such file or a line is no result.
    """
    if not path.is_file():
        raise BadInput(
            f"There is no file {printable(str(path), 300)}.", "`repoassay submit --results FILE` writes one."
        )
    return _judged(_file(path).read_all(_NOUN))


def _judged(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without those we failed to judge, which are to be tried again."""
    return [record for record in records if record["message"] != "ERROR"]


def write_results_junit(records: list[dict[str, Any]], path: Path) -> None:
    """Write one test suite with a test case a submission; raises as `write_junit_file`."""
    write_junit_file(path, junit_document([JUnitSuite("repoassay submit", [_case(record) for record in records])]))


def _case(record: dict[str, Any]) -> JUnitCase:
    message = str(record["message"])
    return JUnitCase(
        str(record.get("model") or "submission"),
        f"{record['id']}#{record['number']}",
        "" if message == "PASS" else "error" if message == "ERROR" else "failure",
        message,
        text=str(record.get("test_suite_feedback", "")),
        seconds=str(record.get("seconds", 0)),
    )
