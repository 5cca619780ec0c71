"""Records: one JSON object a line in `<results>/<task>/results.jsonl`, appended; the last one counts.

A line has `Process` and `Result` (true, false; null where we could not tell), `TimePoint` (ISO time) and `comments`.
Published files vary: booleans as strings, `Results`, `Comments`. All of that is read; only the first form is written.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from repoassay.errors import BadInput, RepoAssayError
from repoassay.records import append_line, numbered_lines
from repoassay.text import printable
from repoassay.types import Verdict

__all__ = ["FILE", "Recording", "RecordsRead", "ResultRecord", "append_record", "parse_record", "read_records"]

FILE = "results.jsonl"
"""Name of every task's file of records."""
_MAX_FILE = 64 * 2**20
_MAX_COMMENT = 20_000
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class ResultRecord:
    """One grading of one task.

    `process` and `result` are None where unknown, which is never a pass. `time_point` is text as it was found,
    `comments` is free text.
    """

    process: bool | None
    result: bool | None
    time_point: str = ""
    comments: str = ""

    @classmethod
    def from_verdict(cls, verdict: Verdict) -> Self:
        """Translate a verdict; the comments end with who judged and by which reading of the criteria."""
        measured = [
            f"{item.of}: {item.metric} is {item.value:.4g}, needs {item.threshold}."
            for item in verdict.criteria
            if item.passed and item.value is not None
        ]
        judge = f"{verdict.outcome.value}: {verdict.grader}, {verdict.reading.value} criteria."
        lines = [*verdict.comments, *measured, judge]
        return cls(verdict.process, verdict.result, verdict.graded_at.isoformat(timespec="seconds"), "\n".join(lines))

    @classmethod
    def unknown(cls, why: str) -> Self:
        """Return the record of a grading that came to no verdict."""
        return cls(None, None, datetime.now(UTC).isoformat(timespec="seconds"), f"Not judged: {why}")

    def to_line(self) -> str:
        """Return the record as one line of ASCII, without its line end; comments are cut after 20 000 characters."""
        comments = self.comments if len(self.comments) <= _MAX_COMMENT else self.comments[: _MAX_COMMENT - 3] + "..."
        record = {"Process": self.process, "Result": self.result, "TimePoint": self.time_point, "comments": comments}
        return json.dumps(record)


@dataclass(frozen=True, slots=True)
class RecordsRead:
    """Readable records of one file in order, and the numbers of the lines that could not be read."""

    records: tuple[ResultRecord, ...]
    unread: tuple[int, ...]


def parse_record(line: str) -> ResultRecord:
    """Read one line in any of the published variants.

    Where a key stands there twice under different spellings, true needs all of them to be true.

    Raises:
        ValueError: When the line is no record.
    """
    try:
        data = json.loads(line.strip().removeprefix(_BOM))
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    if not isinstance(data, dict):
        raise ValueError("is no JSON object")  # noqa: TRY004 - a line is hostile text, not a wrong argument
    found: dict[str, list[object]] = {"process": [], "result": [], "timepoint": [], "comments": []}
    for key, value in data.items():
        name = {"results": "result", "comment": "comments"}.get(key.strip().lower(), key.strip().lower())
        if name in found:
            found[name].append(value)
    if not found["process"] and not found["result"]:
        raise ValueError("has neither Process nor Result")
    return ResultRecord(
        _truth(found["process"]), _truth(found["result"]), _text(found["timepoint"]), _text(found["comments"])
    )


def _truth(values: list[object]) -> bool | None:
    truths = [_boolean(value) for value in values]
    if False in truths:
        return False
    return None if None in truths or not truths else True


def _boolean(value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise ValueError("has a Process or Result that is neither true nor false")


def _text(values: list[object]) -> str:
    return "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values if value is not None)


def read_records(path: Path) -> RecordsRead:
    """Read one file of records; lines that are no records are reported by number, blank ones are not.

    Raises:
        OSError: When the file cannot be read, is a link or no regular file, or is larger than 64 MiB.
    """
    records: list[ResultRecord] = []
    unread: list[int] = []
    for number, line in numbered_lines(path, limit=_MAX_FILE):
        text = (line or b"?").decode(errors="replace").removeprefix(_BOM).strip()
        if not text:
            continue
        try:
            records.append(parse_record(text))
        except ValueError:
            unread.append(number)
    return RecordsRead(tuple(records), tuple(unread))


def append_record(results: Path, task: str, record: ResultRecord) -> Path:
    """Add a record to `results/task/results.jsonl`, on disk before this returns; give its path.

    Raises:
        BadInput: When it cannot be written there, or a link stands in the way.
    """
    folder = results / task
    try:
        folder.mkdir(parents=True, exist_ok=True)
        inside = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            append_line(FILE, record.to_line().encode(), folder=inside)
        finally:
            os.close(inside)
    except OSError as error:
        reason = "a link is in the way" if error.errno == errno.ELOOP else error.strerror
        raise BadInput(
            f"The record of {task} cannot be written to {printable(str(folder), 500)}: {reason}.",
            "Choose another folder for records with --result.",
        ) from error
    return folder / FILE


class Recording:
    """Sees to it that every task that is graded anew gets a record, whatever happens in between.

    As a context manager: tasks that got no record by `add` get one that says unknown and why, so that an older pass
    never stands for outputs that were not judged.

    Raises:
        BadInput: When records cannot be written.
    """

    def __init__(self, results: Path, tasks: Collection[str]) -> None:
        self.results = results
        self._pending = sorted(tasks)

    def __enter__(self) -> Self:
        try:
            self.results.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(
                f"The results folder {printable(str(self.results), 500)} cannot be made: {error.strerror}.",
                "Choose another with --result.",
            ) from error
        return self

    def add(self, task: str, record: ResultRecord) -> Path:
        """Append the record of one of the tasks; give the file it went to."""
        path = append_record(self.results, task, record)
        if task in self._pending:
            self._pending.remove(task)
        return path

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        why = "grading came to no verdict"
        if isinstance(error, RepoAssayError):
            why = str(error)
        elif kind is not None:
            why = "grading was interrupted" if issubclass(kind, KeyboardInterrupt) else "the grader failed"
        while self._pending:
            append_record(self.results, self._pending.pop(0), ResultRecord.unknown(why))
