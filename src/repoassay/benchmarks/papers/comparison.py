"""Published figures beside those of these runs, one table for each published table."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from repoassay.benchmarks.papers import (
    AlphaFigures,
    ErrorShare,
    Header,
    PassRate,
    RunFigures,
    SizeFigure,
    SweepFigures,
    read,
)
from repoassay.report import Cell, ColumnUnit, Estimate, OfferedTables, Table, TableColumn
from repoassay.stats import Proportion

__all__ = ["GITTASKBENCH", "RESQ"]

_HERE = "these runs"
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
    for figure in read("gittaskbench-table-05", SizeFigure).row:
        sizes.setdefault(figure.measure, {}).setdefault(figure.repository, float(figure.value))
    return sizes


def _named(header: Header) -> str:
    return f"{header.paper} {header.name}"


def _notes(*headers: Header) -> tuple[str, ...]:
    return tuple(
        f"{_named(header)}: {header.reference}, read from {header.read_from}. {header.note}".strip()
        for header in headers
    )


def _share(percent: Decimal) -> float:
    return float(percent / 100)


def _value(cell: Cell) -> Cell:
    return cell.value if isinstance(cell, Proportion | Estimate) else cell


def _cells(table: Table, index: int, *keys: str) -> tuple[Cell, ...]:
    """Cells of one row by key; None where the table left the column out as empty."""
    present = {column.key: number for number, column in enumerate(table.columns)}
    return tuple(_value(table.rows[index][present[key]]) if key in present else None for key in keys)


def _frameworks(made: Table) -> Table:
    keys = ("framework", "model", "ecr_all", "tpr_all", "tokens_in", "tokens_out", "dollars")
    rows: list[tuple[Cell, ...]] = [(_HERE, *_cells(made, index, *keys)) for index in range(len(made.rows))]
    tables = [read(name, RunFigures) for name in ("gittaskbench-table-03", "gittaskbench-leaderboard")]
    for table in tables:
        rows += [
            (
                _named(table.table), row.framework, row.model + row.marks, _share(row.ecr), _share(row.tpr),
                float(row.input_thousands * 1000), float(row.output), row.cost,
            )
            for row in table.row
        ]  # fmt: skip
    return Table(
        "published_frameworks", "Beside the published frameworks and models", "GitTaskBench Table 3",
        (TableColumn("source", "Source"), TableColumn("framework", "Framework"), TableColumn("model", "Model"), *_RATES),
        tuple(rows), ("Rates of these runs are over all planned attempts.", *_notes(*(one.table for one in tables))),
    )  # fmt: skip


def _sweeps(made: Table) -> Table:
    keys = ("framework", "model", "limit", "value", "ecr", "tpr", "tokens_in", "tokens_out", "dollars")
    rows: list[tuple[Cell, ...]] = [(_HERE, *_cells(made, index, *keys)) for index in range(len(made.rows))]
    table = read("gittaskbench-table-07", SweepFigures)
    for row in table.row:
        iterations = f", max_iterations={row.iterations}" if row.iterations else ""
        thousands = row.input_thousands
        rows.append(
            (
                _named(table.table), "OpenHands", "GPT-4o", "timeout", f"{row.seconds}{iterations}", _share(row.ecr),
                _share(row.tpr), None if thousands is None else float(thousands * 1000),
                None if row.output is None else float(row.output), row.computed_cost,
            )
        )  # fmt: skip
    return Table(
        "published_sweeps", "Beside the published sweeps", "GitTaskBench Table 7",
        (TableColumn("source", "Source"), TableColumn("framework", "Framework"), TableColumn("model", "Model"),
         TableColumn("limit", "Limit"), TableColumn("value", "Value"), *_RATES),
        tuple(rows), _notes(table.table),
    )  # fmt: skip


def _alpha(made: Table) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (_HERE, *_cells(made, index, "repository", "agent", "n", "alpha", "strict")) for index in range(len(made.rows))
    ]
    table = read("gittaskbench-table-10", AlphaFigures)
    rows += [
        (_named(table.table), row.repository, f"OpenHands, {model}", row.n, alpha, None)
        for row in table.row
        for model, alpha in row.alpha.items()
    ]
    return Table(
        "published_alpha", "Beside the published alpha by repository", "GitTaskBench Table 10",
        (TableColumn("source", "Source"), TableColumn("repository", "Repository"), TableColumn("agent", "Agent"),
         TableColumn("n", "n", ColumnUnit.COUNT), TableColumn("alpha", "Alpha", ColumnUnit.DOLLARS, 3),
         TableColumn("strict", "Strict alpha", ColumnUnit.DOLLARS, 3)),
        tuple(rows), ("n counts attempts here and tasks in the paper.", *_notes(table.table)),
    )  # fmt: skip


def _errors(made: Table) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (_HERE, *_cells(made, index, "agent", "class", "primary")) for index in range(len(made.rows))
    ]
    table = read("gittaskbench-figure-07", ErrorShare)
    rows += [(_named(table.table), "", row.class_, _share(row.percent)) for row in table.row]
    return Table(
        "published_errors", "Beside the published shares of error classes", "GitTaskBench Figure 7",
        (TableColumn("source", "Source"), TableColumn("agent", "Agent"), TableColumn("class", "Class"),
         TableColumn("share", "Share of failures", ColumnUnit.SHARE, 2)),
        tuple(rows), _notes(table.table),
    )  # fmt: skip


def _resq(tables: Mapping[str, Table]) -> list[Table]:
    made = tables["pass_at_1"]
    rows: list[tuple[Cell, ...]] = [
        (_HERE, *_cells(made, index, "framework", "model", "pass_at_1")) for index in range(len(made.rows))
    ]
    table = read("resq-table-02", PassRate)
    rows += [(_named(table.table), "QurrentOS coder", row.model, _share(row.pass_at_1)) for row in table.row]
    return [Table(
        "published_pass_at_1", "Beside the published pass@1", "RES-Q Table 2",
        (TableColumn("source", "Source"), TableColumn("framework", "Framework"), TableColumn("model", "Model"),
         TableColumn("pass_at_1", "pass@1", ColumnUnit.SHARE, 1)),
        tuple(rows), _notes(table.table),
    )]  # fmt: skip


GITTASKBENCH = OfferedTables("gittaskbench", _gittaskbench, _sizes)
RESQ = OfferedTables("resq", _resq)
