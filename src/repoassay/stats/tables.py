"""Fisher's exact test of a 2 x 2 table: two systems on different tasks, or one axis among two groups."""

from __future__ import annotations

from repoassay.errors import MissingExtra
from repoassay.stats.figure import Significance

__all__ = ["fisher"]


def fisher(first: tuple[int, int], second: tuple[int, int]) -> Significance:
    """Fisher's exact test, two-sided (R. A. Fisher, "Statistical Methods for Research Workers", 5th ed. (1934), 21.02).

    For the same tasks use `mcnemar`, which knows that they are the same. The two-sided p-value sums the tables that
    are no likelier than the observed one; `statistic` is the difference of the two shares.

    Args:
        first: Successes and observations of the first group.
        second: The same of the second.

    Raises:
        ValueError: When the counts are impossible.
        MissingExtra: Without scipy.
    """
    for successes, n in (first, second):
        if not 0 <= successes <= n:
            raise ValueError(f"{successes} successes of {n} are impossible")
    (a, m), (b, n) = first, second
    method = f"Fisher exact, two-sided, {a}/{m} against {b}/{n}"
    if not m or not n:
        return Significance(None, None, method, m + n, "one of the groups is empty")
    try:
        from scipy.stats import fisher_exact
    except ImportError as error:
        raise MissingExtra("scipy", "stats") from error
    p_value = float(fisher_exact([[a, m - a], [b, n - b]]).pvalue)
    return Significance(min(1.0, p_value), a / m - b / n, method, m + n)
