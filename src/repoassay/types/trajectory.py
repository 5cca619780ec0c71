"""A trajectory: what an agent did, step by step, in one format for all agents, and what it says it spent.

It is made of the agent's own records, which are hostile: every text is bounded, and what could not be read is said in
`problems`. Tokens and dollars here are the agent's figures; those that count are the model proxy's.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from pydantic import Field

from repoassay.types.base import Record
from repoassay.types.usage import Usage

__all__ = ["Observation", "OwnFigures", "Source", "StepCall", "Trajectory", "TrajectoryStep"]


class Source(StrEnum):
    """Who speaks in a step."""

    SYSTEM = "system"
    USER = "user"
    AGENT = "agent"
    TOOL = "tool"


class StepCall(Record):
    """One call of a tool: its id within the trajectory (may be empty), name, and arguments."""

    id: str = ""
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Observation(Record):
    """What a tool answered; `call` is the id of the call it answers, empty when that is not known."""

    call: str = ""
    text: str = ""
    failed: bool = False


class TrajectoryStep(Record):
    """One step. What tools answered stands with the step that called them; a `tool` step has observations alone.

    Attributes:
        index: Counts from 1.
        time: When it was recorded, None when the agent does not tell.
        text: What was said. `reasoning`: what was thought, where the agent keeps it.
        usage: Tokens of the model call behind it, by the agent's own account. `dollars`: the same.
    """

    index: int = Field(ge=1)
    time: datetime | None = None
    source: Source
    text: str = ""
    reasoning: str = ""
    calls: tuple[StepCall, ...] = ()
    observations: tuple[Observation, ...] = ()
    usage: Usage | None = None
    dollars: Decimal | None = None


class OwnFigures(Record):
    """What the agent says of the whole attempt; None where it says nothing, and `note` why its figures may differ."""

    usage: Usage | None = None
    calls: int | None = Field(default=None, ge=0)
    dollars: Decimal | None = None
    note: str = ""


class Trajectory(Record):
    """The steps of one attempt in order, and the agent's own figures.

    Attributes:
        ending: How the agent says it ended, in its own word.
        problems: What could not be read of its records, one sentence each.
    """

    agent: str
    version: str = ""
    model: str = ""
    session: str = ""
    steps: tuple[TrajectoryStep, ...] = ()
    own: OwnFigures = OwnFigures()
    ending: str = ""
    problems: tuple[str, ...] = ()
