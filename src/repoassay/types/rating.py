"""A rating: one rater's answers on one rubric for one submission, with evidence, time and version."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from repoassay.types.base import Record
from repoassay.types.fields import Identifier, Sha256

__all__ = ["Anchor", "AxisAnswer", "Rating", "RatingPhase"]

_Text = Annotated[str, Field(max_length=20_000)]
_Elapsed = Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)]
_Minutes = Annotated[float, Field(ge=0, le=10**6, allow_inf_nan=False)]


class RatingPhase(StrEnum):
    """Whether the rater had seen tests, signals and judges when answering."""

    BLIND = "blind"
    REVEALED = "revealed"


class Anchor(Record):
    """Lines that show what an answer says: `line` to `end_line`, counted from 1, of one side of a file of the diff.

    `quote` is the text of those lines as the rater saw it, so that the evidence outlives the diff.
    """

    path: Annotated[str, Field(min_length=1, max_length=1024)]
    side: Literal["old", "new"] = "new"
    line: Annotated[int, Field(ge=1, le=10**8)]
    end_line: Annotated[int, Field(ge=1, le=10**8)]
    quote: Annotated[str, Field(max_length=4000)] = ""

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if self.end_line < self.line:
            raise ValueError(f"evidence ends on line {self.end_line}, before its first line {self.line}")
        return self


class AxisAnswer(Record):
    """The answer on one axis: a state of the rubric's scale, and what shows it."""

    state: Identifier
    evidence: Annotated[tuple[Anchor, ...], Field(max_length=200)] = ()


class Rating(Record):
    """One submitted set of answers. It never changes: an amendment is a new rating that `amends` names.

    `submission` is the opaque name under which the study shows it. `mergeable` is derived by the rubric's rule (None
    where an axis left it open, or the rubric has no rule); `would_merge` was asked. `position` counts from 1 in the
    rater's order. `active_seconds` is time with the page in use, `wall_seconds` from opening to submitting. `others`
    holds answers to questions only this rubric asks. `instructions` is the version of the study's instructions that the
    rater had confirmed to have read, None where there were none.
    """

    id: Identifier
    study: Identifier
    submission: Identifier
    rater: Identifier
    rubric: Sha256
    phase: RatingPhase = RatingPhase.BLIND
    version: Annotated[int, Field(ge=1, le=10**6)] = 1
    amends: Identifier | None = None
    axes: Annotated[dict[Identifier, AxisAnswer], Field(min_length=1, max_length=50)]
    minutes: _Minutes | None = None
    would_merge: bool | None = None
    mergeable: bool | None = None
    reason: Annotated[str, Field(max_length=200)] = ""
    confidence: Annotated[int, Field(ge=1, le=5)] | None = None
    notes: _Text = ""
    others: Annotated[dict[Identifier, bool | int | float | _Text], Field(max_length=50)] = Field(default_factory=dict)
    active_seconds: _Elapsed = 0.0
    wall_seconds: _Elapsed = 0.0
    position: Annotated[int, Field(ge=1, le=10**7)] = 1
    instructions: Annotated[int, Field(ge=1, le=10**6)] | None = None
    created: AwareDatetime
    submitted: AwareDatetime

    @property
    def contradiction(self) -> bool:
        """Whether what the axes imply and what was asked disagree; False where either is not known."""
        return None not in (self.mergeable, self.would_merge) and self.mergeable != self.would_merge
