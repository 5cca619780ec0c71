"""Percent agreement: how often two ratings of one unit are the same."""

from __future__ import annotations

from repoassay.stats.agreement.ratings import Ratings, counts_of, no_pairs
from repoassay.stats.figure import Figure

__all__ = ["percent_agreement"]


def percent_agreement(ratings: Ratings) -> Figure:
    """The share of pairs of ratings of a unit that agree, averaged over units with two or more; 0 to 1.

    With two raters it is the plain share of units on which they agree. It does not correct for chance, so with one
    frequent label it is high without meaning much.

    Raises:
        ValueError: When a rating is NaN.
    """
    counts = counts_of(ratings)
    paired = [unit for unit in counts if unit.total() > 1]
    if reason := no_pairs(counts):
        return Figure(None, "percent agreement", 0, reason)
    shares = [sum(c * (c - 1) for c in unit.values()) / (unit.total() * (unit.total() - 1)) for unit in paired]
    return Figure(sum(shares) / len(shares), "percent agreement", len(paired))
