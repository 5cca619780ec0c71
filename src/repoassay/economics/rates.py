"""Alpha from averages, as the worked cases of the paper have it."""

from __future__ import annotations

from decimal import Decimal

__all__ = ["alpha_from_rates"]


def alpha_from_rates(success: Decimal, value: Decimal, quality: Decimal, cost: Decimal) -> Decimal:
    """Alpha in US dollars per task from averages: success x value x quality - cost.

    The two worked cases of GitTaskBench (arXiv 2508.18993) multiply averages: .95 x 10 x 1 - .5 = 9.00 and
    .85 x 100 x .75 - 2 = 61.75. That equals Equation 1 only where success, value and quality do not go together
    (the mean of a product is not the product of means); over rows use `repoassay.economics.net_benefit`.

    Args:
        success: Share of tasks executed, 0 to 1.
        value: Mean market value, US dollars, not negative.
        quality: Mean quality, 0 to 1.
        cost: Mean cost, US dollars, not negative.

    Raises:
        ValueError: When a figure is out of its range.
    """
    for name, share in (("success", success), ("quality", quality)):
        if not 0 <= share <= 1:
            raise ValueError(f"a {name} of {share} is not between 0 and 1")
    for name, dollars in (("value", value), ("cost", cost)):
        if not (dollars.is_finite() and dollars >= 0):
            raise ValueError(f"a {name} of {dollars} dollars is not a finite figure of at least 0")
    return success * value * quality - cost
