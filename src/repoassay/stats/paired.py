"""Two systems on the same tasks, one yes or no of each: the exact test and intervals of the difference.

Of n tasks, b are solved by the first system alone and c by the second alone; the others say nothing about which is
better. The exact test is that of Q. McNemar, Psychometrika 12 (1947), 153-157, with binomial probabilities instead of
chi-squared. It is a sum of whole numbers, exact without scipy, and `compare` prints it always; so it is written here.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from statistics import NormalDist

from repoassay.stats.figure import Significance
from repoassay.stats.intervals import NOTHING, Interval

__all__ = ["agresti_min", "discordant_needed", "mcnemar", "paired_wald", "tango", "tango_of_shares"]


def mcnemar(b: int, c: int, n: int | None = None) -> Significance:
    """The exact two-sided McNemar test; `statistic` is b - c.

    Args:
        b: Pairs that only the first system solved.
        c: Pairs that only the second solved.
        n: All pairs, for the record; b + c when not given.

    Returns:
        The p-value: twice the smaller tail of Binomial(b + c, 1/2), at most 1. Without discordant pairs it is 1: the
        systems did the same on every task. Undefined where n is 0.

    Raises:
        ValueError: When the counts are impossible.
    """
    pairs = b + c if n is None else n
    _check(b, c, pairs)
    method = f"McNemar, exact, two-sided, {b} against {c} discordant pairs"
    if n == 0:
        return Significance(None, None, method, 0, "there are no pairs")
    tail, ways = 0, 1
    for i in range(min(b, c) + 1):
        tail += ways
        ways = ways * (b + c - i) // (i + 1)
    return Significance(min(1.0, 2 * tail / 2 ** (b + c)), float(b - c), method, pairs)


def discordant_needed(alpha: float = 0.05) -> int:
    """The fewest discordant pairs, all in favour of one system, whose exact p-value is below `alpha`; 6 for 0.05.

    Raises:
        ValueError: When alpha is not strictly between 0 and 1.
    """
    _level(alpha)
    pairs = 1
    while 2 / 2**pairs >= alpha:
        pairs += 1
    return pairs


def tango(b: int, c: int, n: int, confidence: float = 0.95) -> Interval:
    """Tango's score interval of the paired difference (b - c) / n.

    These are the differences that a score test does not reject (T. Tango, "Equivalence test and confidence interval for
    the difference in proportions for the paired-sample design", Statistics in Medicine 17 (1998), 891-908). It keeps a
    width without discordant pairs and stays inside [-1, 1].

    Raises:
        ValueError: When the counts or the level are impossible.
    """
    _check(b, c, n)
    _level(confidence)
    method = f"Tango score, paired difference, {confidence * 100:g}%"
    if n == 0:
        return Interval(None, None, method, 0, NOTHING)
    return Interval(*tango_of_shares(b / n, c / n, n, confidence), method, n)


def tango_of_shares(first: float, second: float, number: float, confidence: float = 0.95) -> tuple[float, float]:
    """The ends of Tango's interval of `first` - `second`, of so many observations, which need not be a whole number.

    Args:
        first: The share of pairs that only the first system solved.
        second: The share that only the second solved.
        number: Observations, or what correlated ones are worth; more than 0.
        confidence: Two-sided level.
    """
    z2, seen = NormalDist().inv_cdf(0.5 + confidence / 2) ** 2, first - second

    def accepted(difference: float) -> bool:
        linear = (2 - seen) * difference - first - second
        constant = -second * difference * (1 - difference)
        # What the second system alone would solve, by maximum likelihood under this difference.
        alone = (sqrt(max(0.0, linear**2 - 8 * constant)) - linear) / 4
        variance = 2 * alone + difference * (1 - difference)
        return number * (seen - difference) ** 2 <= z2 * max(0.0, variance)

    return _edge(accepted, -1.0, seen), _edge(accepted, 1.0, seen)


def agresti_min(b: int, c: int, n: int, confidence: float = 0.95) -> Interval:
    """The adjusted interval of the paired difference: Wald's after half a pair is added to each of the four cells.

    A. Agresti and Y. Min, "Simple improved confidence intervals for comparing matched proportions", Statistics in
    Medicine 24 (2005), 729-740.

    Raises:
        ValueError: When the counts or the level are impossible.
    """
    _check(b, c, n)
    _level(confidence)
    method = f"Agresti-Min adjusted, paired difference, {confidence * 100:g}%"
    if n == 0:
        return Interval(None, None, method, 0, NOTHING)
    low, high = _wald(b + 0.5, c + 0.5, n + 2, confidence)
    # Half a pair in each cell moves the middle, so the interval may end beyond what a difference can be.
    return Interval(max(-1.0, low), min(1.0, high), method, n)


def paired_wald(b: int, c: int, n: int, confidence: float = 0.95) -> Interval:
    """The textbook interval of the paired difference, to be shown beside the others: too narrow for few tasks.

    Raises:
        ValueError: When the counts or the level are impossible.
    """
    _check(b, c, n)
    _level(confidence)
    method = f"Wald, paired difference, {confidence * 100:g}%"
    if n == 0:
        return Interval(None, None, method, 0, NOTHING)
    if b == c == 0 or n in (b, c):
        return Interval(None, None, method, n, "no variation: every pair differs in the same way, or none does")
    low, high = _wald(b, c, n, confidence)
    return Interval(max(-1.0, low), min(1.0, high), method, n, note="too narrow for few tasks; Tango's is not")


def _wald(b: float, c: float, n: float, confidence: float) -> tuple[float, float]:
    difference = (b - c) / n
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * sqrt(max(0.0, b + c - (b - c) ** 2 / n)) / n
    return difference - half, difference + half


def _edge(accepted: Callable[[float], bool], outside: float, inside: float) -> float:
    # Bisection on the test itself: no closed form is needed, and 100 halvings end at neighbouring floats.
    if accepted(outside):
        return outside
    for _ in range(100):
        middle = (outside + inside) / 2
        outside, inside = (outside, middle) if accepted(middle) else (middle, inside)
    return inside


def _check(b: int, c: int, n: int) -> None:
    if min(b, c) < 0 or b + c > n:
        raise ValueError(f"{b} and {c} discordant of {n} pairs are impossible")


def _level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"a level of {level} is not strictly between 0 and 1")
