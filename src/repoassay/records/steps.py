"""The steps of an attempt as the model proxy saw them, `steps.jsonl`: what its models were told and what they answered.

A line is a `TrajectoryStep`, written as its call ends, so that an attempt can be followed while it works. What a tool
answered comes with the next request and is a step of its own there; `read_steps` puts it with the step that called.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.records.lines import JsonLines, record_codec
from repoassay.types import Source, TrajectoryStep

__all__ = ["STEPS", "read_steps", "steps_file"]

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
