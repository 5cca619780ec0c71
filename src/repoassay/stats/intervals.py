"""Confidence intervals of a proportion.

The score interval is that of E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
Journal of the American Statistical Association 22 (1927), 209-212: the set of proportions that a score test at the
given level does not reject. Unlike the textbook interval it stays inside [0, 1] and keeps a width at 0/n and n/n,
which is where the small samples of a benchmark lie.

The exact interval is that of C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in
the case of the binomial", Biometrika 26 (1934), 404-413: it covers at least as often as its level says, at the price
of being wide. Its ends are quantiles of beta distributions, which are computed here rather than by scipy: a comparison
of two systems prints them, and that belongs to the base install.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from repoassay.stats.incomplete_beta import beta_quantile

__all__ = ["Interval", "clopper_pearson", "clopper_pearson_upper", "wilson"]


NOTHING = "there are no observations"


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval; of a proportion, both ends are between 0 and 1.

    Where there is none both ends are None and `undefined` holds the reason: there is nothing to say, which is not the
    same as an interval from 0 to 1. Without observations (n = 0) `method` is "undefined". `note` is what a reader must
    know of an interval that exists; often empty.
    """

    low: float | None
    high: float | None
    method: str
    n: int
    undefined: str = ""
    note: str = ""

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
    _check(successes, n, confidence)
    if n == 0:
        return Interval(None, None, "undefined", 0, NOTHING)
    z2 = NormalDist().inv_cdf(0.5 + confidence / 2) ** 2
    share = successes / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    # At the ends the formula gives exactly 0 and 1; floating point only nearly does.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(low, high, f"Wilson score, {confidence * 100:g}%", n)


def clopper_pearson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Clopper-Pearson (exact) interval, two-sided with equal tails.

    Args:
        successes: Observed successes, 0 to n.
        n: Observations, the denominator.
        confidence: Two-sided level, strictly between 0 and 1.

    Raises:
        ValueError: When the counts or the level are impossible.
    """
    _check(successes, n, confidence)
    if n == 0:
        return Interval(None, None, "undefined", 0, NOTHING)
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else beta_quantile(tail, successes, n - successes + 1)
    return Interval(low, _upper(successes, n, tail), f"Clopper-Pearson, {confidence * 100:g}%", n)


def clopper_pearson_upper(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """The one-sided exact interval from 0: how large the proportion may be.

    For 0 of n it ends at 1 - (1 - confidence)^(1/n).

    Raises:
        ValueError: When the counts or the level are impossible.
    """
    _check(successes, n, confidence)
    if n == 0:
        return Interval(None, None, "undefined", 0, NOTHING)
    method = f"Clopper-Pearson, one-sided upper, {confidence * 100:g}%"
    return Interval(0.0, _upper(successes, n, 1 - confidence), method, n)


def _upper(successes: int, n: int, tail: float) -> float:
    # The upper tail is asked of the mirrored distribution: 1 - tail would lose its digits.
    return 1.0 if successes == n else 1 - beta_quantile(tail, n - successes, successes + 1)


def _check(successes: int, n: int, confidence: float) -> None:
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} are impossible")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not strictly between 0 and 1")
