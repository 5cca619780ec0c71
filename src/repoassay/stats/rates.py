"""Rates where some answers are unknown: always over all, and over those that could be judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repoassay.stats.intervals import Interval, wilson

__all__ = ["Proportion", "Rate"]


@dataclass(frozen=True, slots=True)
class Proportion:
    """`successes` out of `n`, the denominator."""

    successes: int
    n: int

    @property
    def value(self) -> float | None:
        """The share between 0 and 1; None where n is 0."""
        return self.successes / self.n if self.n else None

    @property
    def interval(self) -> Interval:
        """The 95% Wilson score interval."""
        return wilson(self.successes, self.n)


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something is true among `n` cases, `unknown` of which could not be told.

    Unknown is never false: it is in the denominator of `over_all` (which is therefore a lower bound) and is left out
    of `over_judged`.

    Raises:
        ValueError: When the counts contradict each other.
    """

    successes: int
    n: int
    unknown: int = 0

    def __post_init__(self) -> None:
        if min(self.successes, self.unknown) < 0 or self.successes + self.unknown > self.n:
            raise ValueError(f"{self.successes} successes and {self.unknown} unknown of {self.n} are impossible")

    @classmethod
    def of(cls, answers: Iterable[bool | None]) -> Rate:
        """Count true, false and unknown (None) answers."""
        known = list(answers)
        return cls(sum(answer is True for answer in known), len(known), sum(answer is None for answer in known))

    @property
    def judged(self) -> int:
        """How many cases could be told."""
        return self.n - self.unknown

    @property
    def over_all(self) -> Proportion:
        """Successes over every case, unknown ones included."""
        return Proportion(self.successes, self.n)

    @property
    def over_judged(self) -> Proportion:
        """Successes over the cases that could be told."""
        return Proportion(self.successes, self.judged)
