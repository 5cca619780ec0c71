"""A mean from few labels by people and many by a judge, unbiased however bad the judge.

A. N. Angelopoulos et al., "Prediction-powered inference", Science 382 (2023), 669-674, for a mean; the
weight of the judge is that of "PPI++: Efficient Prediction-Powered Inference", arXiv 2311.01453. What
people labelled must be a random sample of what the judge labelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt
from statistics import NormalDist, fmean, variance

from repoassay.stats.intervals import Interval

__all__ = ["PredictionPowered", "prediction_powered"]


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """The mean, and what the judge was worth.

    `classical` is the mean of people's labels alone. `effective_n` is how many labels by people would give the same
    error; it may be below `labelled` where the judge is bad and its weight fixed. Undefined values are None.
    """

    value: float | None
    error: float | None
    interval: Interval
    classical: float | None
    effective_n: float | None
    weight: float
    labelled: int
    unlabelled: int
    undefined: str = ""

    @property
    def method(self) -> str:
        """What was computed."""
        return f"prediction-powered mean, judge weighted {self.weight:.3g}, normal interval"

    @property
    def n(self) -> int:
        """How many cases people labelled."""
        return self.labelled


def prediction_powered(
    labels: Sequence[float],
    judged: Sequence[float],
    judged_only: Sequence[float],
    confidence: float = 0.95,
    weight: float | None = None,
) -> PredictionPowered:
    """Estimate the mean of people's labels over all cases.

    Args:
        labels: What people said of the cases both labelled.
        judged: What the judge said of the same cases, in the same order.
        judged_only: What the judge said of the others.
        confidence: Two-sided level, strictly between 0 and 1.
        weight: 1 is plain PPI, 0 ignores the judge; None takes the weight that makes the error smallest, 0 to 1.

    Returns:
        The estimate. Its error is undefined with fewer than two cases on either side, and where nothing varies. The
        interval is normal, so it is too short for a few dozen labels.

    Raises:
        ValueError: When the lists do not belong together, or a value, the level or the weight is impossible.
    """
    _check(labels, judged, judged_only, confidence, weight)
    n, others = len(labels), len(judged_only)
    kind = f"prediction-powered, normal, {confidence * 100:g}%"
    classical = fmean(labels) if n else None
    if n < 2 or others < 2:
        reason = f"{n} labels by people and {others} by the judge alone are too few; two of each are needed"
        none = Interval(None, None, kind, n, reason)
        return PredictionPowered(None, None, none, classical, None, weight or 0.0, n, others, reason)
    used = _best_weight(labels, judged, judged_only) if weight is None else weight
    apart = [label - used * prediction for label, prediction in zip(labels, judged, strict=True)]
    value = used * fmean(judged_only) + fmean(apart)
    error = sqrt(used**2 * variance(judged_only) / others + variance(apart) / n)
    if error == 0:
        reason = "no variation: nothing says how far off the mean may be"
        none = Interval(None, None, kind, n, reason)
        return PredictionPowered(value, None, none, classical, None, used, n, others, reason)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    note = f"{n} labels are few for a normal interval" if n < 30 else ""
    interval = Interval(value - half, value + half, kind, n, note=note)
    return PredictionPowered(value, error, interval, classical, variance(labels) / error**2, used, n, others)


def _best_weight(labels: Sequence[float], judged: Sequence[float], judged_only: Sequence[float]) -> float:
    n, others = len(labels), len(judged_only)
    spread = variance([*judged, *judged_only])
    if spread == 0:
        return 0.0
    middle, centre = fmean(labels), fmean(judged)
    together = fsum((y - middle) * (f - centre) for y, f in zip(labels, judged, strict=True)) / (n - 1)
    return min(1.0, max(0.0, together / ((1 + n / others) * spread)))


def _check(
    labels: Sequence[float],
    judged: Sequence[float],
    judged_only: Sequence[float],
    confidence: float,
    weight: float | None,
) -> None:
    if len(labels) != len(judged):
        raise ValueError(f"{len(labels)} labels by people and {len(judged)} by the judge are not the same cases")
    if not all(map(isfinite, (*labels, *judged, *judged_only))):
        raise ValueError("labels that are not finite have no mean")
    if not 0 < confidence < 1 or (weight is not None and not 0 <= weight <= 1):
        raise ValueError(f"a confidence of {confidence} or a weight of {weight} is impossible")
