"""Cohen's kappa: two raters, each with a habit of their own.

J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960), 37-46;
weighted: Psychological Bulletin 70 (1968), 213-220.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from repoassay.stats.agreement.ratings import category_order, counts_of, unanimous
from repoassay.stats.agreement.weights import Weights, weights_of
from repoassay.stats.figure import Figure

__all__ = ["cohen_kappa"]


def cohen_kappa(
    first: Sequence[Hashable | None],
    second: Sequence[Hashable | None],
    weights: Weights = "nominal",
    categories: Sequence[Hashable] | None = None,
) -> Figure:
    """Cohen's kappa of two raters over the units that both rated; at most 1, 0 is chance.

    Args:
        first: What the first rater said of each unit, None where nothing.
        second: What the second said of the same units.
        weights: "nominal", or credit for near misses: "linear", "quadratic" or "ordinal".
        categories: Every possible label, in order where weights need one; those seen when not given.

    Returns:
        The coefficient; `n` counts units rated by both. Undefined where both raters always chose the same one label:
        then chance agreement is complete and the formula 0/0.

    Raises:
        ValueError: When the raters have different numbers of units, a label is not a category, or is NaN.
    """
    if len(first) != len(second):
        raise ValueError(f"the raters have {len(first)} and {len(second)} units; a missing rating is None")
    pairs = [(one, other) for one, other in zip(first, second, strict=True) if one is not None and other is not None]
    method = "Cohen's kappa" if weights == "nominal" else f"Cohen's kappa, {weights} weights"
    order = category_order(counts_of(pairs), categories, ordered=weights != "nominal")
    n = len(pairs)
    if not pairs:
        return Figure(None, method, 0, "no unit was rated by both")
    weight = weights_of(order, weights)
    place = {label: i for i, label in enumerate(order)}
    rows, columns = [0] * len(order), [0] * len(order)
    observed = 0.0
    for one, other in pairs:
        rows[place[one]] += 1
        columns[place[other]] += 1
        observed += weight[place[one]][place[other]]
    chance = sum(w * r * c for row, r in zip(weight, rows, strict=True) for w, c in zip(row, columns, strict=True))
    if max(rows) == n and max(columns) == n and rows == columns:
        return Figure(None, method, n, unanimous(pairs[0][0]))
    return Figure((observed / n - chance / n**2) / (1 - chance / n**2), method, n)
