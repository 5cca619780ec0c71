"""Items whose right answer is known, made of human changes: controls, attention checks, training and qualification."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from repoassay.errors import BadInput
from repoassay.review import (
    AnswerKey,
    Golden,
    HiddenPart,
    ItemPayload,
    ItemUse,
    Rubric,
    blinded,
    faulty_changes,
    key_for,
)
from repoassay.server.review.item_builder import TaskSide, human_payload

__all__ = ["ControlCounts", "ControlItem", "make_controls"]


@dataclass(frozen=True, slots=True)
class ControlCounts:
    """How many of each a lead asks for: human changes, ones with a fault, attention checks, and items that prepare."""

    good: int = 0
    bad: int = 0
    attention: int = 0
    training: int = 0
    qualification: int = 0


@dataclass(frozen=True, slots=True)
class ControlItem:
    """An item without its name. `key` is there where it prepares raters."""

    payload: ItemPayload
    hidden: HiddenPart
    use: ItemUse = ItemUse.LIVE
    key: AnswerKey | None = None


def make_controls(
    tasks: Mapping[str, tuple[TaskSide, str]], wanted: ControlCounts, names: Sequence[str], rubric: Rubric, seed: int
) -> list[ControlItem]:
    """Make every item whose answer is known. Training and qualification take bad and good ones in turn.

    Args:
        tasks: By name, with the run they were in.
        wanted: How many of each.
        names: Of agents and models, taken out of controls as out of everything else.
        rubric: For the keys of items that prepare.
        seed: Draws tasks and faults.

    Raises:
        BadInput: When these tasks have too few human changes for that.
    """
    able = sorted(task for task, (side, _) in tasks.items() if side.solution)
    draw = random.Random(f"controls:{seed}")  # noqa: S311 - to be repeated
    if wanted.good > len(able):
        raise BadInput(
            f"Only {len(able)} of these tasks have a human change to mix in as a control.", "Ask for fewer controls."
        )
    controls = [_good(task, tasks, names) for task in draw.sample(able, wanted.good)]
    bad = _bad(tasks, names, seed, gross=False)
    attention = _bad(tasks, names, seed, gross=True)
    controls += [_next(bad, "known-bad controls") for _ in range(wanted.bad)]
    controls += [_next(attention, "attention checks") for _ in range(wanted.attention)]
    fine = draw.sample(able, len(able))
    for number in range(wanted.training + wanted.qualification):
        use = ItemUse.TRAINING if number < wanted.training else ItemUse.QUALIFICATION
        acceptable = number % 2 == 1 and bool(fine)
        one = _good(fine.pop(), tasks, names) if acceptable else _next(bad, "items that prepare raters")
        feedback = (
            str(one.hidden.evidence.get("told", "")) or "A change by people that was merged; nothing was altered."
        )
        axis = str(one.hidden.evidence.get("axis", "")) or None
        key = key_for(rubric, axis, acceptable=acceptable, feedback=feedback)
        controls.append(ControlItem(one.payload, one.hidden, use, key))
    return controls


def _good(task: str, tasks: Mapping[str, tuple[TaskSide, str]], names: Sequence[str]) -> ControlItem:
    side, run = tasks[task]
    hidden = HiddenPart(
        task=task, repository=side.repository, system="human", run=run, tests=True, golden=Golden.GOOD,
        origin="reference",
    )  # fmt: skip
    return ControlItem(blinded(human_payload(side), names), hidden)


def _bad(
    tasks: Mapping[str, tuple[TaskSide, str]], names: Sequence[str], seed: int, *, gross: bool
) -> Iterator[ControlItem]:
    """Give changes with a fault: of each task one, before any task gives a second."""
    lines = {}
    for task, (side, _) in sorted(tasks.items()):
        if side.solution:
            lines[task] = list(faulty_changes(side.solution, seed, gross=gross))
    turns = list(lines)
    random.Random(f"faulty:{seed}:{gross}").shuffle(turns)  # noqa: S311 - to be repeated
    while any(lines.values()):
        for task in turns:
            if not lines[task]:
                continue
            side, run = tasks[task]
            fault = lines[task].pop(0)
            payload = human_payload(side).model_copy(update={"diff": fault.diff})
            evidence = {"fault": fault.fault, "axis": fault.axis, "gross": fault.gross, "told": fault.description}
            hidden = HiddenPart(
                task=task, repository=side.repository, system="human", run=run, golden=Golden.BAD,
                origin=f"fault:{fault.fault}", evidence=evidence,
            )  # fmt: skip
            yield ControlItem(blinded(payload, names), hidden)


def _next(line: Iterator[ControlItem], what: str) -> ControlItem:
    found = next(line, None)
    if found is None:
        raise BadInput(f"These tasks have too few human changes to make so many {what}.", "Ask for fewer.")
    return found
