"""Tables as CSV, one line a row, rates and their intervals in columns of their own."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

from repoassay.report.cells import flat_columns, flat_rows
from repoassay.report.tables.value import Table
from repoassay.text import one_line

__all__ = ["csv_text", "safe_text"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def csv_text(table: Table) -> str:
    """RFC 4180 with a header; unknown is empty. Notes are not in it: they are in every other format."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(flat_columns(table))
    for row in flat_rows(table):
        writer.writerow([_cell(cell) for cell in row])
    return stream.getvalue()


def _cell(cell: str | int | float | Decimal | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return safe_text(cell)
    # Fifteen digits are what a float holds of a decimal; one more would print 46.8 as 46.800000000000004.
    return str(cell) if isinstance(cell, int) else format(cell, ".15g")


def safe_text(text: str) -> str:
    """Text that no spreadsheet takes for a formula: an apostrophe before what begins like one."""
    line = one_line(text, 10_000)
    return f"'{line}" if line.startswith(_FORMULA) else line
