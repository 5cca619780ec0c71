"""What Table 10 of GitTaskBench adds up to, and whether its figures are possible with the values of Table 9."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from repoassay.benchmarks.gittaskbench.papers.rows import AlphaFigures, Subdomain, SubdomainValue
from repoassay.economics import Ceiling, ParetoCurve, ceiling, pareto

__all__ = ["ModelAggregate", "aggregate", "broken_ceilings", "task_values"]


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
