"""Market value: the mean of a group, the ceiling it puts on alpha, and alpha from averages.

A task's value, its range and its source are `repoassay.types.Economics`. Alpha is at most the mean market value,
because T and Q are at most 1 and costs are not negative; a published alpha above it was made with other values than
those it is read with (GitTaskBench, Tables 9 and 10: PyPDF2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Ceiling", "alpha_from_rates", "ceiling", "mean_value"]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """An alpha beside the mean market value of its tasks, both in US dollars; `n` is the number of tasks.

    `headroom` is mean value minus alpha. Where alpha is right it is the mean of cost and of value not earned.
    """

    alpha: Decimal
    mean_value: Decimal
    n: int

    @property
    def headroom(self) -> Decimal:
        """Dollars per task between alpha and its ceiling; negative where the ceiling is broken."""
        return self.mean_value - self.alpha

    @property
    def holds(self) -> bool:
        """Whether alpha is at most the mean value."""
        return self.headroom >= 0


def mean_value(values: Iterable[Decimal]) -> Decimal:
    """Mean market value in US dollars.

    Raises:
        ValueError: Without values.
    """
    known = list(values)
    if not known:
        raise ValueError("a mean value needs at least one task")
    return sum(known, Decimal(0)) / len(known)


def ceiling(alpha: Decimal, values: Iterable[Decimal]) -> Ceiling:
    """Compare an alpha with the mean of its tasks' market values, one value for each task.

    Raises:
        ValueError: Without values.
    """
    known = list(values)
    return Ceiling(alpha, mean_value(known), len(known))


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
