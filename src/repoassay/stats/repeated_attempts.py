"""pass@k and pass^k: how likely any, or all, of k attempts at a task pass, from n >= k attempts at each task.

The unbiased estimator of a task is 1 - C(n - c, k) / C(n, k), with c of n attempts passed (Chen et al., "Evaluating
Large Language Models Trained on Code", arXiv 2107.03374, section 2.1, equation 1). That all k pass is estimated by
C(c, k) / C(n, k) (Yao et al., "tau-bench", arXiv 2406.12045). The figure of a suite is the mean over its
tasks, so its uncertainty is that of drawing tasks: attempts at one task are not independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import comb
from statistics import fmean

from repoassay.stats.intervals import NOTHING, Interval, wilson
from repoassay.stats.task_intervals import clustered_shares

__all__ = ["PassAtK", "pass_at_k", "pass_hat_k", "unbiased", "unbiased_all"]


@dataclass(frozen=True, slots=True)
class PassAtK:
    """pass@k or pass^k, as `method` says, of `tasks` tasks; None without any.

    `left_out` tasks had fewer than k attempts and do not count.
    """

    k: int
    value: float | None
    interval: Interval
    tasks: int
    left_out: int
    method: str = "pass@k, unbiased"

    @property
    def undefined(self) -> str:
        """Why there is no value; empty where there is one."""
        return "" if self.value is not None else f"no task has {self.k} or more attempts"


def unbiased(n: int, c: int, k: int) -> float:
    """The estimate for one task with c of n attempts passed.

    Raises:
        ValueError: When the counts are impossible or there are fewer than k attempts.
    """
    if not 0 <= c <= n or not 1 <= k <= n:
        raise ValueError(f"pass@{k} cannot be had from {c} of {n} attempts")
    return 1 - comb(n - c, k) / comb(n, k)


def unbiased_all(n: int, c: int, k: int) -> float:
    """The estimate for one task, with c of n attempts passed, that k attempts all pass.

    Raises:
        ValueError: When the counts are impossible or there are fewer than k attempts.
    """
    if not 0 <= c <= n or not 1 <= k <= n:
        raise ValueError(f"pass^{k} cannot be had from {c} of {n} attempts")
    return comb(c, k) / comb(n, k)


def pass_at_k(counts: Iterable[tuple[int, int]], k: int, confidence: float = 0.95) -> PassAtK:
    """pass@k over tasks.

    The interval is Wilson's where every task has one attempt, and Korn and Graubard's over tasks (`clustered_shares`)
    where some have several: Clopper and Pearson's of as many independent draws as tasks are worth.

    Args:
        counts: Attempts n and passes c of each task.
        k: How many attempts may be taken, at least 1.
        confidence: Two-sided level, strictly between 0 and 1.

    Raises:
        ValueError: When a count, k or the level is impossible.
    """
    return _over_tasks(counts, k, confidence, "pass@k", unbiased)


def pass_hat_k(counts: Iterable[tuple[int, int]], k: int, confidence: float = 0.95) -> PassAtK:
    """pass^k over tasks: how likely k attempts at a task all pass. Arguments, interval and errors as of `pass_at_k`."""
    return _over_tasks(counts, k, confidence, "pass^k", unbiased_all)


def _over_tasks(
    counts: Iterable[tuple[int, int]], k: int, confidence: float, name: str, of_task: Callable[[int, int, int], float]
) -> PassAtK:
    if k < 1 or not 0 < confidence < 1:
        raise ValueError(f"{name[:-1]}{k} at a confidence of {confidence} has no meaning")
    pairs = list(counts)
    values = [of_task(n, c, k) for n, c in pairs if n >= k]
    left_out = len(pairs) - len(values)
    if not values:
        return PassAtK(k, None, Interval(None, None, "undefined", 0, NOTHING), 0, left_out, f"{name}, unbiased")
    mean, tasks = min(1.0, max(0.0, fmean(values))), len(values)
    attempts = sum(n for n, _ in pairs if n >= k)
    if attempts == tasks:
        interval = wilson(round(mean * tasks), tasks, confidence)
        method = f"Wilson score over tasks, {confidence * 100:g}%"
        ends = Interval(interval.low, interval.high, method, tasks)
    else:
        ends = clustered_shares(values, attempts, confidence)
    return PassAtK(k, mean, ends, tasks, left_out, f"{name}, unbiased")
