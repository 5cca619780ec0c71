"""Cells of tables as text, and as flat columns for programs."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from repoassay.report.figures import figure, seconds
from repoassay.report.tables.value import Cell, ColumnUnit, Estimate, Table, TableColumn
from repoassay.stats import Proportion

__all__ = ["flat_columns", "flat_rows", "shown_cell", "shown_rows"]

_DASH = "-"
_PARTS = ("successes", "n", "percent", "low", "high")
_ESTIMATE_PARTS = ("percent", "low", "high", "n")


def shown_cell(cell: Cell, column: TableColumn) -> str:
    """A cell for reading, with its unit; a dash where it is None."""
    if cell is None:
        return _DASH
    if isinstance(cell, Proportion):
        return figure(cell)
    if isinstance(cell, Estimate):
        return _estimate(cell)
    return str(cell) if isinstance(cell, str) else _number(cell, column)


def shown_rows(table: Table) -> list[list[str]]:
    """Every cell for reading; the best and the second best of a column that ranks say so."""
    rows = [[shown_cell(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]
    for place, column in enumerate(table.columns):
        figures = [_figure(row[place]) for row in table.rows] if column.better else []
        ranked = sorted({value for value in figures if value is not None}, reverse=column.better == "higher")
        for row, value in zip(rows, figures, strict=False):
            if len(ranked) > 1 and value in ranked[:2]:
                row[place] += " (best)" if value == ranked[0] else " (2nd)"
    return rows


def _figure(cell: Cell) -> float | None:
    value = cell.value if isinstance(cell, Proportion | Estimate) else cell
    return None if value is None or isinstance(value, str) else float(value)


def _estimate(cell: Estimate) -> str:
    if cell.value is None:
        return _DASH
    ends = "" if cell.low is None or cell.high is None else f" [{100 * cell.low:.1f}, {100 * cell.high:.1f}]"
    return f"{100 * cell.value:.1f}%{ends}"


def _number(value: int | float | Decimal, column: TableColumn) -> str:
    match column.unit:
        case ColumnUnit.COUNT:
            return f"{int(value):,}"
        case ColumnUnit.SHARE:
            return f"{100 * float(value):.{1 if column.digits is None else column.digits}f}%"
        case ColumnUnit.SECONDS:
            return seconds(float(value))
        case ColumnUnit.DOLLARS:
            digits = 2 if column.digits is None else column.digits
            return f"{'-' if value < 0 else ''}${abs(value):,.{digits}f}"
        case ColumnUnit.P_VALUE:
            return "<0.0001" if value < 0.0001 else f"{float(value):.4f}"
        case _:
            return f"{float(value):,.6g}" if column.digits is None else f"{float(value):,.{column.digits}f}"


def flat_columns(table: Table) -> Iterator[str]:
    """Column names with rates and estimates taken apart: `tpr_successes`, `tpr_n`, `tpr_percent`, `tpr_low` ..."""
    for column in table.columns:
        if column.unit is ColumnUnit.RATE:
            yield from (f"{column.key}_{part}" for part in _PARTS)
        elif column.unit is ColumnUnit.ESTIMATE:
            yield from (f"{column.key}_{part}" for part in _ESTIMATE_PARTS)
        else:
            yield column.key


def flat_rows(table: Table) -> Iterator[list[str | int | float | Decimal | None]]:
    """The cells under `flat_columns`, in full precision: percentages from 0 to 100, shares from 0 to 1."""
    for row in table.rows:
        flat: list[str | int | float | Decimal | None] = []
        for cell, column in zip(row, table.columns, strict=True):
            if column.unit is ColumnUnit.RATE:
                flat += _proportion_parts(cell) if isinstance(cell, Proportion) else [None] * len(_PARTS)
            elif column.unit is ColumnUnit.ESTIMATE:
                flat += _estimate_parts(cell) if isinstance(cell, Estimate) else [None] * len(_ESTIMATE_PARTS)
            else:
                assert not isinstance(cell, Proportion | Estimate)
                flat.append(cell)
        yield flat


def _proportion_parts(cell: Proportion) -> list[str | int | float | Decimal | None]:
    ends = cell.interval
    return [cell.successes, cell.n, _hundred(cell.value), _hundred(ends.low), _hundred(ends.high)]


def _estimate_parts(cell: Estimate) -> list[str | int | float | Decimal | None]:
    return [_hundred(cell.value), _hundred(cell.low), _hundred(cell.high), cell.n]


def _hundred(value: float | None) -> float | None:
    return None if value is None else 100 * value
