"""Holm's correction: many systems compared at once find differences by chance.

S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979), 65-70.
It needs no independence, and rejects whatever Bonferroni's does, and more.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["holm"]


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjusted p-values in the order given: each is significant at a level where it is below that level.

    A p-value that is undefined (None) stays so and is not one of the tests.

    Raises:
        ValueError: When a p-value is not between 0 and 1.
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    if not all(0 <= p <= 1 for p, _ in known):
        raise ValueError(f"p-values lie between 0 and 1: {list(p_values)}")
    adjusted: list[float | None] = [None] * len(p_values)
    floor = 0.0
    for rank, (p, place) in enumerate(known):
        floor = max(floor, min(1.0, (len(known) - rank) * p))
        adjusted[place] = floor
    return tuple(adjusted)
