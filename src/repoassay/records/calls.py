"""What the model proxy wrote of an attempt, read back: its calls of models, `usage.jsonl`, and what was said in them.

An attempt that was killed has a journal and no `attempt.json`; its money is gone all the same. A line of `steps.jsonl`
is a `TrajectoryStep`, written as its call ends, so that an attempt can be followed while it works. What a tool answered
comes with the next request and is a step of its own there; `read_steps` puts it with the step that called.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.records.lines import JsonLines, record_codec
from repoassay.types import Call, Source, Spending, TrajectoryStep

__all__ = ["JOURNAL", "STEPS", "CallsRead", "journal_spent", "read_calls", "read_steps", "run_spent", "steps_file"]


@dataclass(frozen=True, slots=True)
class CallsRead:
    """Whole records in order, and the numbers of the lines that could not be read."""

    calls: tuple[Call, ...]
    torn: tuple[int, ...]


def read_calls(path: Path) -> CallsRead:
    """Read a journal, leaving out lines that are torn or not calls. A missing file is an empty journal.

    Raises:
        BadInput: When it is a link, no regular file, cannot be read, or was written by a newer RepoAssay.
    """
    found = JsonLines(path, record_codec(Call)).read()
    return CallsRead(found.items, found.torn)


JOURNAL = "usage.jsonl"
"""Name of an attempt's journal of model calls."""


def journal_spent(attempt_folder: Path) -> Spending:
    """The account of one attempt as its journal has it; nothing where there is none."""
    return Spending.of(read_calls(attempt_folder / JOURNAL).calls)


def run_spent(run: Path, attempts: Collection[str] | None = None) -> dict[str, Spending]:
    """Attempt id -> its account, for every attempt folder with a journal, finished or not, or for these alone."""
    if attempts is None:
        attempts = sorted(path.parent.name for path in (run / "attempts").glob(f"*/{JOURNAL}"))
    return {name: journal_spent(run / "attempts" / name) for name in attempts}


STEPS = "steps.jsonl"
"""Name of the file in an attempt's folder."""
_LARGEST, _LONGEST = 64 * 2**20, 8 * 2**20


def steps_file(path: Path) -> JsonLines[TrajectoryStep]:
    """The file, to be added to or read."""
    return JsonLines(path, record_codec(TrajectoryStep), limit=_LARGEST, longest=_LONGEST, fsync=False)


def read_steps(folder: Path) -> tuple[TrajectoryStep, ...]:
    """Read an attempt's steps; none where there is no such file, or none that can be read."""
    try:
        found = steps_file(folder / STEPS).read().items
    except BadInput:
        return ()
    return tuple(_joined(found))


def _joined(found: Iterable[TrajectoryStep]) -> list[TrajectoryStep]:
    """Steps counted anew from 1, what tools answered with the step that called them."""
    steps: list[TrajectoryStep] = []
    where: dict[str, int] = {}
    caller: int | None = None
    for step in found:
        if step.source is Source.TOOL:
            at = next((where[one.call] for one in step.observations if one.call in where), caller)
            if at is not None:
                both = (*steps[at].observations, *step.observations)
                steps[at] = steps[at].model_copy(update={"observations": both})
                continue
        if step.calls:
            caller = len(steps)
            where.update({call.id: caller for call in step.calls if call.id})
        steps.append(step.model_copy(update={"index": len(steps) + 1}))
    return steps
