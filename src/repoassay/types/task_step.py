"""The steps of a state task: what an agent is asked one after another, in the workspace the step before has left."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from repoassay.types.base import Record
from repoassay.types.fields import Identifier, Number, Seconds
from repoassay.types.grading import HiddenTests

__all__ = ["MOST_STEPS", "TaskStep", "check_steps"]

MOST_STEPS = 50


class TaskStep(Record):
    """One step of a state task: the agent is started anew for it, and what it leaves is judged before the next.

    `name` is its folder below `steps/`, which holds its instruction, tests and solution. `seconds` is what the agent
    may take, without it what `[limits]` says. Where its tests give less than `min_reward` the attempt ends with it.
    """

    name: Identifier
    tests: HiddenTests
    seconds: Seconds | None = None
    min_reward: Number | None = None


Steps = Annotated[tuple[TaskStep, ...], Field(max_length=MOST_STEPS)]


def check_steps(steps: tuple[TaskStep, ...]) -> None:
    """Check that no two steps share a name.

    Raises:
        ValueError: Two do, or would on a disk that knows no case.
    """
    names = [step.name.casefold() for step in steps]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"steps: two are called {twice!r}; give each a name of its own")
