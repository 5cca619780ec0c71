"""What the tests behind a rate are worth: strengths that were known when a run was planned, as a sentence."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from repoassay.records import read_strengths
from repoassay.types import SuiteStrength

__all__ = ["strength_sentence", "strengths_of"]

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


def strength_sentence(strengths: SuiteStrength | None, tasks: int) -> str:
    """Median and weak tasks of so many; empty where nothing is known. Names of tasks are hostile."""
    if strengths is None or strengths.median is None:
        return ""
    weak = ", ".join(f"{task.task} {task.share:.0%}" for task in strengths.weak[:_NAMED])
    more = f" and {len(strengths.weak) - _NAMED} more" if len(strengths.weak) > _NAMED else ""
    return (
        f"Strength of the tests: median {strengths.median:.0%} of mutants killed over {len(strengths.known)} of"
        f" {tasks} tasks; {len(strengths.weak)} weak (below {strengths.tolerance:.0%})"
        f"{': ' if weak else ''}{weak}{more}."
    )
