"""Quality Q of a delivered result: one of five levels, from people's ratings or, until there are any, by Result.

GitTaskBench (arXiv 2508.18993) has five people rate on five levels and takes "the level chosen by the majority". Of the
126 ways five ratings can fall on five levels, 75 have a strict majority, 20 only a unique most frequent level and 31
a tie, so a rule for the rest is needed. Here: strict majority; else the unique most frequent level, flagged; else the
median, flagged and to be adjudicated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

__all__ = ["LEVELS", "Quality", "QualityRule", "QualitySource", "by_result", "from_ratings"]

LEVELS = tuple(Decimal(level) for level in ("0", "0.25", "0.5", "0.75", "1"))
"""Far below what a person delivers, large gap, moderate gap, near parity, as good as a person's or better."""


class QualitySource(StrEnum):
    """Where a quality comes from."""

    REVIEWED = "reviewed"
    BY_RESULT = "by result"


class QualityRule(StrEnum):
    """What made one level of several ratings."""

    MAJORITY = "strict majority"
    PLURALITY = "unique plurality"
    MEDIAN = "median of a tie"
    ADJUDICATED = "adjudicated"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class Quality:
    """Quality of one result.

    `ratings` are (rater, level) in the order given; empty when the quality is by Result. `flagged` where less than a
    strict majority agreed.
    """

    level: Decimal
    rule: QualityRule
    source: QualitySource
    ratings: tuple[tuple[str, Decimal], ...] = ()

    @property
    def flagged(self) -> bool:
        """Whether the level is anything less than a strict majority's."""
        return self.rule in (QualityRule.PLURALITY, QualityRule.MEDIAN)

    @property
    def median(self) -> Decimal:
        """Median rating; of an even number the lower middle one, so that it is always a level. The level by Result."""
        return _median([level for _, level in self.ratings]) if self.ratings else self.level

    @property
    def mean(self) -> Decimal:
        """Mean rating, which need not be a level. The level itself where it is by Result."""
        if not self.ratings:
            return self.level
        return sum((level for _, level in self.ratings), Decimal(0)) / len(self.ratings)

    def by_rater(self, rater: str) -> Decimal | None:
        """The level one rater gave, None where they did not rate. The level itself where it is by Result."""
        return dict(self.ratings).get(rater) if self.ratings else self.level


def from_ratings(ratings: Mapping[str, Decimal] | Iterable[Decimal]) -> Quality:
    """Make one quality of several ratings by the rule above.

    Args:
        ratings: Levels by rater, or levels alone (their raters are then "rater 1" and so on).

    Raises:
        ValueError: Without ratings, or for one that is not one of `LEVELS`.
    """
    named = (
        tuple(ratings.items())
        if isinstance(ratings, Mapping)
        else tuple((f"rater {number}", level) for number, level in enumerate(ratings, start=1))
    )
    if not named:
        raise ValueError("a quality needs at least one rating")
    for rater, level in named:
        if level not in LEVELS:
            raise ValueError(f"{rater} gave {level}, which is not one of 0, 0.25, 0.5, 0.75 and 1")
    levels = [level for _, level in named]
    counts = Counter(levels).most_common(2)
    top, votes = counts[0]
    if 2 * votes > len(levels):
        return Quality(top, QualityRule.MAJORITY, QualitySource.REVIEWED, named)
    if len(counts) == 1 or votes > counts[1][1]:
        return Quality(top, QualityRule.PLURALITY, QualitySource.REVIEWED, named)
    return Quality(_median(levels), QualityRule.MEDIAN, QualitySource.REVIEWED, named)


def by_result(passed: bool | None) -> Quality | None:
    """Quality until somebody has rated: 1 where the task was passed, 0 where it was not, None where that is unknown."""
    if passed is None:
        return None
    return Quality(Decimal(int(passed)), QualityRule.RESULT, QualitySource.BY_RESULT)


def _median(levels: list[Decimal]) -> Decimal:
    return sorted(levels)[(len(levels) - 1) // 2]
