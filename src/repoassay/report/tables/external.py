"""pass@1 beside scores of the same models on other benchmarks (after RES-Q, Table 2 and Figure 4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from repoassay.report.results import ResultRow
from repoassay.report.tables.correlations import COEFFICIENTS, correlation_table
from repoassay.report.tables.groups import group_rows, label_of
from repoassay.report.tables.success import pass_rates
from repoassay.report.tables.value import Cell, ColumnUnit, Table, TableColumn

__all__ = ["Scores", "benchmark_correlations", "external", "score_of"]

Scores = Mapping[str, Mapping[str, float]]
"""Benchmark -> model -> score, in whatever unit the benchmark has."""


def score_of(model: str, scores: Mapping[str, float]) -> float | None:
    """The score of a model: under its whole name (`provider/name`), else under the name alone; case does not matter."""
    plain = {_plain(name): value for name, value in scores.items()}
    for name in (model, model.partition("/")[2]):
        if name and _plain(name) in plain:
            return plain[_plain(name)]
    return None


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().lower())


def external(rows: Sequence[ResultRow], scores: Scores) -> Table:
    """A row for each framework with its model: pass@1, and its model's score on each benchmark."""
    measured = pass_rates(rows)
    first = {label: members[0] for label, members in group_rows(rows, label_of).items()}
    table_rows: list[tuple[Cell, ...]] = []
    for label, estimate in measured.items():
        row = first[label]
        table_rows.append((row.framework, row.model, estimate, *(score_of(row.model, scores[name]) for name in scores)))
    table_rows.sort(key=lambda cells: -(getattr(cells[2], "value", None) or 0.0))
    return Table(
        name="pass_at_1",
        title="pass@1 of each model and scores on other benchmarks" if scores else "pass@1 of each model",
        after="RES-Q Table 2",
        columns=(
            TableColumn("framework", "Framework"),
            TableColumn("model", "Model"),
            TableColumn("pass_at_1", "pass@1", ColumnUnit.ESTIMATE),
            *(TableColumn(f"score_{number}", name, ColumnUnit.NUMBER) for number, name in enumerate(scores, start=1)),
        ),
        rows=tuple(table_rows),
        notes=(
            "pass@1 is the unbiased estimate over tasks with a judged attempt, all runs together; intervals are"
            " over tasks, 95% (Wilson's of one attempt a task).",
            *(["Scores of other benchmarks are as given in the file; a dash: it has none."] if scores else []),
        ),
    ).without_empty("model")


def benchmark_correlations(rows: Sequence[ResultRow], scores: Scores) -> Table:
    """Correlation of pass@1 with the scores of each benchmark, over frameworks with a model that has a score."""
    table = external(rows, scores)
    table_rows: list[tuple[Cell, ...]] = []
    for number, name in enumerate(scores, start=1):
        pairs = [
            (score, value)
            for score, estimate in zip(table.column(f"score_{number}"), table.column("pass_at_1"), strict=True)
            if isinstance(score, float) and (value := getattr(estimate, "value", None)) is not None
        ]
        table_rows.append((name, *correlation_table(pairs)))
    return Table(
        name="benchmark_correlation",
        title="Correlation of pass@1 with other benchmarks",
        after="RES-Q Figure 4",
        columns=(TableColumn("benchmark", "Benchmark"), *COEFFICIENTS),
        rows=tuple(table_rows),
        notes=("Between a model's score and its pass@1 here. p-values are two-sided and not corrected for their"
               " number.",),
    ).without_empty("undefined")  # fmt: skip
