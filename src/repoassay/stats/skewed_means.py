"""The mean of skewed values that come in tasks, such as minutes: an interval that leans to the side of the long tail.

Student's interval assumes symmetry; of minutes it lies too low. P. Hall, "On the removal of skewness by
transformation", Journal of the Royal Statistical Society B 54 (1992), 221-228, maps the studentized mean by a cubic
that takes its skewness away. Tasks are the sample: each gives the sum of its values' distances from the mean. The
quantile is Student's with half as many degrees of freedom as tasks, since skewness is estimated from them, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cbrt, fsum, sqrt

from repoassay.stats.clustered import clustered_mean
from repoassay.stats.incomplete_beta import t_quantile
from repoassay.stats.intervals import Interval

__all__ = ["skewed_mean"]


def skewed_mean(tasks: Sequence[Sequence[float]], confidence: float = 0.95) -> Interval:
    """Hall's interval of the mean over all values; `n` counts tasks.

    Args:
        tasks: The values of each task; tasks without any do not count.
        confidence: Two-sided level, strictly between 0 and 1.

    Returns:
        The interval in the unit of the values; none with fewer than three tasks, or where tasks do not differ.

    Raises:
        ValueError: When the level is impossible or a value is not finite.
    """
    clusters = [list(task) for task in tasks if len(task)]
    mean, count = clustered_mean(clusters, confidence), len(clusters)
    freedom = max(count / 2, 1.0)
    method = f"Hall's for skewed values, task-clustered, t({freedom:g}), {confidence * 100:g}%"
    if mean.value is None or mean.error is None or count < 3:
        reason = mean.undefined or "two tasks do not tell how skewed their values are"
        return Interval(None, None, method, count, reason)
    apart = [fsum(value - mean.value for value in task) for task in clusters]
    second, third = fsum(part * part for part in apart) / count, fsum(part * part * part for part in apart) / count
    skewness = third / (second * sqrt(second))
    lean, shift = skewness / (3 * sqrt(count)), skewness / (6 * sqrt(count))

    def moved(quantile: float) -> float:
        wanted = quantile - shift
        return wanted if abs(lean) < 1e-9 else (cbrt(1 + 3 * lean * wanted) - 1) / lean

    edge = t_quantile(0.5 + confidence / 2, freedom)
    return Interval(mean.value - moved(edge) * mean.error, mean.value - moved(-edge) * mean.error, method, count)
