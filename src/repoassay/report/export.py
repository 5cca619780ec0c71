"""One or several runs as files: every table and every plot in every format asked for, and one page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import BadInput, MissingExtra
from repoassay.report.charts.build import charts
from repoassay.report.charts.picture import picture
from repoassay.report.charts.value import Chart
from repoassay.report.failures import causes_of
from repoassay.report.outcome_tables import ReportTables
from repoassay.report.page import PageParts
from repoassay.report.page_files import write_results
from repoassay.report.tables.value import Table
from repoassay.report.templating import write_whole
from repoassay.report.writers import csv_text, json_text, latex, markdown

__all__ = ["FORMATS", "ExportedFile", "Progress", "write_figured"]

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many steps of it are done, and how many there are."""

_TABLES: dict[str, Callable[[Table], str]] = {"md": markdown, "tex": latex, "csv": csv_text, "json": json_text}
_PICTURES = ("svg", "png")
FORMATS = (*_TABLES, *_PICTURES)
"""Endings of the files that can be written: four of tables, two of plots."""


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """What was written: the page, all files, and why plots were not (empty where they were, or nobody asked)."""

    page: Path
    files: tuple[Path, ...]
    without_plots: str = ""


def write_figured(
    figured: ReportTables, out: Path, formats: Collection[str] = FORMATS,
    progress: Progress = lambda what, done, total: None,
) -> ExportedFile:  # fmt: skip
    """Write what was worked out.

    ::

        OUT/index.html           the page; OUT/index_files has a page for each attempt
        OUT/tables/NAME.FORMAT   every table (md, tex, csv, json)
        OUT/plots/NAME.FORMAT    every plot that has something to show (svg, png)

    Files of these names are replaced; others are left alone. Without matplotlib, plots are left out and
    `ExportedFile` says so.

    Raises:
        BadInput: When something cannot be written there.
    """
    found = charts(figured)
    _folders(out)
    files = _tables(list(figured.tables.values()), out / "tables", [name for name in _TABLES if name in formats])
    pictures, why = _plots(found, out / "plots", [name for name in _PICTURES if name in formats], progress)
    files += pictures
    index = out / "index.html"
    parts = PageParts(
        tables=[table for table in figured.tables.values() if table.rows],
        plots=found,
        files=[name for name in _TABLES if name in formats],
        causes=causes_of(figured.rows),
        reviewed=figured.reviewed,
    )
    pages = write_results(figured.rows, index, parts, "--out", progress)
    progress("writing", 1, 1)
    return ExportedFile(index, (*pages, *files), why)


def _folders(out: Path) -> None:
    try:
        for folder in (out, out / "tables", out / "plots"):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"{error.filename or out} cannot be used for the report: {error.strerror}.", "Name another with --out."
        ) from error


def _tables(tables: Sequence[Table], folder: Path, formats: Sequence[str]) -> list[Path]:
    written = []
    for table in tables:
        for name in formats:
            path = folder / f"{table.name}.{name}"
            write_whole(path, _TABLES[name](table).encode("utf-8", "backslashreplace"), "--out")
            written.append(path)
    return written


def _plots(found: Sequence[Chart], folder: Path, formats: Sequence[str], progress: Progress) -> tuple[list[Path], str]:
    written: list[Path] = []
    for number, chart in enumerate(found):
        progress("drawing", number, len(found))
        for name in formats:
            path = folder / f"{chart.name}.{name}"
            try:
                content = picture(chart, "svg" if name == "svg" else "png")
            except MissingExtra as error:
                return written, str(error)
            write_whole(path, content, "--out")
            written.append(path)
    return written, ""
