"""What fair criteria must make of a mutant: from the change itself, from the task's criteria, from the task's word."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from repoassay.grading import get, names
from repoassay.mutants.outputs.mutant import Expected, MadeMutant
from repoassay.types import Criterion, Task

__all__ = ["expect", "slack_of"]

_MARGIN = 2.0
"""So many times the slack still counts as within it: an F1 is lowered by half of the share that is missing."""


def expect(mutant: MadeMutant, task: Task) -> tuple[Expected, str]:
    """What is expected of a mutant, and why.

    1. What the task states of it in `[mutants]`: `refuse`, `accept` or `tolerate`, by name, each with its reason.
    2. A wrong size is wrong where a criterion compares the output with the task's own reference, and open elsewhere.
    3. A share of wrong content that the criteria's thresholds openly allow is open.
    4. Otherwise what the change says.
    """
    stated = task.mutants
    for expected, entries in (
        (Expected.WRONG, stated.refuse), (Expected.RIGHT, stated.accept), (Expected.OPEN, stated.tolerate)
    ):  # fmt: skip
        if (why := _stated(mutant, entries)) is not None:
            return expected, why
    if mutant.sized and not any(_compares(item) for item in _criteria(mutant, task)):
        return Expected.OPEN, "the task states no size"
    if mutant.expected is Expected.WRONG and mutant.share < 1:
        slack = slack_of(task, mutant)
        if mutant.share <= slack * _MARGIN:
            return Expected.OPEN, f"{mutant.share:.3g} of it is wrong, and the criteria allow {slack:.3g}"
    return mutant.expected, ""


def slack_of(task: Task, mutant: MadeMutant) -> float:
    """The share of wrong content that the strictest criterion counting in shares allows; 0 where there is none."""
    return min((slack for item in _criteria(mutant, task) if (slack := _slack(item)) is not None), default=0.0)


def _slack(item: Criterion) -> float | None:
    if item.metric not in names():
        return None
    found = get(item.metric)
    if found.unit != "ratio" or found.span not in ("[0, 1]", "[0, inf)"):
        return None
    if found.better == "higher":
        least = item.at_least if item.at_least is not None else item.above
        least = item.equals if least is None else least
        return None if least is None or found.span != "[0, 1]" else 1 - float(least)
    if found.better != "lower" or not found.needs_reference:
        return None
    most = item.at_most if item.at_most is not None else item.below
    return None if most is None else float(most)


def _criteria(mutant: MadeMutant, task: Task) -> list[Criterion]:
    """Result criteria that look at the mutant's file: those of its pattern, or all where one file is expected."""
    found = task.grading.result
    if len(task.outputs.files) == 1:
        return list(found)
    return [item for item in found if item.of in (mutant.file, ".")]


def _compares(item: Criterion) -> bool:
    return item.against is not None and item.against.startswith("truth:")


def _stated(mutant: MadeMutant, entries: Mapping[str, str]) -> str | None:
    for pattern, why in entries.items():
        if fnmatchcase(mutant.name, pattern) or fnmatchcase(f"{mutant.file}:{mutant.name}", pattern):
            return why
    return None
