"""What the tests behind a rate are worth: strengths that were known when a run was planned, as a sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from repoassay.records import read_strengths
from repoassay.types import SuiteStrength

if TYPE_CHECKING:
    from repoassay.report.results import ResultRow

__all__ = ["strength_sentence", "strengths_of", "strengths_of_rows"]

_NAMED = 10
"""Weak tasks that are named; the others are counted."""


def strengths_of(run: Path, task_digests: Collection[str]) -> SuiteStrength | None:
    """Strengths of tasks as they were planned; None where none is known.

    Raises:
        BadInput: When the run's `strength.json` cannot be read.
    """
    found = read_strengths(run)
    kept = tuple(task for task in found.tasks if task.task_digest in task_digests) if found else ()
    return found.model_copy(update={"tasks": kept}) if found and kept else None


def strengths_of_rows(rows: Iterable[ResultRow]) -> SuiteStrength | None:
    """Strengths of the tasks of rows, as their runs took them along; None where none is known.

    Raises:
        BadInput: When the `strength.json` of a run cannot be read.
    """
    digests: dict[Path, set[str]] = {}
    for row in rows:
        digests.setdefault(row.run.path, set()).add(row.planned.digest)
    found = [one for run, planned in digests.items() if (one := strengths_of(run, planned)) is not None]
    tasks = {task.task_digest: task for one in found for task in one.tasks}
    return found[-1].model_copy(update={"tasks": tuple(tasks.values())}) if found else None


def strength_sentence(strengths: SuiteStrength | None, tasks: int) -> str:
    """Median and weak tasks of so many; empty where nothing is known. Names of tasks are hostile."""
    if strengths is None or strengths.median is None:
        return ""
    weak = ", ".join(f"{task.task} {task.share:.0%}" for task in strengths.weak[:_NAMED])
    more = f" and {len(strengths.weak) - _NAMED} more" if len(strengths.weak) > _NAMED else ""
    return (
        f"Strength of tests and criteria: median {strengths.median:.0%} of mutants killed over"
        f" {len(strengths.known)} of {tasks} tasks; {len(strengths.weak)} weak (below {strengths.tolerance:.0%})"
        f"{': ' if weak else ''}{weak}{more}."
    )
