"""Confidence intervals of a proportion.

The score interval is that of E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
Journal of the American Statistical Association 22 (1927), 209-212: the set of proportions that a score test at the
given level does not reject. Unlike the textbook interval it stays inside [0, 1] and keeps a width at 0/n and n/n,
which is where the small samples of a benchmark lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

__all__ = ["Interval", "wilson"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval of a proportion, both ends between 0 and 1.

    Without observations (n = 0) both ends are None and `method` is "undefined": there is nothing to say, which is
    not the same as an interval from 0 to 1.
    """

    low: float | None
    high: float | None
    method: str
    n: int

    @property
    def defined(self) -> bool:
        """Whether there is an interval at all."""
        return self.low is not None


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson score interval, without continuity correction.

    Args:
        successes: Observed successes, 0 to n.
        n: Observations, the denominator.
        confidence: Two-sided level, strictly between 0 and 1.

    Raises:
        ValueError: When the counts or the level are impossible.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} are impossible")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not strictly between 0 and 1")
    if n == 0:
        return Interval(None, None, "undefined", 0)
    z2 = NormalDist().inv_cdf(0.5 + confidence / 2) ** 2
    share = successes / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    # At the ends the formula gives exactly 0 and 1; floating point only nearly does.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(low, high, f"Wilson score, {confidence * 100:g}%", n)
