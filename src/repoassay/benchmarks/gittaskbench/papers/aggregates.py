"""Whether published figures are possible: Table 10 with the values of Table 9, and percentages as k of n tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from repoassay.benchmarks.gittaskbench.papers.rows import (
    AlphaFigures,
    RunFigures,
    Subdomain,
    SubdomainValue,
    SweepFigures,
)
from repoassay.economics import Ceiling, ParetoCurve, ceiling, pareto
from repoassay.stats import consistent

__all__ = [
    "ModelAggregate",
    "RateCheck",
    "aggregate",
    "broken_ceilings",
    "check_rates",
    "rates_of_runs",
    "rates_of_sweep",
    "task_values",
]


@dataclass(frozen=True, slots=True)
class ModelAggregate:
    """One model over all repositories, US dollars.

    `total` and `mean` weigh repositories alike, `task_total` and `task_mean` tasks alike (alpha is per task, so a
    repository's share of the task total is its alpha times its tasks). `best_on` counts repositories where no other
    model has more. `curve` is over the repositories' alphas.
    """

    model: str
    repositories: int
    tasks: int
    total: Decimal
    mean: Decimal
    task_total: Decimal
    task_mean: Decimal
    positive: int
    best_on: int
    curve: ParetoCurve


def aggregate(table: Sequence[AlphaFigures]) -> dict[str, ModelAggregate]:
    """Aggregates of every model of a table of alphas by repository.

    Raises:
        ValueError: When the table is empty or its rows have different models.
    """
    models = list(table[0].alpha) if table else []
    if not models or any(set(row.alpha) != set(models) for row in table):
        raise ValueError("a table of alphas needs rows, all with the same models")
    return {model: _one(model, table) for model in models}


def _one(model: str, table: Sequence[AlphaFigures]) -> ModelAggregate:
    tasks = sum(row.n for row in table)
    curve = pareto({row.repository: row.alpha[model] for row in table})
    task_total = sum((row.alpha[model] * row.n for row in table), Decimal(0))
    return ModelAggregate(
        model=model,
        repositories=len(table),
        tasks=tasks,
        total=curve.net,
        mean=curve.net / len(table),
        task_total=task_total,
        task_mean=task_total / tasks,
        positive=curve.positive,
        best_on=sum(row.alpha[model] == max(row.alpha.values()) for row in table),
        curve=curve,
    )


def task_values(subdomains: Sequence[Subdomain], values: Sequence[SubdomainValue]) -> dict[str, Decimal]:
    """Market value of each task in US dollars, which is its subdomain's.

    Raises:
        KeyError: When a subdomain has no value.
    """
    known = {(row.domain, row.subdomain): row.value for row in values}
    return {task: known[row.domain, row.subdomain] for row in subdomains for task in row.tasks}


def broken_ceilings(table: Sequence[AlphaFigures], values: Mapping[str, Decimal]) -> dict[tuple[str, str], Ceiling]:
    """Alphas above the mean value of their repository's tasks, by (repository, model).

    Args:
        table: Alpha by repository.
        values: Value of each task, whose name begins with its repository's and an underscore.
    """
    broken: dict[tuple[str, str], Ceiling] = {}
    for row in table:
        worth = [value for task, value in values.items() if task.rpartition("_")[0] == row.repository]
        for model, figure in row.alpha.items():
            found = ceiling(figure, worth)
            if not found.holds:
                broken[row.repository, model] = found
    return broken


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
