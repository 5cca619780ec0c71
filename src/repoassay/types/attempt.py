"""An attempt: one agent, one task, one setting, once. It never changes after it has ended."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from repoassay.types.base import Record
from repoassay.types.spending import Spending
from repoassay.types.submission import Submission

__all__ = ["Attempt"]


class Attempt(Record):
    """One finished attempt. `number` counts from 1 within (agent, task); `retry_of` names the attempt it repeats.

    `agent` is a name of the plan's `agents` and `settings` what the plan says of it: agent, model and limits. `spent`
    is what was counted at the model proxy; None where the agent was given no model.
    """

    id: str
    run: str
    task: str
    task_digest: str
    agent: str
    number: int = 1
    retry_of: str | None = None
    started: datetime
    ended: datetime
    submission: Submission
    settings: dict[str, str] = Field(default_factory=dict)
    spent: Spending | None = None
