"""Krippendorff's alpha: any number of raters, missing ratings, labels of any scale.

K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): one minus the observed
disagreement over the one expected if labels were dealt at random to the ratings that can be paired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from math import isfinite
from typing import Literal

from repoassay.stats.agreement.ratings import Ratings, category_order, counts_of, no_pairs, unanimous
from repoassay.stats.figure import Figure

__all__ = ["Scale", "krippendorff_alpha"]

Scale = Literal["nominal", "ordinal", "interval", "ratio"]


def krippendorff_alpha(
    ratings: Ratings, scale: Scale = "nominal", categories: Sequence[Hashable] | None = None
) -> Figure:
    """Krippendorff's alpha; at most 1, 0 is chance, below 0 is disagreement by system.

    Args:
        ratings: Units, each with what its raters said, None where nothing. Raters may differ from unit to unit.
        scale: "nominal", "ordinal" (labels in order), "interval" or "ratio" (labels are numbers).
        categories: The labels in order, for "ordinal"; sorted when not given.

    Returns:
        The coefficient; `n` counts units with two or more ratings, as only these can be compared. Undefined where they
        hold one label only.

    Raises:
        ValueError: When a label is not a category, has no order or is no number where the scale needs one; for "ratio"
            also where it is negative.
    """
    if scale not in ("nominal", "ordinal", "interval", "ratio"):
        raise ValueError(f"there is no scale called {scale!r}")
    counts = counts_of(ratings)
    method = f"Krippendorff's alpha, {scale}"
    order = category_order(counts, categories, ordered=scale == "ordinal")
    if reason := no_pairs(counts):
        return Figure(None, method, 0, reason)
    paired = [unit for unit in counts if unit.total() > 1]
    totals = sum(paired, Counter[Hashable]())
    if len(totals) == 1:
        return Figure(None, method, len(paired), unanimous(next(iter(totals))))
    apart = _distance(scale, order, totals)
    observed = sum(_disagreement(unit, apart) / (unit.total() - 1) for unit in paired)
    expected = _disagreement(totals, apart) / (totals.total() - 1)
    return Figure(1 - observed / expected, method, len(paired))


def _disagreement(counts: Counter[Hashable], apart: Callable[[Hashable, Hashable], float]) -> float:
    return sum(m * n * apart(one, other) for one, m in counts.items() for other, n in counts.items() if one != other)


def _distance(
    scale: Scale, order: Sequence[Hashable], totals: Counter[Hashable]
) -> Callable[[Hashable, Hashable], float]:
    """The squared difference of two labels on a scale."""
    if scale == "nominal":
        return lambda one, other: float(one != other)
    if scale == "ordinal":
        # Two labels are as far apart as the ratings between them, their own counted by half.
        reached = accumulate(totals[label] for label in order)
        middle = {label: at - totals[label] / 2 for label, at in zip(order, reached, strict=True)}
        return lambda one, other: (middle[one] - middle[other]) ** 2
    number = {label: _number(label, scale) for label in totals}
    if scale == "interval":
        return lambda one, other: (number[one] - number[other]) ** 2
    return lambda one, other: ((number[one] - number[other]) / (number[one] + number[other])) ** 2


def _number(label: Hashable, scale: Scale) -> float:
    if not isinstance(label, int | float) or not isfinite(label) or (scale == "ratio" and label < 0):
        raise ValueError(f"{label!r} is not a number of a {scale} scale")
    return float(label)
