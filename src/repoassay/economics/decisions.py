"""Figures to decide with: cost per solved task, value per dollar, the price at which alpha is 0.

Each is a ratio of sums over the same attempts, so attempts without the figures it needs are left out of both sums and
named. Nothing is divided by nothing: a ratio that does not exist is None and `note` says why.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from repoassay.economics.net_benefit import AlphaRow, ExcludedRow, Success, worth

__all__ = ["BreakEven", "PerDollar", "PerSolved", "break_even", "cost_per_solved", "value_per_dollar"]

_ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class PerSolved:
    """US dollars spent on all attempts for each one that passed.

    `dollars` is None without a passed attempt or where a cost or a verdict is unknown; `at_least` then bounds it where
    it can: known cost over the attempts that passed or might have.
    """

    dollars: Decimal | None
    at_least: Decimal | None
    cost: Decimal
    solved: int
    n: int
    left_out: tuple[ExcludedRow, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class PerDollar:
    """Dollars of value (T x MV x Q) for each dollar spent, over `counted` of `n` attempts; more than 1 is a gain."""

    ratio: Decimal | None
    value: Decimal
    cost: Decimal
    counted: int
    n: int
    left_out: tuple[ExcludedRow, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The price at which alpha is 0.

    `per_attempt` is the cost in US dollars an attempt may have on average; `factor` is how many times today's cost
    that is: below 1 the price must fall to that share, above 1 it could rise so far. None without cost.
    """

    per_attempt: Decimal | None
    factor: Decimal | None
    counted: int
    n: int
    left_out: tuple[ExcludedRow, ...] = ()
    note: str = ""


def cost_per_solved(rows: Iterable[AlphaRow]) -> PerSolved:
    """Cost of all attempts over the number that passed; failed attempts are paid for too."""
    attempts = list(rows)
    cost = sum((row.cost for row in attempts if row.cost is not None), _ZERO)
    solved = sum(row.passed is True for row in attempts)
    possible = sum(row.passed is not False for row in attempts)
    left_out = tuple(
        ExcludedRow(row.task, "cost unknown" if row.cost is None else "not known whether passed")
        for row in attempts
        if row.cost is None or row.passed is None
    )
    at_least = cost / possible if possible else None
    if left_out:
        return PerSolved(None, at_least, cost, solved, len(attempts), left_out, "some costs or verdicts are unknown")
    if not solved:
        return PerSolved(None, None, cost, 0, len(attempts), note="nothing was solved")
    return PerSolved(cost / solved, at_least, cost, solved, len(attempts))


def value_per_dollar(rows: Iterable[AlphaRow], success: Success = Success.EXECUTED) -> PerDollar:
    """Sum of T x MV x Q over sum of C."""
    value, cost, counted, n, left_out = _sums(rows, success)
    note = "no attempt has every figure" if not counted else "" if cost else "it cost nothing"
    return PerDollar(value / cost if cost else None, value, cost, counted, n, left_out, note)


def break_even(rows: Iterable[AlphaRow], success: Success = Success.EXECUTED) -> BreakEven:
    """Mean cost per attempt, and factor on today's cost, at which alpha over the same attempts is 0."""
    value, cost, counted, n, left_out = _sums(rows, success)
    note = "no attempt has every figure" if not counted else "" if cost else "it cost nothing, so no factor changes it"
    per_attempt = value / counted if counted else None
    return BreakEven(per_attempt, value / cost if cost else None, counted, n, left_out, note)


def _sums(rows: Iterable[AlphaRow], success: Success) -> tuple[Decimal, Decimal, int, int, tuple[ExcludedRow, ...]]:
    value = cost = _ZERO
    counted = n = 0
    left_out: list[ExcludedRow] = []
    for row in rows:
        n += 1
        found = worth(row, success)
        if found.benefit is None or row.cost is None:
            left_out.append(ExcludedRow(row.task, ", ".join(found.missing)))
            continue
        counted += 1
        value += found.benefit
        cost += row.cost
    return value, cost, counted, n, tuple(left_out)
