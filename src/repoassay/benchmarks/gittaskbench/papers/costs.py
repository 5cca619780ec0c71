"""Published costs against tokens x prices: which follow, and which do not (GitTaskBench, Tables 3, 7 and 11)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from repoassay.benchmarks.gittaskbench.papers.rows import ModelPrice, RunFigures, SweepFigures

__all__ = ["CostCheck", "CostStatus", "check_costs", "check_sweep_costs", "cost_of"]

_TOLERANCE = Decimal("0.003")


class CostStatus(StrEnum):
    """Result of recomputing a cost."""

    FOLLOWS = "follows"
    DIFFERS = "differs"
    BETWEEN_TIERS = "between its price tiers"
    NO_COST = "no cost is printed"
    NO_PRICE = "no price is known"
    NO_TOKENS = "no tokens are known"


@dataclass(frozen=True, slots=True)
class CostCheck:
    """One cost, US dollars per task: as printed, and computed at the lowest and at the highest tier.

    `low` and `high` are equal for a model with one price, and None where tokens or prices are not known.
    """

    title: str
    printed: Decimal | None
    low: Decimal | None
    high: Decimal | None
    status: CostStatus

    @property
    def high_share(self) -> Decimal | None:
        """Share of use at the dearer tier that would give the printed cost; None where it is not between two tiers."""
        if self.status is not CostStatus.BETWEEN_TIERS or self.printed is None or self.low is None or self.high is None:
            return None
        return (self.printed - self.low) / (self.high - self.low)


def cost_of(input_thousands: Decimal, output: Decimal, price: ModelPrice) -> Decimal:
    """US dollars for input tokens in thousands and output tokens at one price per million."""
    return (input_thousands * 1000 * price.input + output * price.output) / 1_000_000


def check_costs(runs: Iterable[RunFigures], prices: Sequence[ModelPrice]) -> tuple[CostCheck, ...]:
    """Recompute each row's cost from its tokens.

    A cost follows where the computed one, rounded to the printed digits, is the printed one, or differs from it by
    less than 0.3 percent. Rows are totals over many calls, so which tier a call fell in is not known: a tiered cost
    that lies strictly between its two ends neither follows nor contradicts.
    """
    return tuple(_check(run.title, run.cost, run.input_thousands, run.output, run.model, prices) for run in runs)


def check_sweep_costs(sweep: Iterable[SweepFigures], model: str, prices: Sequence[ModelPrice]) -> tuple[CostCheck, ...]:
    """Recompute the costs of a sweep with one model; rows without tokens cannot be."""
    return tuple(_check(row.title, row.computed_cost, row.input_thousands, row.output, model, prices) for row in sweep)


def _check(
    title: str,
    printed: Decimal | None,
    input_thousands: Decimal | None,
    output: Decimal | None,
    model: str,
    prices: Sequence[ModelPrice],
) -> CostCheck:
    if input_thousands is None or output is None:
        return CostCheck(title, printed, None, None, CostStatus.NO_TOKENS)
    costs = [cost_of(input_thousands, output, price) for price in prices if price.model == model]
    if not costs:
        return CostCheck(title, printed, None, None, CostStatus.NO_COST if printed is None else CostStatus.NO_PRICE)
    low, high = min(costs), max(costs)
    return CostCheck(title, printed, low, high, _status(printed, low, high))


def _status(printed: Decimal | None, low: Decimal, high: Decimal) -> CostStatus:
    if printed is None:
        return CostStatus.NO_COST
    if any(_agrees(printed, computed) for computed in (low, high)):
        return CostStatus.FOLLOWS
    return CostStatus.BETWEEN_TIERS if low < printed < high else CostStatus.DIFFERS


def _agrees(printed: Decimal, computed: Decimal) -> bool:
    return computed.quantize(printed) == printed or abs(computed - printed) < _TOLERANCE * printed
