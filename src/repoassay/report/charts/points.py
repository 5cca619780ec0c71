"""Cells and rows of tables as points, names and notes of plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from repoassay.report.cells import shown_cell
from repoassay.report.charts.value import Point, Series
from repoassay.report.tables.value import Cell, Estimate, Table, TableColumn
from repoassay.stats import Proportion
from repoassay.text import one_line

__all__ = [
    "MOST_CATEGORIES", "MOST_POINTS", "MOST_SERIES", "axis_value", "bounded_series", "cell_text", "column_index",
    "left_out_note", "row_label",
]  # fmt: skip

MOST_CATEGORIES = 40
MOST_SERIES = 16
MOST_POINTS = 400


def axis_value(cell: Cell) -> tuple[float, float | None, float | None] | None:
    """What a cell puts on an axis: shares in percent, with the ends of their interval."""
    if isinstance(cell, Proportion):
        ends = cell.interval
        return None if cell.value is None else (100 * cell.value, *_percent(ends.low, ends.high))
    if isinstance(cell, Estimate):
        return None if cell.value is None else (100 * cell.value, *_percent(cell.low, cell.high))
    return (float(cell), None, None) if isinstance(cell, int | float | Decimal) else None


def _percent(low: float | None, high: float | None) -> tuple[float | None, float | None]:
    return (None, None) if low is None or high is None else (100 * low, 100 * high)


def column_index(table: Table, *keys: str) -> dict[str, int]:
    """The place of each column, or of those of the given keys, in a row."""
    return {column.key: number for number, column in enumerate(table.columns) if not keys or column.key in keys}


def row_label(table: Table, row: Sequence[Cell], keys: Sequence[str]) -> str:
    """The name of a row: its cells of these columns, without empty ones."""
    index = column_index(table)
    parts = [str(row[index[key]]) for key in keys if key in index and row[index[key]]]
    return one_line(", ".join(parts), 200)


def _column(table: Table, key: str) -> TableColumn:
    return next(column for column in table.columns if column.key == key)


def cell_text(table: Table, key: str, cell: Cell) -> str:
    """A cell as the table shows it."""
    return shown_cell(cell, _column(table, key))


def left_out_note(left_out: int, what: str, table: Table) -> str:
    """A sentence that says where the rest is; empty where nothing is left out."""
    return f"{left_out} more {what} are left out here; the table “{table.title}” has them." if left_out > 0 else ""


def bounded_series(lines: dict[str, list[Point]], order: Mapping[str, int] | None = None) -> tuple[Series, ...]:
    """Series of the first lines, each with its first points; `order` gives the look of those it names."""
    kept = list(lines.items())[:MOST_SERIES]
    return tuple(Series(name, tuple(points[:MOST_POINTS]), (order or {}).get(name)) for name, points in kept)
