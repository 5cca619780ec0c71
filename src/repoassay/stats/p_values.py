"""p-values: as text, and corrected where many systems compared at once find differences by chance."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["SMALLEST_P", "holm", "p_text"]

SMALLEST_P = 0.0001
"""p-values below are printed as being below."""


def p_text(value: float, digits: int = 4) -> str:
    """`p = 0.0312`, or `p < 0.0001`; `digits` are significant ones, and trailing zeros are dropped.

    None is printed as 0: that would claim certainty, and no test has it.
    """
    return f"p < {SMALLEST_P:.4f}" if value < SMALLEST_P else f"p = {value:.{digits}g}"


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjusted p-values in the order given: each is significant at a level where it is below that level.

    A p-value that is undefined (None) stays so and is not one of the tests. Holm's correction needs no independence,
    and rejects whatever Bonferroni's does, and more: S. Holm, "A simple sequentially rejective multiple test
    procedure", Scandinavian Journal of Statistics 6 (1979), 65-70.

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
