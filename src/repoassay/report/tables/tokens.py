"""Tokens of each task at its median (after RES-Q, Figure 5)."""

from __future__ import annotations

from collections.abc import Sequence

from repoassay.report.results import ResultRow
from repoassay.report.tables.groups import by, median, named_runs
from repoassay.report.tables.value import Column, Table, Unit

__all__ = ["tokens"]


def tokens(rows: Sequence[ResultRow]) -> Table:
    """Median tokens of an attempt for each entry, over all finished attempts and by whether they passed."""
    several = named_runs(rows)
    made = []
    for (run, agent), members in by(rows, lambda row: (row.run.title if several else "", row.agent)).items():
        done = [row for row in members if row.finished and row.tokens is not None]
        per_task = [median(row.tokens for row in group) for group in by(done, lambda row: row.task).values()]
        made.append(
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
            Column("run", "Run"),
            Column("agent", "Agent"),
            Column("n", "Attempts with a model", Unit.COUNT),
            Column("tokens", "Tokens per task", Unit.NUMBER, 0),
            Column("tokens_in", "in", Unit.NUMBER, 0),
            Column("tokens_out", "out", Unit.NUMBER, 0),
            Column("passed", "where passed", Unit.NUMBER, 0),
            Column("not_passed", "where not passed", Unit.NUMBER, 0),
            Column("calls", "Calls", Unit.NUMBER, 1),
        ),
        rows=tuple(made),
        notes=(
            "Tokens per task is the median over tasks of the median over a task's attempts; the other columns are"
            " medians over attempts. Attempts that asked no model are left out. A dash: there is none.",
        ),
    ).without_empty("run")
