"""Metrics of .xlsx workbooks against a reference workbook."""

from __future__ import annotations

import datetime
from pathlib import Path

from repoassay.grading.metrics.opening import reference, workbook
from repoassay.grading.metrics.text import normal
from repoassay.grading.protocol import Measurement
from repoassay.grading.registry import metric

__all__ = ["workbook_cells_f1", "workbook_sheets_match"]


def _cells(path: Path) -> dict[tuple[str, str], object]:
    return {(sheet, place): _value(value) for sheet, cells in workbook(path).items() for place, value in cells.items()}


def _value(value: object) -> object:
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bool):
        return f"<{value}>"
    if isinstance(value, int | float):
        return float(value)
    return normal(str(value))


def _alike(one: object, other: object, tolerance: float) -> bool:
    if one == other:
        return True
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= tolerance
    return False


@metric(
    "workbook_cells_f1",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="F1 over (sheet, coordinate, value)",
    packages=("openpyxl",),
)
def workbook_cells_f1(of: Path, against: Path, *, tolerance: float = 0.0) -> Measurement:
    """F1 of non-empty cells by sheet and coordinate; formulas are compared as text, dates as ISO dates."""
    ours, theirs = _cells(of), reference(_cells, against)
    alike = sum(place in theirs and _alike(value, theirs[place], tolerance) for place, value in ours.items())
    total = len(ours) + len(theirs)
    return Measurement(
        2 * alike / total if total else 1.0, f"{alike} cells alike of {len(ours)}, {len(theirs)} expected"
    )


@metric(
    "workbook_sheets_match",
    unit="yes/no",
    span="{0, 1}",
    better="higher",
    needs_reference=True,
    source="comparison of sheet names",
    packages=("openpyxl",),
)
def workbook_sheets_match(of: Path, against: Path) -> Measurement:
    """1 when both workbooks have the same sheets in the same order."""
    ours, theirs = list(workbook(of)), list(reference(workbook, against))
    return Measurement(float(ours == theirs), f"{', '.join(ours)[:200]}")
