"""p-values as text. None is printed as 0: that would claim certainty, and no test has it."""

from __future__ import annotations

__all__ = ["SMALLEST_P", "p_text"]

SMALLEST_P = 0.0001
"""p-values below are printed as being below."""


def p_text(value: float, digits: int = 4) -> str:
    """`p = 0.0312`, or `p < 0.0001`; `digits` are significant ones, and trailing zeros are dropped."""
    return f"p < {SMALLEST_P:.4f}" if value < SMALLEST_P else f"p = {value:.{digits}g}"
