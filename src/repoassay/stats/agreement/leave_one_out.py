"""How well one rater agrees with the majority of the others: what a judge, or a new rater, must be compared with.

A rater counted in the majority votes for himself, so each is left out of the majority he is held against.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from repoassay.stats.agreement.ratings import Ratings, counts_of
from repoassay.stats.figure import Figure

__all__ = ["LeaveOneOut", "leave_one_out"]


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Each rater's share of agreement with the majority of the others, in the order of raters, and that over all.

    `overall` is over all comparisons, so a rater counts as often as he rated; `tied` comparisons had no majority.
    """

    raters: tuple[Figure, ...]
    overall: Figure
    tied: int


def leave_one_out(ratings: Ratings) -> LeaveOneOut:
    """Hold every rating against the unique most frequent label among the unit's other ratings.

    Args:
        ratings: Units, each with one place for each rater, always in the same order; None where one said nothing.

    Returns:
        Shares of agreement, `n` counting comparisons. Where the others tie there is nothing to compare with.

    Raises:
        ValueError: When units have different numbers of places, or a label is NaN.
    """
    counts_of(ratings)
    places = {len(unit) for unit in ratings}
    if len(places) > 1:
        raise ValueError(f"units have different numbers of raters: {sorted(places)}; a missing rating is None")
    size = places.pop() if places else 0
    agreed, compared, tied = [0] * size, [0] * size, 0
    for unit in ratings:
        everyone = Counter(label for label in unit if label is not None)
        for rater, label in enumerate(unit):
            if label is None or everyone.total() < 2:
                continue
            others = (everyone - Counter([label])).most_common(2)
            if len(others) == 2 and others[0][1] == others[1][1]:
                tied += 1
                continue
            compared[rater] += 1
            agreed[rater] += others[0][0] == label
    raters = tuple(_share(a, n) for a, n in zip(agreed, compared, strict=True))
    return LeaveOneOut(raters, _share(sum(agreed), sum(compared)), tied)


def _share(agreed: int, n: int) -> Figure:
    method = "agreement with the majority of the others"
    return (
        Figure(agreed / n, method, n) if n else Figure(None, method, 0, "no rating could be compared with a majority")
    )
