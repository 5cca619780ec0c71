"""Intervals of rates and differences whose observations come in tasks: the task is what was sampled.

Several runs of a task are worth fewer independent observations than they are runs. How many is estimated from how far
tasks lie apart, and corrected for how few tasks that estimate rests on (E. L. Korn and B. I. Graubard, "Confidence
intervals for proportions with small expected number of positive counts estimated from survey data", Survey Methodology
24 (1998), 193-201). An interval for independent observations is then taken of so many: Clopper and Pearson's of a
rate, Tango's of a difference. Where tasks do not differ at all nothing can be estimated, and each task counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import fsum, isfinite
from statistics import NormalDist

from repoassay.stats.clustered import clustered_mean
from repoassay.stats.figure import Significance
from repoassay.stats.incomplete_beta import beta_quantile, t_quantile
from repoassay.stats.intervals import NOTHING, Interval
from repoassay.stats.paired import tango_of_shares
from repoassay.stats.permutation import paired_permutation

__all__ = ["clustered_counts", "clustered_difference", "clustered_proportion", "clustered_shares", "clustered_test"]

_TRUST = 0.75
"""How much of what runs add to one observation a task is believed. The correlation of runs is estimated from few
tasks, and too low more often than too high where rates are far from one half: simulated (`docs/statistics.md`)."""


def clustered_proportion(tasks: Sequence[Sequence[bool]], confidence: float = 0.95) -> Interval:
    """Korn and Graubard's interval of the share of all values that are true; `n` counts tasks.

    Args:
        tasks: The values of each task, one a run; tasks without any do not count.
        confidence: Two-sided level, strictly between 0 and 1.

    Raises:
        ValueError: When the level is impossible.
    """
    return clustered_counts([(sum(map(bool, task)), len(task)) for task in tasks], confidence)


def clustered_counts(counts: Iterable[tuple[int, int]], confidence: float = 0.95) -> Interval:
    """As `clustered_proportion`, of how many values of each task are true, and how many there are."""
    return _exact_of_counts(tuple(counts), confidence)


@lru_cache(maxsize=4096)
def _exact_of_counts(counts: tuple[tuple[int, int], ...], confidence: float) -> Interval:
    """Kept, as a report shows one rate in several tables and asks for each end of its interval."""
    clusters = [[1.0] * hits + [0.0] * (n - hits) for hits, n in counts if n]
    return _exact(clusters, sum(map(len, clusters)), confidence)


def clustered_shares(shares: Sequence[float], attempts: int, confidence: float = 0.95) -> Interval:
    """As `clustered_proportion`, of the mean of one share a task, each between 0 and 1, from so many runs in all."""
    return _exact([[share] for share in shares], attempts, confidence)


def _exact(tasks: list[list[float]], most: int, confidence: float) -> Interval:
    """Clopper and Pearson's interval of the mean, of as many observations as the values are worth, at most so many."""
    n = sum(map(len, tasks))
    method = f"Korn-Graubard, task-clustered, t({max(len(tasks) - 1, 0)}), {confidence * 100:g}%"
    if not n:
        return Interval(None, None, method, 0, NOTHING)
    share = min(1.0, max(0.0, fsum(map(fsum, tasks)) / n))
    number = _independent(tasks, share * (1 - share), confidence, most)
    hits, tail = share * number, (1 - confidence) / 2
    low = 0.0 if share == 0 else beta_quantile(tail, hits, number - hits + 1)
    high = 1.0 if share == 1 else 1 - beta_quantile(tail, number - hits, hits + 1)
    return Interval(low, high, method, len(tasks), note=_worth(number, max(n, most), len(tasks)))


def clustered_difference(
    tasks: Sequence[Sequence[float]], confidence: float = 0.95, pairs: int | None = None
) -> Interval:
    """Tango's interval of the mean over all values, each a difference between -1 and 1; `n` counts tasks.

    Args:
        tasks: The differences of each task: one a run, or one that is the mean over the task's runs.
        confidence: Two-sided level, strictly between 0 and 1.
        pairs: How many pairs of single runs the values stand for, at most; the number of values when not given.

    Raises:
        ValueError: When the level is impossible, or a value is not between -1 and 1.
    """
    clusters = [list(task) for task in tasks if len(task)]
    values = [value for task in clusters for value in task]
    if not all(isfinite(value) and abs(value) <= 1 for value in values):
        raise ValueError("a difference of two shares is between -1 and 1")
    n = len(values)
    method = f"Tango score, task-clustered, {confidence * 100:g}%"
    if not n:
        return Interval(None, None, method, 0, NOTHING)
    above, below = fsum(max(value, 0.0) for value in values) / n, fsum(max(-value, 0.0) for value in values) / n
    number = _independent(clusters, above + below - (above - below) ** 2, confidence, pairs, normal=True)
    ends = tango_of_shares(above, below, number, confidence)
    return Interval(*ends, method, len(clusters), note=_worth(number, max(n, pairs or 0), len(clusters)))


def clustered_test(tasks: Sequence[Sequence[float]], draws: int = 10_000, seed: int = 0) -> Significance:
    """The sign-flip test by task that the mean over all values is zero; `statistic` is that mean.

    What is flipped is a task's sum, so that runs of a task never part (see `paired_permutation`).
    """
    clusters = [list(task) for task in tasks if len(task)]
    found = paired_permutation([fsum(task) for task in clusters], draws, seed)
    n = sum(map(len, clusters))
    if found.statistic is None:
        return found
    return Significance(found.p_value, found.statistic * len(clusters) / n, found.method, found.n)


def _independent(
    tasks: list[list[float]], variance: float, confidence: float, pairs: int | None = None, *, normal: bool = False
) -> float:
    """How many independent observations of that variance are worth these, at most as many as there are.

    With `normal` they are for an interval that goes by the normal quantile, where Student's has to stand.
    """
    count, n = len(tasks), sum(map(len, tasks))
    most = max(n, pairs or 0)
    mean = clustered_mean(tasks, confidence)
    if not mean.error or variance <= 0 or count < 2:
        return float(count)
    # The n - 1 makes one run a task exactly n: the spread of tasks has that correction too.
    number = 1 + variance / mean.error**2
    if number > count:
        number = count + _TRUST * (number - count)
    level = 0.5 + confidence / 2
    other = NormalDist().inv_cdf(level) if normal and most > count else t_quantile(level, most - 1)
    number *= (other / t_quantile(level, count - 1)) ** 2
    return min(float(most), number)


def _worth(number: float, n: int, count: int) -> str:
    return f"{n} runs of {count} tasks are worth {number:.1f} independent ones" if n > count else ""
