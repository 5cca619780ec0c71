"""Tables as JSON.

::

    schema      "repoassay/tables/1"; keys are added under the same number, never renamed or removed
    name, title, after, notes
    columns[]   key, title, unit
    rows[]      by column key; of unit "rate": {successes, n, value, low, high, method} or null; of unit "estimate":
                {value, low, high, n, undefined} or null; dollars are decimal strings or numbers; shares lie between 0
                and 1; null is unknown
"""

from __future__ import annotations

import json
from typing import Any

from repoassay.report.document import plain_value
from repoassay.report.tables.value import Cell, Estimate, Table
from repoassay.stats import Proportion

__all__ = ["SCHEMA", "json_text", "table_document"]

SCHEMA = "repoassay/tables/1"


def json_text(table: Table) -> str:
    """One table as indented ASCII JSON."""
    return json.dumps({"schema": SCHEMA, **table_document(table)}, indent=2, allow_nan=False) + "\n"


def table_document(table: Table) -> dict[str, Any]:
    """One table as nested dicts and lists."""
    keys = [column.key for column in table.columns]
    return {
        "name": table.name,
        "title": table.title,
        "after": table.after,
        "notes": list(table.notes),
        "columns": [{"key": column.key, "title": column.title, "unit": column.unit.value} for column in table.columns],
        "rows": [dict(zip(keys, map(_cell, row), strict=True)) for row in table.rows],
    }


def _cell(cell: Cell) -> Any:
    if isinstance(cell, Proportion):
        ends = cell.interval
        return {
            "successes": cell.successes, "n": cell.n, "value": cell.value, "low": ends.low, "high": ends.high,
            "method": ends.method,
        }  # fmt: skip
    if isinstance(cell, Estimate):
        return plain_value(
            {"value": cell.value, "low": cell.low, "high": cell.high, "n": cell.n, "undefined": cell.undefined}
        )
    return plain_value(cell)
