"""Gwet's AC1 and AC2: any number of raters, chance that does not explode where one label prevails.

K. L. Gwet, "Computing inter-rater reliability and its variance in the presence of high agreement", British Journal of
Mathematical and Statistical Psychology 61 (2008), 29-48; with weights and missing ratings: "Handbook of Inter-Rater
Reliability", 4th ed. (2014). Kappa and alpha fall towards zero where nearly everything has one label,
however well raters agree; AC1 is shown beside them for that case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from repoassay.stats.agreement.ratings import Ratings, category_order, counts_of, no_pairs
from repoassay.stats.agreement.weights import Weights, weights_of
from repoassay.stats.figure import Figure

__all__ = ["gwet_ac1", "gwet_ac2", "observed_and_shares"]


def gwet_ac1(ratings: Ratings, categories: Sequence[Hashable] | None = None) -> Figure:
    """Gwet's AC1; at most 1, 0 is chance.

    Args:
        ratings: Units, each with what its raters said, None where nothing.
        categories: Every label that could have been chosen. Give them: where all raters chose one label it is 1.0 if
            there was another to choose, and undefined if there was not.

    Returns:
        The coefficient; `n` counts units with two or more ratings. Units with one still tell how frequent labels are.

    Raises:
        ValueError: When a label is not a category, or is NaN.
    """
    return _gwet(ratings, categories, "nominal", "Gwet's AC1")


def gwet_ac2(ratings: Ratings, weights: Weights = "quadratic", categories: Sequence[Hashable] | None = None) -> Figure:
    """Gwet's AC2, with credit for near misses. Arguments, result and errors as of `gwet_ac1`.

    `weights` are "ordinal", "linear" or "quadratic"; `categories` are in order, sorted when not given.
    """
    return _gwet(ratings, categories, weights, f"Gwet's AC2, {weights} weights")


def _gwet(ratings: Ratings, categories: Sequence[Hashable] | None, weights: Weights, method: str) -> Figure:
    counts = counts_of(ratings)
    order = category_order(counts, categories, ordered=weights != "nominal")
    if reason := no_pairs(counts):
        return Figure(None, method, 0, reason)
    n = sum(unit.total() > 1 for unit in counts)
    size = len(order)
    if size < 2:
        return Figure(None, method, n, f"only one category is known ({order[0]}); name those that could be chosen")
    weight = weights_of(order, weights)
    observed, shares = observed_and_shares(counts, order, weight)
    chance = sum(map(sum, weight)) / (size * (size - 1)) * sum(share * (1 - share) for share in shares)
    return Figure((observed - chance) / (1 - chance), method, n)


def observed_and_shares(
    counts: Sequence[Counter[Hashable]], order: Sequence[Hashable], weight: Sequence[Sequence[float]]
) -> tuple[float, list[float]]:
    """Weighted agreement over the units with two or more ratings, and the share of each category over all units."""
    paired = [unit for unit in counts if unit.total() > 1]
    place = {label: i for i, label in enumerate(order)}
    observed = 0.0
    for unit in paired:
        total = unit.total()
        alike = sum(
            count * (sum(weight[place[label]][place[other]] * c for other, c in unit.items()) - 1)
            for label, count in unit.items()
        )
        observed += alike / (total * (total - 1))
    shares = [sum(unit[label] / unit.total() for unit in counts) / len(counts) for label in order]
    return observed / len(paired), shares
