"""Published percentages against the counts they must come from: k of n tasks, in one run or the mean of several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from repoassay.benchmarks.gittaskbench.papers.rows import RunFigures, SweepFigures
from repoassay.stats import consistent

__all__ = ["RateCheck", "check_rates", "rates_of_runs", "rates_of_sweep"]


@dataclass(frozen=True, slots=True)
class RateCheck:
    """A printed percentage and the fraction nearest to it: `k` of `of`.

    `of` is the number of tasks where a single run gives the percentage, else the smallest multiple of it that does,
    else (a misprint) the one that comes nearest. `holds` says whether the fraction prints as the percentage, `printed`
    what it prints as with as many digits.
    """

    title: str
    percent: Decimal
    k: int
    of: int
    holds: bool
    printed: Decimal


def check_rates(rates: Iterable[tuple[str, Decimal]], n: int, runs: int = 2) -> tuple[RateCheck, ...]:
    """Find for each percentage the count it comes from.

    Args:
        rates: What each percentage is of, and the percentage with its printed digits.
        n: Tasks.
        runs: The most runs that may have been averaged: fractions of n, 2n, ... runs x n are tried.

    Raises:
        ValueError: When `n` or `runs` is below 1.
    """
    if n < 1 or runs < 1:
        raise ValueError(f"{runs} runs of {n} tasks are impossible")
    return tuple(_nearest(title, percent, [n * count for count in range(1, runs + 1)]) for title, percent in rates)


def rates_of_runs(rows: Iterable[RunFigures]) -> list[tuple[str, Decimal]]:
    """Both rates of every row of Table 3, with their names."""
    return [(f"{row.title}, {name}", rate) for row in rows for name, rate in (("ECR", row.ecr), ("TPR", row.tpr))]


def rates_of_sweep(rows: Iterable[SweepFigures]) -> list[tuple[str, Decimal]]:
    """Both rates of every row of Table 7, with their names."""
    return [(f"{row.title}, {name}", rate) for row in rows for name, rate in (("ECR", row.ecr), ("TPR", row.tpr))]


def _nearest(title: str, percent: Decimal, denominators: Sequence[int]) -> RateCheck:
    tried = [consistent(str(percent), n) for n in denominators]
    # min keeps the first of equals, which is the smallest denominator.
    found = min(tried, key=lambda one: (not one.consistent, abs(Decimal(100 * one.nearest) / one.n - percent)))
    return RateCheck(title, percent, found.nearest, found.n, found.consistent, Decimal(found.nearest_prints))
