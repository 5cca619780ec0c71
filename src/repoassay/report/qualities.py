"""Quality Q of attempts out of the studies that reviewed them with the rubric of quality."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from repoassay.db import Database
from repoassay.economics import LEVELS, Quality, QualityRule, QualitySource, from_ratings
from repoassay.errors import BadInput
from repoassay.review import (
    Rubric,
    adjudications_of,
    items_of,
    latest,
    open_database,
    ratings_of,
    read_rubric_of,
    study_names,
)

__all__ = ["reviewed_qualities"]

_AXIS = "quality"


def reviewed_qualities(where: str) -> dict[str, Quality]:
    """Quality by attempt id, from every study of a review database that asked for it; judges are not people.

    What was adjudicated holds; else the rule of `economics.quality` makes one level of what raters said last.

    Args:
        where: A file that `repoassay review` made, or the URL of a PostgreSQL database.

    Raises:
        BadInput: When there is no such database, or no study in it asks for quality.
        MissingExtra: Without the extra `review`.
    """
    if "://" not in where and not Path(where).is_file():
        raise BadInput(f"{where} is not a file.", "Name the database of `repoassay review`.")
    database = open_database(where)
    try:
        studies = {name: rubric for name in study_names(database) if _asks(rubric := read_rubric_of(database, name))}
        if not studies:
            raise BadInput(f"No study in {where} asks for quality.", "Make one with the rubric `quality`.")
        found: dict[str, Quality] = {}
        for name in studies:
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
    given: dict[str, dict[str, Decimal]] = {}
    for rating in latest(ratings_of(database, study)):
        if _AXIS in rating.axes:
            given.setdefault(rating.submission, {})[rating.rater] = Decimal(rating.axes[_AXIS].state)
    found = {}
    for item in items_of(database, study):
        ratings = given.get(item.id)
        if item.hidden.attempt and ratings:
            quality = from_ratings(ratings)
            if item.id in settled:
                quality = Quality(
                    settled[item.id], QualityRule.ADJUDICATED, QualitySource.REVIEWED, tuple(ratings.items())
                )
            found[item.hidden.attempt] = quality
    return found
