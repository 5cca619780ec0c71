"""Ratings as every coefficient here takes them, and the counts they are made of.

Ratings are a sequence of units (submissions), each a sequence of what its raters said: any hashable label, None where
a rater said nothing. Cohen's kappa and the leave-one-out figure also need that a place is always the same rater.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

__all__ = ["Ratings", "category_order", "counts_of", "no_pairs", "unanimous"]

Ratings = Sequence[Sequence[Hashable | None]]


def counts_of(ratings: Ratings) -> list[Counter[Hashable]]:
    """How often each label was given to each unit; units without any label are left out.

    Raises:
        ValueError: When a label is not equal to itself (NaN): say None for a missing rating.
    """
    counts = [Counter(label for label in unit if label is not None) for unit in ratings]
    if any(label != label for unit in counts for label in unit):  # noqa: PLR0124 - only NaN differs from itself
        raise ValueError("NaN is not a rating; a missing one is None")
    return [unit for unit in counts if unit]


def category_order(
    counts: Sequence[Counter[Hashable]], categories: Sequence[Hashable] | None, *, ordered: bool
) -> list[Hashable]:
    """The categories: those given, else those seen, sorted where their order matters.

    Raises:
        ValueError: When a label was given that is not among the categories, a category is named twice, or labels that
            have no order must be ordered.
    """
    seen = list(dict.fromkeys(label for unit in counts for label in unit))
    if categories is None:
        if not ordered:
            return seen
        try:
            return sorted(seen)  # type: ignore[type-var]  # whether labels can be ordered is what is tried here
        except TypeError as error:
            raise ValueError("the labels have no order of their own; give `categories` in order") from error
    if len(set(categories)) != len(categories):
        raise ValueError("a category is named twice")
    if strange := [label for label in seen if label not in set(categories)]:
        raise ValueError(f"{strange[0]!r} is not one of the categories {list(categories)!r}")
    return list(categories)


def no_pairs(counts: Sequence[Counter[Hashable]]) -> str:
    """Why agreement cannot be asked at all: no unit has two ratings; else empty."""
    return "" if any(unit.total() > 1 for unit in counts) else "no unit has two ratings to compare"


def unanimous(label: Hashable) -> str:
    """The reason where everybody always said the same."""
    return f"no variation (all raters chose {label})"
