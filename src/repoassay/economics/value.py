"""Market value: the mean of a group, and the ceiling it puts on alpha.

A task's value, its range and its source are `repoassay.types.Economics`. Alpha is at most the mean market value,
because T and Q are at most 1 and costs are not negative; a published alpha above it was made with other values than
those it is read with (GitTaskBench, Tables 9 and 10: PyPDF2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Ceiling", "ceiling", "mean_value"]


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
