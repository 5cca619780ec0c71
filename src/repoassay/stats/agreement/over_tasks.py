"""The interval of an agreement coefficient where units come in tasks: a jackknife that leaves out a task at a time.

B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), section 11.5, with Student's t of one degree
of freedom fewer than tasks. It is made on the scale log(1 - coefficient): a coefficient is 1 minus a ratio of
disagreements, and it never exceeds 1. A percentile bootstrap of so few tasks is too narrow; of fewer than eight tasks
so is this, and it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import exp, fsum, log, sqrt

from repoassay.stats.agreement.ratings import Ratings
from repoassay.stats.figure import Figure
from repoassay.stats.incomplete_beta import t_quantile
from repoassay.stats.intervals import Interval

__all__ = ["agreement_by_task"]

_FEWEST = 8


def agreement_by_task(
    tasks: Sequence[Sequence[Sequence[Hashable | None]]],
    coefficient: Callable[[Ratings], Figure],
    confidence: float = 0.95,
) -> Interval:
    """Jackknife interval of a coefficient over tasks; `n` counts tasks.

    Args:
        tasks: The units of each task, each with what its raters said.
        coefficient: Such as `krippendorff_alpha`, or a lambda that fixes its scale and categories.
        confidence: Two-sided level, strictly between 0 and 1.

    Returns:
        Undefined where the coefficient is, of fewer than eight tasks, where agreement is perfect, and where leaving
        out a task leaves no coefficient or a perfect one.

    Raises:
        ValueError: When the level is impossible.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not strictly between 0 and 1")
    units = [task for task in tasks if task]
    count = len(units)
    method = f"jackknife over tasks on log(1 - coefficient), t({max(count - 1, 0)}), {confidence * 100:g}%"
    found = coefficient([unit for task in units for unit in task])
    if found.value is None:
        return Interval(None, None, method, count, found.undefined)
    if count < _FEWEST:
        return Interval(None, None, method, count, f"fewer than {_FEWEST} tasks do not tell how tasks differ")
    values = [
        coefficient([unit for number, task in enumerate(units) if number != left for unit in task]).value
        for left in range(count)
    ]
    known = [value for value in (found.value, *values) if value is not None and value < 1]
    if len(known) <= count:
        reason = "there is too little disagreement: it all lies in one task, or there is none"
        return Interval(None, None, method, count, reason)
    whole, *parts = (log(1 - value) for value in known)
    middle = fsum(parts) / count
    error = sqrt(fsum((part - middle) ** 2 for part in parts) * (count - 1) / count)
    if not error:
        return Interval(None, None, method, count, "no variation: every task agrees alike")
    half = t_quantile(0.5 + confidence / 2, count - 1) * error
    return Interval(max(-1.0, 1 - exp(whole + half)), 1 - exp(whole - half), method, count)
