"""One grading run as it leaves records: none of its tasks keeps an older record as its last."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import Self

from repoassay.benchmarks.gittaskbench.formats.records import ResultRecord, append_record
from repoassay.errors import BadInput, RepoAssayError
from repoassay.text import printable

__all__ = ["Recording"]


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
