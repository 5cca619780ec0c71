"""Preparing raters: items that train and qualify them, whose right answers are known, and how far a rater agrees."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from repoassay.errors import BadInput
from repoassay.review.rubric import AnswerRole, Rubric
from repoassay.text import printable
from repoassay.types import Identifier, Rating, Record

__all__ = ["AnswerKey", "ItemUse", "KeyAgreement", "RaterStage", "agreement_with", "check_key", "key_for"]


class ItemUse(StrEnum):
    """What an item is for. Ratings of live ones alone are counted in figures."""

    LIVE = "live"
    TRAINING = "training"
    QUALIFICATION = "qualification"


class RaterStage(StrEnum):
    """Where a rater stands: the items of one stage are given when those of the stage before are done."""

    TRAINING = "training"
    QUALIFICATION = "qualification"
    FAILED = "failed"
    LIVE = "live"


class AnswerKey(Record):
    """The lead's own answers to an item: states by axis, whether to merge it, and what to tell whoever trained on it.

    An axis that is not in it is open: any answer will do.
    """

    states: Annotated[dict[Identifier, Identifier], Field(max_length=50)] = Field(default_factory=dict)
    would_merge: bool | None = None
    feedback: Annotated[str, Field(max_length=10_000)] = ""


class KeyAgreement(Record):
    """How many of a rater's answers are those of the keys."""

    matched: int
    of: int

    @property
    def share(self) -> float:
        """The share, 1 where the keys ask for nothing."""
        return self.matched / self.of if self.of else 1.0


def check_key(key: AnswerKey, rubric: Rubric) -> AnswerKey:
    """Return a key if it answers this rubric.

    Raises:
        BadInput: When it names an axis or state the rubric has not, or leaves everything open.
    """
    for axis, state in key.states.items():
        try:
            rubric.level(axis, state)
        except KeyError:
            raise BadInput(
                f"The rubric has no axis {printable(axis)!r} with the state {printable(state)!r}.",
                "Choose one that is shown.",
            ) from None
    if not key.states and key.would_merge is None:
        raise BadInput("An item that trains or qualifies needs an answer to compare with.", "Answer an axis at least.")
    return key


def agreement_with(pairs: Iterable[tuple[Rating, AnswerKey]]) -> KeyAgreement:
    """Count the answers that equal their key, over all axes and merge decisions that the keys hold."""
    matched = of = 0
    for rating, key in pairs:
        agreements = [rating.axes[axis].state == state for axis, state in key.states.items() if axis in rating.axes]
        if key.would_merge is not None and rating.would_merge is not None:
            agreements.append(rating.would_merge == key.would_merge)
        matched += sum(agreements)
        of += len(agreements)
    return KeyAgreement(matched=matched, of=of)


def key_for(rubric: Rubric, problem: str | None, *, acceptable: bool, feedback: str = "") -> AnswerKey:
    """Return the key that a control made on purpose has by itself.

    Args:
        rubric: The study's.
        problem: The axis a fault was put into; None where nothing was, or the rubric does not ask for it.
        acceptable: Whether the change is known to be acceptable: then every axis is clear.
        feedback: What to tell.
    """

    def state(axis: str, role: AnswerRole) -> str | None:
        return next((level.key for level in rubric.levels(axis) if level.role is role), None)

    wanted = {axis.key: AnswerRole.CLEAR for axis in rubric.axes} if acceptable else {}
    if problem in {axis.key for axis in rubric.axes}:
        wanted = {str(problem): AnswerRole.PROBLEM}
    states = {axis: found for axis, role in wanted.items() if (found := state(axis, role)) is not None}
    asks = any(question.key == "would_merge" for question in rubric.questions)
    return AnswerKey(states=states, would_merge=acceptable if asks else None, feedback=feedback)
