"""A results folder: the last record of every task, and all that was not counted, with the reason."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from repoassay.benchmarks.gittaskbench.formats.records import FILE, ResultRecord, read_records
from repoassay.errors import BadInput
from repoassay.tasks import real_folder
from repoassay.text import printable

__all__ = ["Results", "Skipped", "read_results"]

_OTHER = "result.jsonl"
"""What the published command called the file when it was told where to put it."""
_MAX_ENTRIES = 10_000


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in a results folder that was not counted, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Results:
    """What a results folder says about the tasks of a suite.

    `tasks` are all ids, sorted; `records` has the last readable record of each task that has one, by id, sorted.
    """

    folder: Path
    tasks: tuple[str, ...]
    records: Mapping[str, ResultRecord]
    skipped: tuple[Skipped, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Tasks without any readable record."""
        return tuple(task for task in self.tasks if task not in self.records)

    def process(self, value: bool | None) -> tuple[str, ...]:
        """Tasks whose Process is true, false, or (None) unknown though recorded."""
        return tuple(task for task, record in self.records.items() if record.process is value)

    def result(self, value: bool | None) -> tuple[str, ...]:
        """Tasks whose Result is true, false, or (None) unknown though recorded."""
        return tuple(task for task, record in self.records.items() if record.result is value)


def read_results(folder: Path, tasks: Collection[str]) -> Results:
    """Read a results folder; whatever in it does not count is listed with the reason.

    Args:
        folder: Holds a folder for each task, with `results.jsonl` or, where that is absent, `result.jsonl`.
        tasks: Ids of the suite's tasks; nothing else counts.

    Raises:
        BadInput: When the folder does not exist or cannot be listed.
    """
    names = _listed(folder)
    records: dict[str, ResultRecord] = {}
    skipped: list[Skipped] = []
    for name in names:
        if not real_folder(folder / name):
            skipped.append(Skipped(name, "is no folder of a task"))
        elif name not in tasks:
            skipped.append(Skipped(name, "is not the id of a task"))
        else:
            last, problems = _last(folder / name)
            skipped += [Skipped(f"{name}/{item.name}", item.reason) for item in problems]
            if last is not None:
                records[name] = last
    return Results(folder, tuple(sorted(tasks)), dict(sorted(records.items())), tuple(skipped))


def _listed(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_MAX_ENTRIES + 1), strict=False)]
    except OSError as error:
        raise BadInput(
            f"The results folder {printable(str(folder), 500)} cannot be read: {error.strerror}.",
            "Name the folder that holds <TASK>/results.jsonl with --result.",
        ) from error
    if len(names) > _MAX_ENTRIES:
        raise BadInput(
            f"The results folder {printable(str(folder), 500)} holds more than {_MAX_ENTRIES} entries.",
            "Name the folder that holds <TASK>/results.jsonl with --result.",
        )
    return sorted(names)


def _last(folder: Path) -> tuple[ResultRecord | None, list[Skipped]]:
    """The last readable record of one task's folder, and what there was not counted."""
    there = [name for name in (FILE, _OTHER) if os.path.lexists(folder / name)]
    if not there:
        return None, [Skipped(FILE, "is missing")]
    # Where both are there the first is what counts even when it is unreadable: the other could be an older pass.
    problems = [Skipped(name, f"is not read where there is {FILE}") for name in there[1:]]
    try:
        read = read_records(folder / there[0])
    except OSError as error:
        reason = "it is a link" if error.errno == errno.ELOOP else error.strerror or "of an unknown reason"
        return None, [Skipped(there[0], f"cannot be read: {reason}"), *problems]
    if read.unread:
        lines = ", ".join(str(number) for number in read.unread[:10]) + (", ..." if len(read.unread) > 10 else "")
        problems.insert(0, Skipped(there[0], f"has no readable record in line {lines}"))
    if not read.records:
        return None, problems or [Skipped(there[0], "is empty")]
    return read.records[-1], problems
