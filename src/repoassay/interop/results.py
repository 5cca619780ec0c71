"""Results of submissions as JSON lines: appended one by one, read back to go on, and turned into a JUnit report."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Any, Self

from repoassay.errors import BadInput
from repoassay.interop.junit import JUnitCase, JUnitSuite, junit_document, write_junit_file
from repoassay.tasks.wording import quoted, shown

__all__ = ["Results", "read_results", "write_results_junit"]


class Results:
    """One JSON object a line, by submission id and number; with no path, kept in memory alone.

    A torn last line, as a killed process leaves, is cut off; any other line that is no result is refused.

    Raises:
        BadInput: When the file cannot be used.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._stream: IO[bytes] | None = None
        self.records: list[dict[str, Any]] = []
        self._seen: dict[tuple[str, int], str] = {}

    def __enter__(self) -> Self:
        if self._path is None:
            return self
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self._path.open("a+b")
            self._stream.seek(0)
            data = self._stream.read()
        except OSError as error:
            raise BadInput(f"{self._path} cannot be written: {error.strerror}.", "Choose another place.") from error
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) != len(data):
            self._stream.truncate(len(whole))
        self.take(whole, self._path)
        self._stream.seek(0, os.SEEK_END)
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def take(self, data: bytes, path: Path) -> None:
        """Take in whole lines of results; a torn last one is passed over.

        Raises:
            BadInput: When a line is no result.
        """
        for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), 1):
            self._take(line, number, path)

    def _take(self, line: bytes, number: int, path: Path) -> None:
        try:
            record = json.loads(line)
            key = (record["id"], record["number"])
            known = isinstance(record["message"], str) and isinstance(record["patch_sha256"], str)
        except (ValueError, KeyError, TypeError, RecursionError):
            known = False
        if not known:
            raise BadInput(f"{path}: line {number} is no result of this program.", "Name another file.")
        if record["message"] == "ERROR":
            return  # ours; to be tried again
        self.records.append(record)
        self._seen[key] = record["patch_sha256"]

    def has(self, name: str, number: int, patch: str) -> bool:
        """Whether a submission has its result; `patch` is the sha256 of its patch.

        Raises:
            BadInput: When the result is of another patch.
        """
        found = self._seen.get((name, number))
        if found not in (None, patch):
            raise BadInput(
                f"{self._path} holds the result of another patch for {quoted(name)}, number {number}.",
                "Name another file for these submissions.",
            )
        return found is not None

    def add(self, record: dict[str, Any]) -> None:
        """Append one result and hand it to the operating system."""
        self.records.append(record)
        self._seen[record["id"], record["number"]] = record["patch_sha256"]
        if self._stream is not None:
            self._stream.write(json.dumps(record).encode() + b"\n")
            self._stream.flush()


def read_results(path: Path) -> list[dict[str, Any]]:
    """Read what `Results` wrote, without what we failed to judge.

    Raises:
        BadInput: When there is no such file or a line is no result.
    """
    if not path.is_file():
        raise BadInput(f"There is no file {shown(str(path), 300)}.", "`repoassay submit --results FILE` writes one.")
    found = Results(None)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    found.take(data, path)
    return found.records


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
