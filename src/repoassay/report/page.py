"""Several runs, or one with very many attempts, as one page with every table and plot.

The page needs nothing but itself; where attempts are too many to lie in it, they lie in scripts beside it and are
loaded when the reader asks for them. Opened from a file or a web server, it sends no request to anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from markupsafe import Markup

from repoassay.report.browse import MOST_INSIDE, PART, escaped_json, kinds, names_of, packed
from repoassay.report.cells import shown_cell
from repoassay.report.charts.drawing import Drawing, draw
from repoassay.report.charts.palette import look
from repoassay.report.charts.value import Chart
from repoassay.report.figuring import Figured
from repoassay.report.rows import ResultRow, RunInfo
from repoassay.report.tables.value import Cell, Column, Estimate, Table
from repoassay.report.templating import environment, policy_hash, source
from repoassay.stats import Proportion

__all__ = ["MOST_SHOWN", "page"]

MOST_SHOWN = 400
"""Rows of one table that are on the page; the files have all of them."""


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class _Grid:
    """A table with its cells as text and as what they are sorted by."""

    table: Table
    rows: list[list[_Cell]]
    left_out: int


@dataclass(frozen=True, slots=True)
class _Plot:
    chart: Chart
    drawing: Drawing


def page(figured: Figured, charts: Sequence[Chart], files: Sequence[str] = ()) -> str:
    """The page as text.

    Args:
        figured: All tables.
        charts: All plots.
        files: Endings of the files that were written beside it for each table, to be linked; empty for none.
    """
    made = environment()
    rows = figured.rows
    inside = len(rows) <= MOST_INSIDE
    style = source(made, "style.css") + source(made, "set.css")
    script = source(made, "set.js")
    data = {
        "names": names_of(rows).document(),
        "count": len(rows),
        "parts": [] if inside else [f"data/attempts-{number:04d}.js" for number in range(-(-len(rows) // PART))],
        "rows": list(packed(rows)) if inside else [],
    }
    return made.get_template("set.html").render(
        runs=_runs(rows),
        grids=[_grid(table) for table in figured.tables.values() if table.rows],
        plots=[_Plot(chart, draw(chart)) for chart in charts],
        count=len(rows),
        finished=sum(row.finished for row in rows),
        inside=inside,
        outcomes=kinds(),
        files=files,
        look=look,
        # Rendered as text of a data block, in which "<", ">" and "&" are escaped.
        data=Markup(escaped_json(data)),  # noqa: S704 - the line above
        style=Markup(style),  # noqa: S704 - a file of ours, nothing filled in
        script=Markup(script),  # noqa: S704 - the same
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
    )


def _runs(rows: Sequence[ResultRow]) -> list[RunInfo]:
    return list({row.run.id: row.run for row in rows}.values())


def _grid(table: Table) -> _Grid:
    rows = [list(_cells(row, table.columns)) for row in table.rows[:MOST_SHOWN]]
    return _Grid(table, rows, len(table.rows) - len(rows))


def _cells(row: Sequence[Cell], columns: Sequence[Column]) -> Iterator[_Cell]:
    for cell, column in zip(row, columns, strict=True):
        yield _Cell(shown_cell(cell, column), _key(cell))


def _key(cell: Cell) -> str:
    """What a number sorts by; empty for text and for what is unknown."""
    value = cell.value if isinstance(cell, Proportion | Estimate) else cell
    return f"{float(value):.9g}" if isinstance(value, int | float | Decimal) else ""
