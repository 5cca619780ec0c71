"""The places of a plan and the attempts that fill them: of every retry chain the last one counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar

from repoassay.types import Outcome, Plan

__all__ = ["AttemptStatus", "Chained", "EndedAttempt", "Slot", "SlotStatus", "counting_attempts", "places", "slots_of"]

_Item = TypeVar("_Item")


class Slot(NamedTuple):
    """One place of a plan, by task id, agent name and attempt number (from 1).

    Where it is to be filled, `retry_of` is the id of the attempt to be repeated, if any, and `tries` says how often it
    was made again by itself.
    """

    task: str
    agent: str
    number: int
    retry_of: str | None = None
    tries: int = 0


class Chained(Protocol):
    """What must be known of an attempt to place it; `repoassay.types.Attempt` is one."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def task(self) -> str:
        """Its task's id."""

    @property
    def agent(self) -> str:
        """Its name in the plan's `agents`."""

    @property
    def number(self) -> int:
        """Counts from 1 within (agent, task)."""

    @property
    def retry_of(self) -> str | None:
        """The attempt it repeats."""


class EndedAttempt(Chained, Protocol):
    """A finished attempt, and how it ended."""

    @property
    def outcome(self) -> Outcome:
        """Of its latest verdict."""


class AttemptStatus(StrEnum):
    """Whether a finished attempt enters the figures."""

    COUNTS = "counts"
    SUPERSEDED = "superseded"
    OUTSIDE_PLAN = "outside_plan"


def slots_of(plan: Plan, agent: str | None = None) -> list[Slot]:
    """Every place of a plan, or of one agent in it, in order of agent, task and attempt number."""
    return [
        Slot(task.id, name, number)
        for name in plan.agents
        if agent in (None, name)
        for task in plan.tasks
        for number in range(1, plan.attempts + 1)
    ]


@dataclass(frozen=True, slots=True)
class SlotStatus:
    """Where a finished attempt stands. `replaced_by` is the id of the attempt that counts in its stead."""

    slot: Slot
    standing: AttemptStatus
    replaced_by: str | None = None


def places(plan: Plan, attempts: Sequence[Chained]) -> list[SlotStatus]:
    """Say for each attempt, in the order they ended, whether it counts.

    An attempt fills the slot of the first of its retry chain. Where several fill one slot, the last one counts and
    the earlier are superseded. An attempt whose slot the plan does not hold counts nowhere.
    """
    slots, last = _slots(attempts)
    planned = _planned(plan)
    found = []
    for attempt, slot in zip(attempts, slots, strict=True):
        if not planned(slot):
            found.append(SlotStatus(slot, AttemptStatus.OUTSIDE_PLAN))
        elif last[slot] == attempt.id:
            found.append(SlotStatus(slot, AttemptStatus.COUNTS))
        else:
            found.append(SlotStatus(slot, AttemptStatus.SUPERSEDED, last[slot]))
    return found


def counting_attempts(plan: Plan, items: Sequence[_Item], attempt_of: Callable[[_Item], Chained]) -> dict[Slot, _Item]:
    """Slot -> the item whose attempt counts there, of items in the order their attempts ended."""
    attempts = [attempt_of(item) for item in items]
    slots, last = _slots(attempts)
    planned = _planned(plan)
    return {
        slot: item
        for item, attempt, slot in zip(items, attempts, slots, strict=True)
        if last[slot] == attempt.id and planned(slot)
    }


def _slots(attempts: Sequence[Chained]) -> tuple[list[Slot], dict[Slot, str]]:
    """The slot that each attempt fills, and of each slot the last attempt's id."""
    by_id: dict[str, Chained] = {attempt.id: attempt for attempt in attempts}
    slots = [_slot(attempt, by_id) for attempt in attempts]
    return slots, dict(zip(slots, (attempt.id for attempt in attempts), strict=True))


def _planned(plan: Plan) -> Callable[[Slot], bool]:
    """Says whether a plan holds a slot."""
    tasks = {task.id for task in plan.tasks}
    return lambda slot: slot.task in tasks and slot.agent in plan.agents and 1 <= slot.number <= plan.attempts


def _slot(attempt: Chained, by_id: Mapping[str, Chained]) -> Slot:
    if not attempt.retry_of:
        return Slot(attempt.task, attempt.agent, attempt.number)
    seen = {attempt.id}
    first = attempt
    while (earlier := by_id.get(first.retry_of or "")) and earlier.id not in seen:  # a damaged run may hold a circle
        seen.add(earlier.id)
        first = earlier
    return Slot(first.task, first.agent, first.number)
