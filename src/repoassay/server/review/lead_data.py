"""What leads' pages are computed from: a study's people, their last answers of a phase, and what was settled."""

from __future__ import annotations

from dataclasses import dataclass

from repoassay.db import Database
from repoassay.review import (
    Adjudication,
    Rater,
    RaterRole,
    Rubric,
    Study,
    adjudications_of,
    latest,
    raters_of,
    ratings_of,
    read_rubric_of,
    study_of,
)
from repoassay.types import Rating, RatingPhase

__all__ = ["LeadData", "gather"]


@dataclass(frozen=True, slots=True)
class LeadData:
    """`ratings` are one a rater and item, of people only; `versions` everything they ever submitted."""

    study: Study
    rubric: Rubric
    phase: RatingPhase
    people: dict[str, Rater]
    ratings: tuple[Rating, ...]
    versions: tuple[Rating, ...]
    settled: tuple[Adjudication, ...]

    def name(self, rater: str) -> str:
        """What a rater is called."""
        return self.people[rater].name if rater in self.people else rater


def gather(database: Database, study: str, phase: RatingPhase = RatingPhase.BLIND) -> LeadData:
    """Gather a study's answers.

    Args:
        database: Where.
        study: Its name.
        phase: `blind` for the first answers; `revealed` for the last, blind ones included where nobody amended.
    """
    people = {person.id: person for person in raters_of(database, study)}
    every = tuple(
        rating
        for rating in ratings_of(database, study)
        if rating.rater not in people or people[rating.rater].role is not RaterRole.JUDGE
    )
    ratings = latest(rating for rating in every if phase is RatingPhase.REVEALED or rating.phase is RatingPhase.BLIND)
    settled = adjudications_of(database, study)
    rubric = read_rubric_of(database, study)
    return LeadData(study_of(database, study), rubric, phase, people, ratings, every, settled)
