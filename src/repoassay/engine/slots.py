"""Which places of a plan are still to be filled."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.records import RunFolder, Slot, counting_attempts
from repoassay.types import Outcome

__all__ = ["all_slots", "locate", "open_slots"]


def all_slots(run: RunFolder) -> list[Slot]:
    """Every slot of the plan: all tasks once with each agent, then again for further attempts."""
    plan = run.plan
    return [
        Slot(task.id, agent, number)
        for number in range(1, plan.attempts + 1)
        for agent in plan.agents
        for task in plan.tasks
    ]


def open_slots(run: RunFolder, only: Collection[Outcome] = ()) -> list[Slot]:
    """Slots without a finished attempt, and those whose last attempt our own fault spoiled (as retries).

    With `only`, slots whose last attempt had one of these outcomes, and no others.
    """
    last = counting_attempts(run.plan, list(run.finished()), lambda done: done.attempt)
    again = only or (Outcome.INFRA_FAULT,)
    slots = []
    for slot in all_slots(run):
        done = last.get(slot)
        if done is None:
            slots += [] if only else [slot]
        elif done.verdict.outcome in again:
            slots.append(slot._replace(retry_of=done.attempt.id))
    return slots


def locate(path: Path) -> Path:
    """A run folder given by path, or `latest` for the newest below ./runs."""
    if str(path) != "latest":
        return path
    found = sorted(item for item in Path("runs").glob("*") if (item / "run.json").is_file())
    if not found:
        raise BadInput("There is no run below ./runs.", "Name a run folder, or make one with `repoassay run`.")
    return found[-1]
