"""How many tasks it takes to see a difference, and how small a difference the tasks at hand can show.

Two systems on the same tasks: R. J. Connor, "Sample size for testing differences in proportions for the paired-sample
design", Biometrics 43 (1987), 207-211, page 209. With d the difference and D the discordance (the share of tasks
that one system alone solves), n = ((z_a sqrt(D) + z_b sqrt(D - d^2)) / d)^2. On tasks of their own: J. L. Fleiss,
"Statistical Methods for Rates and Proportions", 2nd ed. (1981), without continuity correction. Of any
score: E. Miller, "Adding Error Bars to Evals", arXiv 2411.00640, n = ((z_a + z_b) s / d)^2 with s the
standard deviation of the task-level differences. z_a belongs to the two-sided level, z_b to the power.

These are approximations for planning; `mcnemar_power` is the exact power of the exact test.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, comb, inf, sqrt
from statistics import NormalDist

from repoassay.stats.figure import Figure
from repoassay.stats.incomplete_beta import binomial_cdf
from repoassay.stats.paired import mcnemar

__all__ = [
    "mcnemar_power",
    "smallest_difference",
    "tasks_needed",
    "tasks_needed_independent",
    "tasks_needed_score",
]


def tasks_needed(difference: float, discordance: float, alpha: float = 0.05, power: float = 0.8) -> Figure:
    """Tasks needed to see a difference between the pass rates of two systems on the same tasks.

    Args:
        difference: The difference of the rates, as a share: 0.05 is 5 points. Its sign does not matter.
        discordance: The share of tasks that one system alone solves; at least the difference.
        alpha: Two-sided level of the test.
        power: The chance to see the difference.

    Returns:
        A whole number of tasks. Undefined for no difference, and where the discordance is below the difference, which
        cannot be.

    Raises:
        ValueError: When a share, the level or the power is impossible.
    """
    _shares(difference=abs(difference), discordance=discordance)
    method = f"Connor 1987 for McNemar's test, {_at(alpha, power)}, discordance {discordance:g}"
    if difference == 0:
        return Figure(None, method, 0, "no number of tasks shows a difference of zero")
    if abs(difference) > discordance:
        reason = (
            f"the systems cannot differ by {abs(difference):g} where only {discordance:g} of the tasks tell them apart"
        )
        return Figure(None, method, 0, reason)
    needed = _whole(_paired(abs(difference), discordance, alpha, power))
    return Figure(float(needed), method, needed)


def tasks_needed_independent(first: float, second: float, alpha: float = 0.05, power: float = 0.8) -> Figure:
    """Tasks needed *for each* system where each has tasks of its own, with pass rates `first` and `second`.

    Raises:
        ValueError: When a share, the level or the power is impossible.
    """
    _shares(first=first, second=second)
    method = f"two independent proportions, tasks for each, {_at(alpha, power)}"
    if first == second:
        return Figure(None, method, 0, "no number of tasks shows a difference of zero")
    za, zb = _quantiles(alpha, power)
    middle = (first + second) / 2
    apart = first * (1 - first) + second * (1 - second)
    needed = _whole(((za * sqrt(2 * middle * (1 - middle)) + zb * sqrt(apart)) / (first - second)) ** 2)
    return Figure(float(needed), method, needed)


def tasks_needed_score(difference: float, deviation: float, alpha: float = 0.05, power: float = 0.8) -> Figure:
    """Tasks needed to see a mean difference of any score on the same tasks.

    Args:
        difference: The mean difference, in the unit of the score.
        deviation: The standard deviation of the task-level differences, in the same unit.
        alpha: Two-sided level of the test.
        power: The chance to see the difference.

    Raises:
        ValueError: When the deviation is negative or the level or the power impossible.
    """
    if deviation < 0:
        raise ValueError(f"a standard deviation of {deviation} is impossible")
    method = f"paired scores, normal approximation, {_at(alpha, power)}, standard deviation {deviation:g}"
    za, zb = _quantiles(alpha, power)
    if difference == 0:
        return Figure(None, method, 0, "no number of tasks shows a difference of zero")
    needed = max(2, _whole(((za + zb) * deviation / difference) ** 2))
    return Figure(float(needed), method, needed)


def smallest_difference(n: int, discordance: float, alpha: float = 0.05, power: float = 0.8) -> Figure:
    """The smallest difference of pass rates, as a share, that `n` tasks both systems tried show with the given power.

    Returns:
        The difference for which `tasks_needed` is `n`. Undefined where even a difference as large as the discordance
        (one system solves whatever the other does) needs more tasks.

    Raises:
        ValueError: When a share, the level, the power or n is impossible.
    """
    _shares(discordance=discordance)
    if n < 0:
        raise ValueError(f"{n} tasks are impossible")
    method = f"Connor 1987 for McNemar's test, {_at(alpha, power)}, discordance {discordance:g}"
    if discordance == 0 or _paired(discordance, discordance, alpha, power) > n:
        reason = f"{n} tasks are too few to show any difference where {discordance:g} of them tell the systems apart"
        return Figure(None, method, n, reason)
    return Figure(_falling(lambda d: _paired(d, discordance, alpha, power), n, discordance), method, n)


def mcnemar_power(n: int, first_alone: float, second_alone: float, alpha: float = 0.05) -> Figure:
    """The exact chance that the exact McNemar test of n tasks has a p-value below alpha.

    Args:
        n: Tasks; up to some thousands.
        first_alone: The chance that the first system alone solves a task.
        second_alone: The chance that the second alone does.
        alpha: Two-sided level.

    Raises:
        ValueError: When a chance, the level or n is impossible.
    """
    _shares(first_alone=first_alone, second_alone=second_alone, both=first_alone + second_alone)
    _quantiles(alpha, 0.5)
    if n < 0:
        raise ValueError(f"{n} tasks are impossible")
    discordance = first_alone + second_alone
    method = f"exact power of the exact McNemar test, level {alpha:g}"
    if discordance == 0:
        return Figure(0.0, method, n)
    share, power, most = first_alone / discordance, 0.0, -1
    for pairs in range(n + 1):
        # The largest minority that is still significant grows with the pairs, by steps of one.
        while most + 1 <= pairs // 2 and (mcnemar(most + 1, pairs - most - 1).p_value or 0.0) < alpha:
            most += 1
        if most < 0:
            continue
        chance = (
            comb(n, pairs) * discordance**pairs * (1 - discordance) ** (n - pairs)
            if n < 1000
            else _chance(pairs, n, discordance)
        )
        power += chance * (binomial_cdf(most, pairs, share) + binomial_cdf(most, pairs, 1 - share))
    return Figure(min(1.0, power), method, n)


def _chance(k: int, n: int, p: float) -> float:
    # comb(n, k) no longer fits a float here.
    return max(0.0, binomial_cdf(k, n, p) - binomial_cdf(k - 1, n, p))


def _paired(difference: float, discordance: float, alpha: float, power: float) -> float:
    za, zb = _quantiles(alpha, power)
    root = za * sqrt(discordance) + zb * sqrt(max(0.0, discordance - difference**2))
    return (root / difference) ** 2 if difference else inf


def _falling(needed: Callable[[float], float], n: int, high: float) -> float:
    low = 0.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if needed(middle) > n else (low, middle)
    return high


def _whole(tasks: float) -> int:
    # A hair above a whole number is floating point, not another task.
    return max(1, ceil(tasks - 1e-9))


def _quantiles(alpha: float, power: float) -> tuple[float, float]:
    _shares(alpha=alpha, power=power)
    if not (0 < alpha < 1 and 0 < power < 1):
        raise ValueError(f"a level of {alpha} and a power of {power} are not strictly between 0 and 1")
    return NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(power)


def _at(alpha: float, power: float) -> str:
    _quantiles(alpha, power)
    return f"two-sided level {alpha:g}, power {power * 100:g}%"


def _shares(**shares: float) -> None:
    for name, share in shares.items():
        if not 0 <= share <= 1 + 1e-12:
            raise ValueError(f"{name} is a share between 0 and 1, not {share}")
