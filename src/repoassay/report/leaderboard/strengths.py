"""What is known of the tests behind the leaderboard's rates: from own runs alone, by task and digest.

A submission is told of by own runs of the same tasks; what it says of its tests itself is not taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from repoassay.records import RunFolder, read_strengths
from repoassay.types import SuiteStrength, TaskStrength

__all__ = ["KnownStrengths", "strength_document"]


class KnownStrengths:
    """Strengths of tasks as own runs took them along when they were planned.

    Args:
        runs: Folders of own runs.

    Raises:
        BadInput: When the strengths of one cannot be read.
    """

    def __init__(self, runs: Iterable[Path]) -> None:
        self._tasks: dict[tuple[str, str], TaskStrength] = {}
        self._tolerance: dict[str, float] = {}
        for run in runs:
            if (found := read_strengths(run)) is not None:
                self._tasks |= {(task.task, task.task_digest): task for task in found.tasks}
                self._tolerance[RunFolder(run).plan.suite] = found.tolerance

    def of(self, run: Path) -> SuiteStrength | None:
        """What is known of a run's tasks; None where nothing is."""
        plan = RunFolder(run).plan
        planned = [(task.id, task.digest) for task in plan.tasks]
        tasks = tuple(self._tasks[each] for each in planned if each in self._tasks)
        suite_strength = SuiteStrength(
            tasks=tasks, tolerance=self._tolerance.get(plan.suite, SuiteStrength().tolerance)
        )
        return suite_strength if suite_strength.median is not None else None


def strength_document(strengths: SuiteStrength | None) -> dict[str, Any] | None:
    """Median, number of tasks and weak tasks, for JSON."""
    if strengths is None or strengths.median is None:
        return None
    return {
        "median": round(strengths.median, 9), "tasks": len(strengths.known), "tolerance": strengths.tolerance,
        "weak": [task.task for task in strengths.weak],
    }  # fmt: skip
