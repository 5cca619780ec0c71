"""Which runs are reviewed: one a task drawn by seed, without those an integrity check wants out, and who is reread."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["Candidate", "Sample", "draw", "siblings"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run that could be reviewed, and why an integrity check flagged it (empty where it did not)."""

    id: str
    task: str
    system: str = ""
    flagged: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was drawn, what was excluded with the reason, and tasks left without a run, as (system, task)."""

    chosen: tuple[Candidate, ...]
    excluded: tuple[tuple[Candidate, str], ...]
    empty: tuple[tuple[str, str], ...]


def draw(runs: Iterable[Candidate], seed: int, each: int = 1) -> Sample:
    """Draw `each` runs at random of every task of every system, of those not flagged.

    Every run has a rank that depends on the seed and its own name alone, so that a run added, flagged or removed
    elsewhere changes nothing here, and excluding a chosen run brings in the next of its own task.

    Args:
        runs: All runs, in any order.
        seed: Decides which.
        each: Runs a task and system, at least 1.

    Raises:
        ValueError: When a run appears twice or `each` is less than 1.
    """
    line = sorted(runs, key=lambda run: (run.system, run.task, run.id))
    if each < 1:
        raise ValueError("at least one run a task must be drawn")
    if len({run.id for run in line}) != len(line):
        raise ValueError("a run appears twice")
    groups: dict[tuple[str, str], list[Candidate]] = {}
    for run in line:
        groups.setdefault((run.system, run.task), [])
        if not run.flagged:
            groups[run.system, run.task].append(run)
    chosen = [run for group in groups.values() for run in sorted(group, key=lambda run: _rank(seed, run))[:each]]
    return Sample(
        chosen=tuple(chosen),
        excluded=tuple((run, run.flagged) for run in line if run.flagged),
        empty=tuple(pair for pair, group in groups.items() if not group),
    )


def siblings(runs: Iterable[Candidate], flagged: Mapping[str, str]) -> tuple[tuple[Candidate, str], ...]:
    """Return the runs to be read again because another run of their task was flagged, each with the reason.

    METR found that agents had fetched the human change for some issues, left those out, and read every run of those
    issues by hand, which found more.

    Args:
        runs: All runs, of every system: what one agent could reach, another could.
        flagged: Name of a run to why it was flagged.
    """
    line = sorted(runs, key=lambda run: (run.task, run.system, run.id))
    causes: dict[str, str] = {}
    for run in line:
        if run.id in flagged:
            causes.setdefault(run.task, f"{run.id} of the same task was flagged: {flagged[run.id]}")
    return tuple((run, causes[run.task]) for run in line if run.task in causes and run.id not in flagged)


def _rank(seed: int, run: Candidate) -> str:
    return hashlib.sha256(f"{seed}\0{run.id}".encode()).hexdigest()
