"""Tokens of each task at its median (after RES-Q, Figure 5)."""

from __future__ import annotations

from collections.abc import Sequence

from repoassay.report.results import ResultRow
from repoassay.report.tables.groups import group_rows, median, named_runs
from repoassay.report.tables.value import ColumnUnit, Table, TableColumn

__all__ = ["tokens"]


def tokens(rows: Sequence[ResultRow]) -> Table:
    """Median tokens of an attempt for each entry, over all finished attempts and by whether they passed."""
    several = named_runs(rows)
    table_rows = []
    for (run, agent), members in group_rows(rows, lambda row: (row.run.title if several else "", row.agent)).items():
        done = [row for row in members if row.finished and row.tokens is not None]
        per_task = [median(row.tokens for row in group) for group in group_rows(done, lambda row: row.task).values()]
        table_rows.append(
            (
                run,
                agent,
                len(done),
                median(per_task),
                median(row.tokens_in for row in done),
                median(row.tokens_out for row in done),
                median(row.tokens for row in done if row.result is True),
                median(row.tokens for row in done if row.result is False),
                median(row.calls for row in done),
            )
        )
    return Table(
        name="tokens",
        title="Median tokens per task",
        after="RES-Q Figure 5",
        columns=(
            TableColumn("run", "Run"),
            TableColumn("agent", "Agent"),
            TableColumn("n", "Attempts with a model", ColumnUnit.COUNT),
            TableColumn("tokens", "Tokens per task", ColumnUnit.NUMBER, 0),
            TableColumn("tokens_in", "in", ColumnUnit.NUMBER, 0),
            TableColumn("tokens_out", "out", ColumnUnit.NUMBER, 0),
            TableColumn("passed", "where passed", ColumnUnit.NUMBER, 0),
            TableColumn("not_passed", "where not passed", ColumnUnit.NUMBER, 0),
            TableColumn("calls", "Calls", ColumnUnit.NUMBER, 1),
        ),
        rows=tuple(table_rows),
        notes=(
            "Tokens per task is the median over tasks of the median over a task's attempts; the other columns are"
            " medians over attempts. Attempts that asked no model are left out. A dash: there is none.",
        ),
    ).without_empty("run")
