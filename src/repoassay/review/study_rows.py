"""What the figures of a study are made of: reviewed items, those set aside with the reason, and ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repoassay.db import Database
from repoassay.review.adjudication import latest
from repoassay.review.adjudication_store import adjudications_of
from repoassay.review.item_summary import ItemSummary, set_aside, summarize_items
from repoassay.review.plan_store import excluded_items, inclusions_of
from repoassay.review.rubric import Rubric
from repoassay.review.studies import items_of, read_rubric_of
from repoassay.review.study import Item
from repoassay.review.submitting import ratings_of
from repoassay.types import Rating, RatingPhase

__all__ = ["CountedRows", "counted_rows"]


@dataclass(frozen=True, slots=True)
class CountedRows:
    """`rows` enter the figures, and so do `ratings`, one a rater and item; `excluded` has the reasons of the others."""

    rubric: Rubric
    items: Mapping[str, Item]
    rows: tuple[ItemSummary, ...]
    excluded: Mapping[str, str]
    ratings: tuple[Rating, ...]


def counted_rows(database: Database, study: str, phase: RatingPhase = RatingPhase.BLIND) -> CountedRows:
    """Read a study.

    Args:
        database: Where the study is.
        study: Its name.
        phase: `blind` for first answers; `revealed` for the last, blind ones included where nobody amended.

    Raises:
        BadInput: When there is no such study.
    """
    rubric = read_rubric_of(database, study)
    every = ratings_of(database, study)
    ratings = latest(each for each in every if phase is RatingPhase.REVEALED or each.phase is RatingPhase.BLIND)
    items = items_of(database, study)
    rows = summarize_items(items, ratings, rubric, adjudications_of(database, study))
    kept, out = set_aside(rows, excluded_items(inclusions_of(database, study)))
    used = {row.item for row in kept}
    return CountedRows(
        rubric=rubric,
        items={each.id: each for each in items},
        rows=kept,
        excluded={row.item: reason for row, reason in out},
        ratings=tuple(each for each in ratings if each.submission in used),
    )
