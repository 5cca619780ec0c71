"""The few keys of `attempt.json` and `verdict.json` that tables need, validated, and the rest passed over.

Validating them alone takes a fraction of the time that whole records take; a table may be of 100,000 attempts.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from repoassay.types import GradingIsolation, Outcome

__all__ = ["AttemptColumns", "VerdictColumns"]

_Count = Annotated[int, Field(ge=0, le=1 << 63)]
_Money = Annotated[Decimal, Field(ge=0)]


class _Columns(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Usage(_Columns):
    input: _Count = 0
    output: _Count = 0


class _Spent(_Columns):
    calls: _Count = 0
    usage: _Usage = _Usage()
    unknown: _Count = 0
    dollars: _Money | None = Decimal(0)
    dollars_known: _Money = Decimal(0)


class _Exit(_Columns):
    wall: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class _Submission(_Columns):
    exit: _Exit | None = None


class AttemptColumns(_Columns):
    """An attempt as rows need it; the same keys as `repoassay.types.Attempt`."""

    id: str
    task: str
    task_digest: str
    agent: str
    number: int = 1
    retry_of: str | None = None
    submission: _Submission
    spent: _Spent | None = None


class _Isolation(GradingIsolation):
    model_config = ConfigDict(extra="ignore")


class VerdictColumns(_Columns):
    """A verdict as rows need it; the same keys as `repoassay.types.Verdict`."""

    task_digest: str
    outcome: Outcome
    process: bool | None
    result: bool | None
    comments: tuple[str, ...] = ()
    isolation: _Isolation | None = None
