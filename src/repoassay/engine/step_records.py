"""What an attempt of several steps is on record as a whole: its prompts, what was done, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import reduce
from pathlib import Path

from repoassay.records import to_json
from repoassay.tasks import step_place
from repoassay.types import Ended, Exit, OwnFigures, Trajectory, TrajectoryStep, Usage

__all__ = ["join_exits", "join_prompts", "join_trajectories"]

_PROMPT = "prompt.md"


def join_prompts(into: Path, names: Sequence[str]) -> None:
    """Write `prompt.md` of an attempt: what its agent was told at each step, where that was kept."""
    texts = [(name, step_place(into, name) / _PROMPT) for name in names]
    found = [f"# Step {name}\n\n{path.read_text('utf-8').strip()}\n" for name, path in texts if path.is_file()]
    if found:
        (into / _PROMPT).write_text("\n".join(found), "utf-8")


def join_trajectories(into: Path, names: Sequence[str], trajectories: Sequence[Trajectory]) -> None:
    """Write `trajectory.json` of an attempt: what was done at its steps, one after another."""
    if trajectories:
        own = (_of_step(each, name) for name, each in zip(names, trajectories, strict=False))
        joined = reduce(_joined, own)
        (into / "trajectory.json").write_bytes(to_json(joined, exclude_defaults=True))


def _of_step(found: Trajectory, name: str) -> Trajectory:
    """A trajectory whose calls have ids of their own, since agents count them anew each time they are started."""

    def own(call: str) -> str:
        return f"{name}/{call}" if call else ""

    steps = tuple(
        step.model_copy(
            update={
                "calls": tuple(call.model_copy(update={"id": own(call.id)}) for call in step.calls),
                "observations": tuple(
                    each.model_copy(update={"call": own(each.call)}) for each in step.observations
                ),
            }
        )
        for step in found.steps
    )  # fmt: skip
    problems = tuple(f"Step {name}: {each}" for each in found.problems)
    return found.model_copy(update={"steps": steps, "problems": problems})


def _joined(one: Trajectory, other: Trajectory) -> Trajectory:
    more = tuple(step.model_copy(update={"index": len(one.steps) + number}) for number, step in
                 enumerate(other.steps, 1))  # fmt: skip
    steps: tuple[TrajectoryStep, ...] = (*one.steps, *more)
    return one.model_copy(
        update={
            "steps": steps,
            "own": _sum(one.own, other.own),
            "ending": other.ending,
            "problems": (*one.problems, *other.problems),
        }
    )


def _sum(one: OwnFigures, other: OwnFigures) -> OwnFigures:
    """Figures of both; None where one of them tells none."""
    usage: Usage | None = one.usage + other.usage if one.usage is not None and other.usage is not None else None
    calls = one.calls + other.calls if one.calls is not None and other.calls is not None else None
    dollars: Decimal | None = None
    if one.dollars is not None and other.dollars is not None:
        dollars = one.dollars + other.dollars
    return OwnFigures(usage=usage, calls=calls, dollars=dollars, note=one.note or other.note)


def join_exits(exits: Sequence[Exit | None], reward: str) -> Exit | None:
    """How an attempt ended whose steps ended so: as its last, or out of time where a step that counts ran out of it."""
    found = [each for each in exits if each is not None]
    if not found:
        return None
    counted = found if reward == "mean" else found[-1:]
    last = next((each for each in counted if each.ended is Ended.TIMED_OUT), found[-1])
    peaks = [each.peak_memory for each in found if each.peak_memory is not None]
    return last.model_copy(
        update={
            "wall": round(sum(each.wall for each in found), 3),
            "cpu": round(sum(each.cpu for each in found), 3),
            "peak_memory": max(peaks, default=None),
            "output_truncated": any(each.output_truncated for each in found),
        }
    )
