"""The standard error of a mean whose values come in tasks: several attempts at one task are not independent.

E. Miller, "Adding Error Bars to Evals", arXiv 2411.00640, with the correction C / (C - 1) for C tasks, as Inspect's
`ci` and `stderr` compute it (CR1; A. C. Cameron and D. L. Miller, "A Practitioner's Guide to Cluster-Robust
Inference", Journal of Human Resources 50 (2015)). Student's t is the package's own, so it needs no scipy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt
from statistics import NormalDist

from repoassay.stats.incomplete_beta import t_quantile
from repoassay.stats.intervals import NOTHING, Interval

__all__ = ["ClusteredMean", "clustered_mean"]


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """A mean over all values, and its standard errors, in the unit of the values.

    `error` takes tasks as the sample. `naive_error` is Wald's, which takes every value as independent: of yes or no
    sqrt(p (1 - p) / n). It is shown so that the two can be compared, and is usually too small. `half_z` and `half_t`
    are half the width of the normal interval, and of Student's with one degree of freedom fewer than tasks. `value` is
    None without values; the others where `undefined` holds the reason.
    """

    value: float | None
    error: float | None
    naive_error: float | None
    half_z: float | None
    half_t: float | None
    tasks: int
    n: int
    confidence: float
    undefined: str = ""

    @property
    def method(self) -> str:
        """What the standard error is."""
        return "task-clustered standard error with C/(C-1)"

    @property
    def interval(self) -> Interval:
        """The mean and Student's half-width on both sides, not cut to any range; `n` counts tasks."""
        method = f"task-clustered, t({max(self.tasks - 1, 0)}), {self.confidence * 100:g}%"
        if self.value is None or self.half_t is None:
            return Interval(None, None, method, self.tasks, self.undefined)
        return Interval(self.value - self.half_t, self.value + self.half_t, method, self.tasks)


def clustered_mean(tasks: Sequence[Sequence[float]], confidence: float = 0.95) -> ClusteredMean:
    """The mean over all values of all tasks.

    Args:
        tasks: The values of each task, such as 1 or 0 of each attempt; tasks without any do not count.
        confidence: Two-sided level, strictly between 0 and 1.

    Returns:
        The mean and its errors. There is no error with fewer than two tasks, nor where every task has the same mean:
        an error of zero would claim that nothing is left to learn.

    Raises:
        ValueError: When the level is impossible or a value is not finite.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not strictly between 0 and 1")
    clusters = [list(task) for task in tasks if len(task)]
    values = [value for task in clusters for value in task]
    if not all(isfinite(value) for value in values):
        raise ValueError("values that are not finite have no mean")
    count, n = len(clusters), len(values)
    if not n:
        return ClusteredMean(None, None, None, None, None, 0, 0, confidence, NOTHING)
    mean = fsum(values) / n
    naive = sqrt(fsum((value - mean) ** 2 for value in values)) / n
    if count == 1:
        reason = "one task alone does not tell how tasks differ"
        return ClusteredMean(mean, None, naive, None, None, count, n, confidence, reason)
    apart = [fsum(value - mean for value in task) for task in clusters]
    spread = max(values) - min(values)
    if max(map(abs, apart)) <= 1e-12 * spread * n:
        reason = f"no variation: every task has the mean {mean:g}"
        return ClusteredMean(mean, None, naive, None, None, count, n, confidence, reason)
    error = sqrt(fsum(part**2 for part in apart) * count / (count - 1)) / n
    half_z = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    half_t = t_quantile(0.5 + confidence / 2, count - 1) * error
    return ClusteredMean(mean, error, naive, half_z, half_t, count, n, confidence)
