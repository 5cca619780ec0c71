"""Published figures of GitTaskBench beside those of these runs, one table for each published table."""

from __future__ import annotations

from collections.abc import Mapping

from repoassay.benchmarks.gittaskbench.papers.rows import AlphaFigures, ErrorShare, RunFigures, SweepFigures
from repoassay.benchmarks.gittaskbench.papers.tables import PAPER
from repoassay.report import (
    THESE_RUNS,
    Cell,
    ColumnUnit,
    OfferedTables,
    SizeFigure,
    Table,
    TableColumn,
    cells_by_key,
    share_of,
)

__all__ = ["GITTASKBENCH"]

_RATES = (
    TableColumn("ecr", "ECR", ColumnUnit.SHARE, 2),
    TableColumn("tpr", "TPR", ColumnUnit.SHARE, 2),
    TableColumn("tokens_in", "Tokens in", ColumnUnit.NUMBER, 0),
    TableColumn("tokens_out", "Tokens out", ColumnUnit.NUMBER, 0),
    TableColumn("dollars", "Cost", ColumnUnit.DOLLARS, 4),
)


def _gittaskbench(tables: Mapping[str, Table]) -> list[Table]:
    """Published tables of GitTaskBench, each after the rows of the table of these runs that is like it."""
    return [
        _frameworks(tables["frameworks"]),
        _sweeps(tables["sweeps"]),
        _alpha(tables["alpha_by_repository"]),
        _errors(tables["errors"]),
    ]


def _sizes() -> dict[str, dict[str, float]]:
    """Sizes of GitTaskBench's repositories, by measure."""
    sizes: dict[str, dict[str, float]] = {}
    for figure in PAPER.read("gittaskbench-table-05", SizeFigure).row:
        sizes.setdefault(figure.measure, {}).setdefault(figure.repository, float(figure.value))
    return sizes


def _frameworks(made: Table) -> Table:
    keys = ("framework", "model", "ecr_all", "tpr_all", "tokens_in", "tokens_out", "dollars")
    rows: list[tuple[Cell, ...]] = [(THESE_RUNS, *cells_by_key(made, index, *keys)) for index in range(len(made.rows))]
    tables = [PAPER.read(name, RunFigures) for name in ("gittaskbench-table-03", "gittaskbench-leaderboard")]
    for table in tables:
        rows += [
            (
                table.table.cited, row.framework, row.model + row.marks, share_of(row.ecr), share_of(row.tpr),
                float(row.input_thousands * 1000), float(row.output), row.cost,
            )
            for row in table.row
        ]  # fmt: skip
    return Table(
        "published_frameworks",
        "Beside the published frameworks and models",
        "GitTaskBench Table 3",
        (
            TableColumn("source", "Source"),
            TableColumn("framework", "Framework"),
            TableColumn("model", "Model"),
            *_RATES,
        ),
        tuple(rows),
        ("Rates of these runs are over all planned attempts.", *(one.table.origin for one in tables)),
    )


def _sweeps(made: Table) -> Table:
    keys = ("framework", "model", "limit", "value", "ecr", "tpr", "tokens_in", "tokens_out", "dollars")
    rows: list[tuple[Cell, ...]] = [(THESE_RUNS, *cells_by_key(made, index, *keys)) for index in range(len(made.rows))]
    table = PAPER.read("gittaskbench-table-07", SweepFigures)
    for row in table.row:
        iterations = f", max_iterations={row.iterations}" if row.iterations else ""
        thousands = row.input_thousands
        rows.append(
            (
                table.table.cited, "OpenHands", "GPT-4o", "timeout", f"{row.seconds}{iterations}", share_of(row.ecr),
                share_of(row.tpr), None if thousands is None else float(thousands * 1000),
                None if row.output is None else float(row.output), row.computed_cost,
            )
        )  # fmt: skip
    return Table(
        "published_sweeps", "Beside the published sweeps", "GitTaskBench Table 7",
        (TableColumn("source", "Source"), TableColumn("framework", "Framework"), TableColumn("model", "Model"),
         TableColumn("limit", "Limit"), TableColumn("value", "Value"), *_RATES),
        tuple(rows), (table.table.origin,),
    )  # fmt: skip


def _alpha(made: Table) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (THESE_RUNS, *cells_by_key(made, index, "repository", "agent", "n", "alpha", "strict"))
        for index in range(len(made.rows))
    ]
    table = PAPER.read("gittaskbench-table-10", AlphaFigures)
    rows += [
        (table.table.cited, row.repository, f"OpenHands, {model}", row.n, alpha, None)
        for row in table.row
        for model, alpha in row.alpha.items()
    ]
    return Table(
        "published_alpha", "Beside the published alpha by repository", "GitTaskBench Table 10",
        (TableColumn("source", "Source"), TableColumn("repository", "Repository"), TableColumn("agent", "Agent"),
         TableColumn("n", "n", ColumnUnit.COUNT), TableColumn("alpha", "Alpha", ColumnUnit.DOLLARS, 3),
         TableColumn("strict", "Strict alpha", ColumnUnit.DOLLARS, 3)),
        tuple(rows), ("n counts attempts here and tasks in the paper.", table.table.origin),
    )  # fmt: skip


def _errors(made: Table) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (THESE_RUNS, *cells_by_key(made, index, "agent", "class", "primary")) for index in range(len(made.rows))
    ]
    table = PAPER.read("gittaskbench-figure-07", ErrorShare)
    rows += [
        (table.table.cited, ", ".join(filter(None, (row.framework, row.model))), row.class_, share_of(row.percent))
        for row in table.row
    ]
    return Table(
        "published_errors", "Beside the published shares of error classes", "GitTaskBench Figure 7",
        (TableColumn("source", "Source"), TableColumn("agent", "Agent"), TableColumn("class", "Class"),
         TableColumn("share", "Share of failures", ColumnUnit.SHARE, 2)),
        tuple(rows), (table.table.origin,),
    )  # fmt: skip


GITTASKBENCH = OfferedTables("gittaskbench", _gittaskbench, _sizes)
