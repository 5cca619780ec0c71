"""Metrics of delimited tables: size, columns, cells against a reference, and rules a column's values obey."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal, InvalidOperation
from pathlib import Path

from repoassay.grading.metrics.opening import read_table, reference
from repoassay.grading.metrics.text import normal
from repoassay.grading.protocol import Measurement, UnreadableOutput
from repoassay.grading.registry import metric

__all__ = [
    "column_distinct",
    "column_in_range",
    "column_matches",
    "table_cells_f1",
    "table_columns_match",
    "table_rows",
]

_MAX_VALUE = 10_000


def number(text: str) -> float | None:
    """A plain decimal number, or None; NaN and infinities are no numbers."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    return float(value) if value.is_finite() else None


@metric("table_rows", unit="rows", span="[0, inf)", better="neither", source="count of rows below the header")
def table_rows(of: Path) -> Measurement:
    """Number of rows below the header."""
    return Measurement(float(len(read_table(of)[1])))


@metric("table_columns_match", unit="yes/no", span="{0, 1}", better="higher", source="comparison of header sets")
def table_columns_match(of: Path, against: Path | None = None, *, columns: list[str] | None = None) -> Measurement:
    """1 when the header names exactly `columns` (or the reference's), in any order and case."""
    ours = {name.casefold() for name in read_table(of)[0]}
    if columns is None:
        columns = reference(read_table, against)[0] if against is not None else []
    wanted = {name.casefold() for name in columns}
    differing = sorted(ours ^ wanted)
    return Measurement(float(ours == wanted), f"differing: {', '.join(differing)[:200]}" if differing else "")


Row = dict[str, str]


def _rows(table: tuple[list[str], list[list[str]]]) -> list[Row]:
    header = [name.casefold() for name in table[0]]
    return [dict(zip(header, (normal(cell) for cell in row), strict=True)) for row in table[1]]


def _same(one: str, other: str, tolerance: float) -> bool:
    if one == other:
        return True
    ours, theirs = number(one), number(other)
    return ours is not None and theirs is not None and abs(ours - theirs) <= tolerance


def _matched(row: Row, other: Row, tolerance: float) -> int:
    return sum(name in other and _same(cell, other[name], tolerance) for name, cell in row.items())


def matched_cells(ours: list[Row], theirs: list[Row], tolerance: float) -> int:
    """Cells alike under a one-to-one matching of rows, whatever their order: equal rows first, then best fits."""
    waiting = Counter(_key(row) for row in theirs)
    left: list[Row] = []
    count = 0
    for row in ours:
        if waiting[_key(row)] > 0:
            waiting[_key(row)] -= 1
            count += len(row)
        else:
            left.append(row)
    remaining = [dict(key) for key in waiting.elements()]
    if len(left) * len(remaining) > 4_000_000:
        raise UnreadableOutput(f"{len(left)} rows differ from the reference, too many to match")
    pairs = sorted(
        ((_matched(row, other, tolerance), i, j) for i, row in enumerate(left) for j, other in enumerate(remaining)),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    used: tuple[set[int], set[int]] = (set(), set())
    for score, i, j in pairs:
        if score and i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            count += score
    return count


def _key(row: Row) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(row.items()))


@metric(
    "table_cells_f1",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="F1 over cells under a one-to-one matching of rows",
)
def table_cells_f1(of: Path, against: Path, *, tolerance: float = 0.0, ordered: bool = False) -> Measurement:
    """F1 of cells: rows matched one to one in any order, columns by name; numbers may differ by `tolerance`.

    With `ordered`, the first row is held against the first, and so on.
    """
    ours, theirs = _rows(read_table(of)), _rows(reference(read_table, against))
    have, want = sum(map(len, ours)), sum(map(len, theirs))
    if ordered:
        shared = sum(_matched(row, other, tolerance) for row, other in zip(ours, theirs, strict=False))
    else:
        shared = matched_cells(ours, theirs, tolerance)
    value = 2 * shared / (have + want) if have + want else 1.0
    return Measurement(value, f"{shared} cells alike of {have} in {len(ours)} rows, {want} in {len(theirs)} expected")


def _column(of: Path, column: str) -> list[str]:
    header, rows = read_table(of)
    places = [place for place, name in enumerate(header) if name.casefold() == column.casefold()]
    if not places:
        raise UnreadableOutput(f"it has no column {column!r}")
    return [row[places[0]].strip() for row in rows]


@metric("column_matches", unit="ratio", span="[0, 1]", better="higher", source="Python re.fullmatch")
def column_matches(of: Path, *, column: str, pattern: str) -> Measurement:
    """Share of a column's values that the whole of `pattern` matches; longer than 10,000 characters never does."""
    values = _column(of, column)
    compiled = re.compile(pattern)
    bad = [value for value in values if len(value) > _MAX_VALUE or not compiled.fullmatch(value)]
    note = f"{len(values) - len(bad)} of {len(values)}" + (f"; not {bad[0][:60]!r}" if bad else "")
    return Measurement(1 - len(bad) / len(values) if values else 0.0, note)


@metric("column_distinct", unit="ratio", span="[0, 1]", better="higher", source="distinct values / values")
def column_distinct(of: Path, *, column: str) -> Measurement:
    """Distinct values of a column divided by its values, case folded."""
    values = _column(of, column)
    distinct = len({normal(value, casefold=True) for value in values})
    return Measurement(distinct / len(values) if values else 0.0, f"{distinct} distinct of {len(values)}")


@metric("column_in_range", unit="ratio", span="[0, 1]", better="higher", source="share of values in a closed range")
def column_in_range(of: Path, *, column: str, low: float | str, high: float | str) -> Measurement:
    """Share of a column's values between `low` and `high`, both included: as numbers, or as text when they are text."""
    values = _column(of, column)
    if isinstance(low, str) and isinstance(high, str):
        good = sum(low <= value <= high for value in values)
    else:
        numbers = [number(value) for value in values]
        good = sum(value is not None and float(low) <= value <= float(high) for value in numbers)
    return Measurement(good / len(values) if values else 0.0, f"{good} of {len(values)}")
