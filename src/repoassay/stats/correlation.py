"""Correlation of two scores, with its p-value, by scipy."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from repoassay.errors import MissingExtra
from repoassay.stats.figure import Significance

__all__ = ["kendall", "pearson", "spearman"]


def pearson(first: Sequence[float | None], second: Sequence[float | None]) -> Significance:
    """Pearson's r, and its two-sided p-value under a normal distribution.

    Args:
        first: One score of each case, None where unknown.
        second: The other score of the same cases.

    Returns:
        `statistic` is the coefficient, -1 to 1; `n` counts the pairs that are known. Undefined with fewer than three,
        and where one of the scores does not vary.

    Raises:
        ValueError: When the lists differ in length or a score is not finite.
        MissingExtra: Without scipy.
    """
    return _correlated(first, second, "Pearson's r", "pearsonr")


def spearman(first: Sequence[float | None], second: Sequence[float | None]) -> Significance:
    """Spearman's rank correlation, two-sided by Student's t. Arguments, result and errors as of `pearson`."""
    return _correlated(first, second, "Spearman's rho", "spearmanr")


def kendall(first: Sequence[float | None], second: Sequence[float | None]) -> Significance:
    """Kendall's tau-b, two-sided, exact for few pairs without ties. Arguments, result and errors as of `pearson`."""
    return _correlated(first, second, "Kendall's tau-b", "kendalltau")


def _correlated(
    first: Sequence[float | None], second: Sequence[float | None], name: str, function: str
) -> Significance:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} scores are not of the same cases")
    pairs = [(x, y) for x, y in zip(first, second, strict=True) if x is not None and y is not None]
    if not all(isfinite(score) for pair in pairs for score in pair):
        raise ValueError("scores that are not finite do not correlate; an unknown one is None")
    method = f"{name}, two-sided"
    n = len(pairs)
    if n < 3:
        return Significance(None, None, method, n, f"{n} pairs are fewer than three")
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    for which, scores in (("first", xs), ("second", ys)):
        if _constant(scores):
            return Significance(None, None, method, n, f"no variation: the {which} score is always {scores[0]:g}")
    try:
        from scipy import stats
    except ImportError as error:
        raise MissingExtra("scipy", "stats") from error
    found = getattr(stats, function)(xs, ys)
    return Significance(float(found.pvalue), float(found.statistic), method, n)


def _constant(scores: Sequence[float]) -> bool:
    # What differs by rounding alone does not vary; scipy would warn, and its figure be noise.
    return max(scores) - min(scores) <= 1e-12 * max(map(abs, scores))
