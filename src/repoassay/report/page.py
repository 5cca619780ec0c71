"""One run or a set of runs as one page: its tables and plots, of one run its rates and every attempt with its evidence.

The page needs nothing but itself; where attempts of a set are too many to lie in it, they lie in scripts beside it and
are loaded when the reader asks for them. Opened from a file or a web server, it sends no request to anywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from repoassay.report.browse import MOST_INSIDE, PART, escaped_json, names_of, packed
from repoassay.report.cells import shown_rows
from repoassay.report.charts import palette
from repoassay.report.charts.build import charts
from repoassay.report.charts.drawing import Drawing, draw
from repoassay.report.charts.value import Chart
from repoassay.report.details import RunDetails, run_details
from repoassay.report.outcome_tables import ReportTables, figure_outcomes
from repoassay.report.results import ResultRow, RunInfo
from repoassay.report.summary import Summary
from repoassay.report.tables.value import Cell, Estimate, Table
from repoassay.report.templating import environment, policy_hash, source, write_whole
from repoassay.stats import Proportion

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["MOST_SHOWN", "page", "render", "write_html"]

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


def page(figured: ReportTables, plots: Sequence[Chart], files: Sequence[str] = ()) -> str:
    """The page of a set of runs as text.

    Args:
        figured: All tables.
        plots: All plots.
        files: Endings of the files that were written beside it for each table, to be linked; empty for none.
    """
    rows = figured.rows
    inside = len(rows) <= MOST_INSIDE
    data = {
        "names": names_of(rows).document(),
        "count": len(rows),
        "parts": [] if inside else [f"data/attempts-{number:04d}.js" for number in range(-(-len(rows) // PART))],
        "rows": list(packed(rows)) if inside else [],
    }
    tables = [table for table in figured.tables.values() if table.rows]
    # Rendered as text of a data block, in which "<", ">" and "&" are escaped.
    return _fill(environment(), figured, tables, plots, files, inside, data=Markup(escaped_json(data)))  # noqa: S704


def render(summary: Summary) -> str:
    """The page of one run as text: that of a set of one, with its rates, attempts and their evidence.

    Tables of one row are left out, for the rates of a single agent say the same.
    """
    pages = environment()
    figured = figure_outcomes(summary.results)
    tables = [table for table in figured.tables.values() if len(table.rows) > 1]
    return _fill(pages, figured, tables, charts(figured), (), inside=True, run=run_details(summary, pages))


def write_html(summary: Summary, path: Path | None = None) -> Path:
    """Write the page of one run, whole or not at all, replacing an earlier one.

    Args:
        summary: What to show.
        path: Where to; `report.html` in the run folder when None.

    Returns:
        Where it was written.

    Raises:
        BadInput: When it cannot be written there.
    """
    target = path or summary.path / "report.html"
    write_whole(target, render(summary).encode("utf-8", "backslashreplace"), "--html")
    return target


def _fill(
    pages: Environment, figured: ReportTables, tables: Sequence[Table], plots: Sequence[Chart], files: Sequence[str],
    inside: bool, run: RunDetails | None = None, data: Markup | None = None,
) -> str:  # fmt: skip
    rows = figured.rows
    style, script = source(pages, "style.css") + palette.style(), source(pages, "page.js")
    return pages.get_template("page.html").render(
        run=run,
        runs=_runs(rows) or ([RunInfo.of(run.plan, run.summary.path)] if run else []),
        grids=[_grid(table) for table in tables],
        plots=[_Plot(chart, draw(chart)) for chart in plots],
        count=len(rows),
        finished=sum(row.finished for row in rows),
        inside=inside,
        files=files,
        look=palette.look,
        data=data,
        style=Markup(style),  # noqa: S704 - a file of ours, nothing filled in
        script=Markup(script),  # noqa: S704 - the same
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
    )


def _runs(rows: Sequence[ResultRow]) -> list[RunInfo]:
    return list({row.run.id: row.run for row in rows}.values())


def _grid(table: Table) -> _Grid:
    shown = zip(shown_rows(table)[:MOST_SHOWN], table.rows, strict=False)
    rows = [[_Cell(text, _key(cell)) for text, cell in zip(texts, row, strict=True)] for texts, row in shown]
    return _Grid(table, rows, len(table.rows) - len(rows))


def _key(cell: Cell) -> str:
    """What a number sorts by; empty for text and for what is unknown."""
    value = cell.value if isinstance(cell, Proportion | Estimate) else cell
    return f"{float(value):.9g}" if isinstance(value, int | float | Decimal) else ""
