"""Percentile bootstrap over tasks, and where it is refused.

B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), section 13.3: the interval lies between two
quantiles of the statistic over samples drawn anew, with replacement, from what was seen. Tasks are drawn, with all
their attempts, as attempts at one task are not independent.

What was not seen cannot be drawn: of 0 of n every sample is 0 of n, and the interval would be the point 0. There it is
refused. Of few tasks it is too narrow anyway; `wilson` or `clopper_pearson` say more about a proportion. scipy's
`bootstrap` is not used: it draws single values, not tasks, and says nothing of edges.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import compress
from math import ceil, isfinite, sqrt
from random import Random

from repoassay.stats.incomplete_beta import binomial_cdf
from repoassay.stats.intervals import NOTHING, Interval

__all__ = ["bootstrap_mean", "bootstrap_proportion"]

_DRAWS = 10_000
# A probability seen in so many draws is off by less than this many standard errors, nearly always.
_ERRORS = 3.0
# The share of a width that one would see in print.
_VISIBLE = 0.05


def bootstrap_proportion(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """The percentile bootstrap interval of a proportion without drawing: quantiles of Binomial(n, successes / n) / n.

    `note` warns where a quantile falls on an edge of the lattice of k/n, that is where 10,000 draws could return the
    neighbouring value instead.

    Args:
        successes: Observed successes, 0 to n.
        n: Observations.
        confidence: Two-sided level, strictly between 0 and 1.

    Raises:
        ValueError: When the counts or the level are impossible.
    """
    if not 0 <= successes <= n or not 0 < confidence < 1:
        raise ValueError(f"{successes} successes of {n} at a confidence of {confidence} are impossible")
    method = f"percentile bootstrap, exact, {confidence * 100:g}%"
    if refusal := _refusal(successes, n):
        return Interval(None, None, method, n, refusal)
    share, tail = successes / n, (1 - confidence) / 2
    low, high = (
        bisect_left(range(n + 1), level, key=lambda j: binomial_cdf(j, n, share)) for level in (tail, 1 - tail)
    )
    notes = []
    # Of many observations the neighbour looks the same in print, and nobody need know.
    if _VISIBLE * (high - low) < 1:
        slack = _ERRORS * sqrt(tail * (1 - tail) / _DRAWS)
        for name, k, level in (("low", low, tail), ("high", high, 1 - tail)):
            steps = ((k - 1, binomial_cdf(k - 1, n, share)), (k + 1, binomial_cdf(k, n, share)))
            notes += [_edge(name, f"{j}/{n}", f"{k}/{n}") for j, at in steps if abs(at - level) < slack]
    return Interval(low / n, high / n, method, n, note="; ".join(notes))


def bootstrap_mean(
    tasks: Sequence[Sequence[float]], confidence: float = 0.95, draws: int = _DRAWS, seed: int = 0
) -> Interval:
    """Percentile bootstrap of the mean over all values, drawing tasks.

    `note` warns where an end is one of two distinct values and another seed might give the other one.

    Args:
        tasks: The values of each task, such as 1 or 0 of each attempt; tasks without any do not count.
        confidence: Two-sided level, strictly between 0 and 1.
        draws: Samples drawn, at least 100.
        seed: The same seed gives the same interval.

    Returns:
        The interval in the unit of the values; `n` counts tasks. Refused with fewer than two tasks, where every value
        is the same, and where every task has the same mean.

    Raises:
        ValueError: When the level or the number of draws is impossible, or a value is not finite.
    """
    if not 0 < confidence < 1 or draws < 100:
        raise ValueError(f"a bootstrap of {draws} draws at a confidence of {confidence} is impossible")
    clusters = [list(task) for task in tasks if len(task)]
    if not all(isfinite(value) for task in clusters for value in task):
        raise ValueError("a bootstrap of values that are not finite is impossible")
    method = f"percentile bootstrap over tasks, {draws} draws, seed {seed}, {confidence * 100:g}%"
    n = len(clusters)
    if refusal := _refusal_of_values(clusters):
        return Interval(None, None, method, n, refusal)
    sums, counts = [sum(task) for task in clusters], [len(task) for task in clusters]
    random, places = Random(seed), range(n)  # noqa: S311 - a seeded sample, not a secret
    means = []
    for _ in range(draws):
        drawn = random.choices(places, k=n)
        means.append(sum(sums[i] for i in drawn) / sum(counts[i] for i in drawn))
    means.sort()
    low, low_note = _quantile(means, (1 - confidence) / 2, "low")
    high, high_note = _quantile(means, (1 + confidence) / 2, "high")
    return Interval(low, high, method, n, note="; ".join(compress((low_note, high_note), (low_note, high_note))))


def _refusal(successes: int, n: int) -> str:
    if n == 0:
        return NOTHING
    if successes in (0, n):
        return f"{successes} of {n}: every sample drawn from these would be the same, which is no interval"
    return ""


def _refusal_of_values(tasks: list[list[float]]) -> str:
    if not tasks:
        return NOTHING
    if len(tasks) == 1:
        return "there is one task only, and its like cannot be drawn"
    values = {value for task in tasks for value in task}
    if len(values) == 1:
        return f"no variation: every value is {values.pop():g}, and so would be every sample drawn from them"
    means = [sum(task) / len(task) for task in tasks]
    if max(means) - min(means) < 1e-12 * (max(values) - min(values)):
        return f"no variation: every task has the mean {means[0]:g}, and so would every sample of tasks"
    return ""


def _quantile(ordered: list[float], level: float, name: str) -> tuple[float, str]:
    """The value at a level, by the inverse of the step function, and a warning where it hangs on the draws."""
    draws = len(ordered)
    rank = min(draws - 1, max(0, ceil(level * draws) - 1))
    found = ordered[rank]
    slack = ceil(_ERRORS * sqrt(draws * level * (1 - level)))
    around = ordered[max(0, rank - slack) : rank + slack + 1]
    # On a fine scale neighbours always differ a little; only a jump that one would see in print is an edge.
    visible = _VISIBLE * (ordered[-1] - ordered[0])
    other = max((around[0], around[-1]), key=lambda value: abs(value - found))
    distinct = len({round(value, 9) for value in around})
    if distinct <= 3 and abs(other - found) > visible:
        return found, _edge(name, f"{other:.4g}", f"{found:.4g}")
    return found, ""


def _edge(name: str, other: str, found: str) -> str:
    return f"the {name} end is on an edge of the lattice: drawn with another seed, it may be {other} instead of {found}"
