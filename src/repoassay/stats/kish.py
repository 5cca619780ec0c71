"""Kish's effective number: how many equal, independent ones would say as much.

L. Kish, "Survey Sampling" (1965): of unequal weights, and of correlated members of a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, isfinite

from repoassay.stats.figure import Figure

__all__ = ["effective_number", "effective_raters"]


def effective_number(weights: Sequence[float]) -> Figure:
    """(sum w)^2 / sum w^2: between 1 and the number of weights.

    Raises:
        ValueError: When a weight is negative or not finite.
    """
    if not all(isfinite(w) and w >= 0 for w in weights):
        raise ValueError("weights are finite and not negative")
    method = "Kish effective number of weighted cases"
    widest = max(weights, default=0.0)
    if not widest:
        return Figure(None, method, len(weights), "there is no weight above zero")
    scaled = [w / widest for w in weights]
    return Figure(fsum(scaled) ** 2 / fsum(w * w for w in scaled), method, len(weights))


def effective_raters(raters: int, correlation: float) -> Figure:
    """k / (1 + (k - 1) r): how many independent raters k are worth whose errors correlate by r on average.

    Args:
        raters: How many there are, at least 0. Samples of one model are one rater.
        correlation: The mean correlation between two of them, -1 to 1.

    Returns:
        The number; never above `raters`, as a negative correlation in a sample is no evidence of more.

    Raises:
        ValueError: When the count or the correlation is impossible.
    """
    if raters < 0 or not -1 <= correlation <= 1:
        raise ValueError(f"{raters} raters that correlate by {correlation} are impossible")
    method = f"Kish effective number of raters, mean correlation {correlation:g}"
    if raters == 0:
        return Figure(None, method, 0, "there are no raters")
    note = "the correlation is negative and taken as zero" if correlation < 0 else ""
    return Figure(raters / (1 + (raters - 1) * max(0.0, correlation)), method, raters, note=note)
