"""A comparison as a page: the page of results of the systems compared, with what changed between them on top."""

from __future__ import annotations

from pathlib import Path

from repoassay.report.charts.build import charts
from repoassay.report.comparison.comparison_output import compared_sections
from repoassay.report.comparison.versus import Comparison
from repoassay.report.failures import causes_of
from repoassay.report.outcome_tables import figure_outcomes
from repoassay.report.page import PageParts
from repoassay.report.page_files import write_results

__all__ = ["write_comparison"]


def write_comparison(comparison: Comparison, path: Path) -> None:
    """Write the page, and those of the systems' attempts beside it.

    Raises:
        BadInput: When it cannot be written there, or an attempt cannot be read back.
    """
    every = (row for side in comparison.sides for attempts in side.tasks.values() for row in attempts)
    # A system may be compared with itself.
    rows = list({(row.run.id, row.agent, row.task, row.number): row for row in every}.values())
    figured = figure_outcomes(rows)
    tables = [table for table in figured.tables.values() if len(table.rows) > 1]
    sections = compared_sections(comparison)
    parts = PageParts(tables=tables, plots=charts(figured), causes=causes_of(rows), compared=sections)
    write_results(rows, path, parts, "--html")
