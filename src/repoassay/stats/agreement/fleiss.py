"""Fleiss' kappa: any number of raters who share one habit.

J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76 (1971), 378-382;
with missing ratings as Gwet's Handbook (2014) has it: each unit counts the same.
"""

from __future__ import annotations

from repoassay.stats.agreement.gwet import observed_and_shares
from repoassay.stats.agreement.ratings import Ratings, category_order, counts_of, no_pairs, unanimous
from repoassay.stats.agreement.weights import weights_of
from repoassay.stats.figure import Figure

__all__ = ["fleiss_kappa"]


def fleiss_kappa(ratings: Ratings) -> Figure:
    """Fleiss' kappa; at most 1, 0 is chance.

    Args:
        ratings: Units, each with what its raters said, None where nothing. Raters may differ from unit to unit.

    Returns:
        The coefficient; `n` counts units with two or more ratings. Undefined where only one label was ever chosen.

    Raises:
        ValueError: When a label is NaN.
    """
    counts = counts_of(ratings)
    if reason := no_pairs(counts):
        return Figure(None, "Fleiss' kappa", 0, reason)
    n = sum(unit.total() > 1 for unit in counts)
    order = category_order(counts, None, ordered=False)
    if len(order) == 1:
        return Figure(None, "Fleiss' kappa", n, unanimous(order[0]))
    observed, shares = observed_and_shares(counts, order, weights_of(order, "nominal"))
    chance = sum(share**2 for share in shares)
    return Figure((observed - chance) / (1 - chance), "Fleiss' kappa", n)
