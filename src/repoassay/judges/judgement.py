"""One sample of a judge: what it answered on one axis of one item, or why its answer is void."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, Field

from repoassay.judges.injection import Flag
from repoassay.types import AxisAnswer, Identifier, RatingPhase, Record

__all__ = ["Judgement"]


class Judgement(Record):
    """A stored sample; it never changes.

    Attributes:
        rater: The judge, as a rater of the study.
        item: Its opaque name.
        axis: What was asked about.
        phase: Blind, or revealed in the second pass, in which signals are sent to the judge and nothing else.
        sample: Counts from 1.
        answer: State and evidence; None where it is void.
        void: Why it was rejected, one sentence; empty where it was taken.
        why: The judge's own words.
        asked: Calls that were answered for this sample: 2 where the first answer could not be read.
        swapped: Whether the reference was shown before the change; None where none was shown.
        cut: What of the input was left out, a sentence each.
        flags: Text in the submission that speaks to reviewers.
        at: When.
    """

    rater: Identifier
    item: Identifier
    axis: Identifier
    phase: RatingPhase = RatingPhase.BLIND
    sample: Annotated[int, Field(ge=1, le=1000)]
    answer: AxisAnswer | None = None
    void: Annotated[str, Field(max_length=1000)] = ""
    why: Annotated[str, Field(max_length=4000)] = ""
    asked: Annotated[int, Field(ge=1, le=10)] = 1
    swapped: bool | None = None
    cut: Annotated[tuple[Annotated[str, Field(max_length=1500)], ...], Field(max_length=50)] = ()
    flags: Annotated[tuple[Flag, ...], Field(max_length=20)] = ()
    at: AwareDatetime
