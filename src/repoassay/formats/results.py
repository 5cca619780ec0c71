"""Results of submissions as JSON lines: appended one by one, read back to go on, and turned into a JUnit report."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self

from repoassay.errors import BadInput
from repoassay.formats.junit import JUnitCase
from repoassay.formats.result_index import ResultIndex
from repoassay.formats.submissions import SubmissionMark
from repoassay.records import OBJECTS, Codec, JsonLines, index_path, with_index, with_version
from repoassay.text import printable, quote

__all__ = ["ResultLog", "read_results", "result_case"]

_NOUN = "result of this program"
_LARGEST = 2**40
_LONGEST_LINE = 64 * 2**20


def _read_result(line: bytes) -> dict[str, Any]:
    record = OBJECTS.read(line)
    wanted = (("id", str), ("number", int), ("message", str), ("patch_sha256", str))
    if not all(isinstance(record.get(key), kind) for key, kind in wanted) or record["number"].bit_length() > 63:
        raise ValueError("is no result")
    return record


def _write_result(record: dict[str, Any]) -> bytes:
    return json.dumps(with_version(record)).encode()


def _file(path: Path) -> JsonLines[dict[str, Any]]:
    return JsonLines(
        path, Codec(_read_result, _write_result), limit=_LARGEST, longest=_LONGEST_LINE, fsync=False, follow=True
    )


class ResultLog:
    """One JSON object a line, by submission id and number; with no path, nothing is kept.

    A torn last line, as a killed process leaves, is cut off; any other line that is no result is refused. None of the
    results is held in memory: an index in the cache knows which submissions have one.

    Raises:
        BadInput: When the file cannot be used.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file = _file(path) if path is not None else None
        self._index: ResultIndex | None = None

    def __enter__(self) -> Self:
        if self._path is not None and self._file is not None:
            file, path = self._file, self._path
            if os.path.lexists(path):
                file.cut_torn_line()
            self._index = with_index(lambda: index_path("results", path), partial(ResultIndex, file, _NOUN))
        return self

    def __exit__(self, *_: object) -> None:
        if self._index is not None:
            self._index.close()

    def prepare(self) -> None:
        """Make sure that results can be added; raises as the class does."""
        if self._file is not None:
            self._file.prepare()

    @property
    def counts(self) -> Mapping[str, int]:
        """How many results that were judged have each message, as of the last note."""
        return self._index.counts if self._index is not None else {}

    def has(self, name: str, number: int, patch: str) -> bool:
        """Whether a submission had its result at the last note; `patch` is the sha256 of its patch.

        Raises:
            BadInput: When the result is of another patch.
        """
        found = self._index.patch_of(name, number) if self._index is not None else None
        if found not in (None, patch):
            raise BadInput(
                f"{self._path} holds the result of another patch for {quote(name)}, number {number}.",
                "Name another file for these submissions.",
            )
        return found is not None

    def add(self, record: dict[str, Any]) -> None:
        """Append one result and hand it to the operating system."""
        if self._file is not None:
            self._file.append(record)

    def judged(self) -> Iterator[dict[str, Any]]:
        """Iterate over the results in the file, without what we failed to judge."""
        return _judged(self._file.each(_NOUN)) if self._file is not None else iter(())

    def answered(self, submissions: Path) -> SubmissionMark | None:
        """How far a file of submissions was noted to have results, all of them of these patches."""
        return self._index.answered(submissions) if self._index is not None else None

    def note(self, submissions: Path | None = None, mark: SubmissionMark | None = None) -> None:
        """Take in what was added, and note that all submissions of a file up to a mark have results."""
        if self._index is not None:
            self._index.catch_up()
            if submissions is not None and mark is not None:
                self._index.answer(submissions, mark)

    def checked(self, submissions: Path) -> SubmissionMark | None:
        """How far a file of submissions was noted to hold nothing wrong, nor a patch whose result is of another."""
        return self._index.checked(submissions) if self._index is not None else None

    def note_check(self, submissions: Path, mark: SubmissionMark) -> None:
        """Note that nothing is wrong in a file of submissions up to a mark."""
        if self._index is not None:
            self._index.check(submissions, mark)

    def results_of(self, numbers: Mapping[str, int]) -> int:
        """How many submissions had their result at the last note, of so many of each id."""
        return self._index.results_of(numbers) if self._index is not None else 0


def read_results(path: Path) -> Iterator[dict[str, Any]]:
    """Iterate over what `ResultLog` wrote, without what we failed to judge.

    Raises:
        BadInput: When there is no such file or a line is no result.
    """
    if not path.is_file():
        raise BadInput(
            f"There is no file {printable(str(path), 300)}.", "`repoassay submit --results FILE` writes one."
        )
    return _judged(_file(path).each(_NOUN))


def _judged(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Without those we failed to judge, which are to be tried again."""
    return (record for record in records if record["message"] != "ERROR")


def result_case(record: Mapping[str, Any]) -> JUnitCase:
    """A result as a test case."""
    message = str(record["message"])
    return JUnitCase(
        str(record.get("model") or "submission"),
        f"{record['id']}#{record['number']}",
        "" if message == "PASS" else "error" if message == "ERROR" else "failure",
        message,
        text=str(record.get("test_suite_feedback", "")),
        seconds=str(record.get("seconds", 0)),
    )
