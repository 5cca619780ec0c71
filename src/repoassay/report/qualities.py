"""Quality Q of attempts out of the studies that reviewed them with the rubric of quality."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from repoassay.economics import LEVELS, Quality, QualityRule, QualitySource, from_ratings
from repoassay.report.reviewed_attempts import open_reviews
from repoassay.review import (
    Rubric,
    adjudications_of,
    items_of,
    latest,
    ratings_of,
    read_rubric_of,
    study_names,
)

if TYPE_CHECKING:
    from repoassay.db import Database

__all__ = ["reviewed_qualities"]

_AXIS = "quality"


def reviewed_qualities(where: str) -> dict[str, Quality]:
    """Quality by attempt id, from every study of a review database that asked for it; judges are not people.

    What was adjudicated holds; else the rule of `economics.quality` makes one level of what raters said last.

    Args:
        where: A file that `repoassay review` made, or the URL of a PostgreSQL database.

    Raises:
        BadInput: When there is no such database.
        MissingExtra: Without the extra `review`.
    """
    database = open_reviews(where)
    try:
        found: dict[str, Quality] = {}
        for name in study_names(database):
            if _asks(read_rubric_of(database, name)):
                found |= _of_study(database, name)
        return found
    finally:
        database.close()


def _asks(rubric: Rubric) -> bool:
    """Whether a rubric has the axis, on a scale whose keys are the levels of Q."""
    levels = {str(level) for level in LEVELS}
    return any(axis.key == _AXIS and {level.key for level in rubric.levels(axis.key)} <= levels for axis in rubric.axes)


def _of_study(database: Database, study: str) -> dict[str, Quality]:
    settled = {each.item: Decimal(each.state) for each in adjudications_of(database, study) if each.axis == _AXIS}
    grades: dict[str, dict[str, Decimal]] = {}
    for rating in latest(ratings_of(database, study)):
        if _AXIS in rating.axes:
            grades.setdefault(rating.submission, {})[rating.rater] = Decimal(rating.axes[_AXIS].state)
    found = {}
    for item in items_of(database, study):
        ratings = grades.get(item.id)
        if item.hidden.attempt and ratings:
            quality = from_ratings(ratings)
            if item.id in settled:
                quality = Quality(
                    settled[item.id], QualityRule.ADJUDICATED, QualitySource.REVIEWED, tuple(ratings.items())
                )
            found[item.hidden.attempt] = quality
    return found
