"""Where a rater stands with an item: what may be answered now, what may be seen, and what the form begins with."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from repoassay.review import (
    Answers,
    Conflict,
    LeasedItem,
    Rater,
    draft_of,
    is_closed,
    may_reveal,
    open_item,
    place_of,
    ratings_by,
    study_of,
)
from repoassay.server.review.review_state import ReviewState
from repoassay.types import Rating, RatingPhase

__all__ = ["RaterProgress", "revealed_to", "stand"]


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """`phase` is what may be submitted now, None for nothing. `version` is the draft's, 0 without one.

    `key` names the submission this page will make, so that one repeated is one. `revealed` says that tests, signals and
    the maker may be seen. `late` says that the rater's hold ended and others took the item: what was typed is kept.
    `closed` says that the study was closed meanwhile: what was typed is kept for when it is opened again.
    """

    place: LeasedItem
    ratings: tuple[Rating, ...]
    revealed: bool
    phase: RatingPhase | None
    answers: Answers
    version: int
    key: str
    late: bool = False
    closed: bool = False

    @property
    def stored(self) -> str:
        """The answers as JSON for the form, without evidence, which quotes the diff and is added on submission."""
        bare = {axis: answer.model_copy(update={"evidence": ()}) for axis, answer in self.answers.axes.items()}
        return self.answers.model_copy(update={"axes": bare}).model_dump_json()


def revealed_to(desk: ReviewState, rater: Rater, item: str) -> bool:
    """Whether what is hidden of an item may be shown to a rater now.

    Raises:
        BadInput: When the item is not the rater's.
    """
    return place_of(desk.database, rater, item).submitted and may_reveal(desk.database, rater, item)


def stand(desk: ReviewState, rater: Rater, item: str, *, hold: bool) -> RaterProgress:
    """Return where a rater stands; `hold` reserves an item not submitted yet.

    Raises:
        BadInput: When the item is not the rater's, or the study closed before it was rated.
        Conflict: When others rate it already (see `open_item`) and nothing was typed.
    """
    place = place_of(desk.database, rater, item)
    done = ratings_by(desk.database, rater, item) if place.submitted else ()
    late = False
    closed = not done and is_closed(desk.database, rater.study) and draft_of(desk.database, rater, item) is not None
    if hold and not done and not closed:
        try:
            place = open_item(desk.database, rater, item, desk.now())
        except Conflict:
            if draft_of(desk.database, rater, item) is None:
                raise
            late = True
    revealed = bool(done) and may_reveal(desk.database, rater, item)
    phase: RatingPhase | None = RatingPhase.BLIND
    if done:
        phase = (
            RatingPhase.REVEALED
            if revealed and RatingPhase.REVEALED in study_of(desk.database, rater.study).phases
            else None
        )
    draft = draft_of(desk.database, rater, item, phase) if phase else None
    answers = Answers()
    if draft is not None:
        answers = draft.answers
    elif done:
        answers = Answers(**{name: getattr(done[-1], name) for name in Answers.model_fields})
    key = f"{item}-{secrets.token_urlsafe(12)}"
    version = draft.version if draft else 0
    return RaterProgress(place, done, revealed, None if closed else phase, answers, version, key, late, closed)
