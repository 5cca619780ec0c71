"""How much a near miss counts: agreement weights between categories, 1 for the same, down to 0.

Ordinal weights are those of K. L. Gwet, "Handbook of Inter-Rater Reliability", 4th ed. (2014): one minus
the pairs among the categories from one to the other, over the pairs among all. Linear and quadratic weights are of the
distance between numbers where the categories are numbers, else between their places.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import comb
from typing import Literal

__all__ = ["Weights", "weights_of"]

Weights = Literal["nominal", "ordinal", "linear", "quadratic"]


def weights_of(order: Sequence[Hashable], kind: Weights) -> list[list[float]]:
    """The square matrix of weights of the categories in their order.

    Raises:
        ValueError: When there are no such weights.
    """
    size = len(order)
    if kind == "nominal" or size < 2:
        return [[float(i == j) for j in range(size)] for i in range(size)]
    if kind == "ordinal":
        return [[1 - comb(abs(i - j) + 1, 2) / comb(size, 2) for j in range(size)] for i in range(size)]
    if kind not in ("linear", "quadratic"):
        raise ValueError(f"there are no weights called {kind!r}")
    at = [float(label) for label in order if isinstance(label, int | float)]
    at = at if len(at) == size else [float(i) for i in range(size)]
    power = 1 if kind == "linear" else 2
    widest = max(at) - min(at)
    return [[1 - (abs(x - y) / widest) ** power for y in at] for x in at]
