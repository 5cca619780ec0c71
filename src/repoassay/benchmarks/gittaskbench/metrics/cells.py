"""Cells of a sheet written as JSON in any sensible shape, against those of a reference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

from repoassay.benchmarks.gittaskbench.metrics.decoding import read_documents
from repoassay.benchmarks.gittaskbench.metrics.values import kind_of, place_of, plain_value
from repoassay.grading import Measurement, metric, reference

__all__ = ["cell_fields", "cells_f1", "read_cells"]

Place = tuple[int, int]
_ROW = ("row", "row_index", "rowindex", "r", "row_number", "rownumber", "行", "行号")
_COLUMN = ("column", "column_index", "columnindex", "col", "col_index", "colindex", "c", "column_number", "列", "列号")
_VALUE = ("value", "v", "val", "content", "cell_value", "cellvalue", "text", "值", "内容")
_PLACE = ("excel_rc", "excelrc", "coordinate", "cell", "address", "ref", "reference")
_MOST = 200_000


def _get(item: dict[str, Any], names: tuple[str, ...]) -> Any:
    folded = {str(key).casefold(): value for key, value in item.items()}
    return next((folded[name] for name in names if name in folded), None)


def _number(value: Any) -> int | None:
    """A row or column as written, a letter as its number; None for what is neither."""
    text = plain_value(value) if value is not None and not isinstance(value, bool | dict | list) else ""
    if text.isdecimal() and len(text) < 8:
        return int(text)
    if text.isalpha() and text.isascii() and 0 < len(text) < 4:
        place = place_of(f"{text}1")
        return place[1] if place is not None else None
    return None


def _cell(item: dict[str, Any], row: int | None) -> tuple[Place, str] | None:
    value = _get(item, _VALUE)
    if value is None or isinstance(value, dict | list):
        return None
    mine = _number(_get(item, _ROW))
    down, across = mine if mine is not None else row, _number(_get(item, _COLUMN))
    if down is not None and across is not None:
        return (down, across), plain_value(value)
    place = place_of(str(_get(item, _PLACE) or ""))
    return (place, plain_value(value)) if place is not None else None


def _stated(item: Any, row: int | None = None) -> Iterator[tuple[Place, str]]:
    """Cells that say where they are, at any depth; a row may say its number for all of its cells."""
    waiting = [(item, row)]
    while waiting:
        item, row = waiting.pop()
        if isinstance(item, dict):
            found = _cell(item, row)
            if found is not None:
                yield found
                continue
            placed = {place: value for key, value in item.items() if (place := place_of(str(key))) is not None}
            if placed and len(placed) == len(item):
                for place, held in placed.items():
                    value = _get(held, _VALUE) if isinstance(held, dict) else held
                    if value is not None and not isinstance(value, list):
                        yield place, plain_value(value)
                continue
            mine = _number(_get(item, _ROW))
            waiting += [(inner, mine if mine is not None else row) for inner in item.values()]
        elif isinstance(item, list):
            waiting += [(inner, row) for inner in item]


def _grids(item: Any) -> Iterator[list[list[Any]]]:
    """Rows without coordinates: a list of lists, of objects alike, or columns of values by row."""
    waiting = [item]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            columns = next((item[name] for name in ("columns", "header", "headers") if name in item), None)
            data = next((item[name] for name in ("data", "rows", "values") if name in item), None)
            if _flat(columns) and isinstance(data, list) and data and all(map(_flat, data)):
                yield [columns, *data] if columns != list(range(len(columns))) else data
                continue
            if len(item) > 1 and all(
                isinstance(inner, dict) and _flat(list(inner.values())) for inner in item.values()
            ):
                yield [list(item), *map(list, zip(*(inner.values() for inner in item.values()), strict=False))]
                continue
            if len(item) > 1 and all(_flat(inner) for inner in item.values()):
                yield [list(item), *map(list, zip(*item.values(), strict=False))]
                continue
            waiting += item.values()
        elif isinstance(item, list) and item:
            if all(map(_flat, item)):
                yield item
            elif all(isinstance(inner, dict) and inner and _flat(list(inner.values())) for inner in item):
                yield [list(item[0]), *(list(inner.values()) for inner in item)]
            else:
                waiting += item


def _flat(item: Any) -> TypeGuard[list[Any]]:
    return isinstance(item, list) and bool(item) and not any(isinstance(inner, dict | list) for inner in item)


def read_cells(path: Path) -> dict[Place, list[str]]:
    """Values by (row, column) from nought, of a JSON file; more than one where a place occurs more than once.

    Cells may state their place, as row and column from nought or one or as A1, in any nesting; else rows may stand as
    lists or objects, whose keys are taken for the first row. Raises `UnreadableOutput` when it is no JSON.
    """
    data = read_documents(path)
    found = list(_stated(data))[:_MOST]
    if not found:
        rows = next(_grids(data), [])
        found = [((i, j), plain_value(value)) for i, row in enumerate(rows) for j, value in enumerate(row)]
    down, across = (min((place[axis] for place, _ in found), default=0) == 1 for axis in (0, 1))
    cells: dict[Place, list[str]] = {}
    for (row, column), value in found:
        if value:
            cells.setdefault((row - down, column - across), []).append(value)
    return cells


@metric(
    "cells_f1",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="F1 over (row, column, value)",
)
def cells_f1(of: Path, against: Path) -> Measurement:
    """F1 of the non-empty cells of JSON files by row, column and value; see `read_cells` for the shapes that are read.

    A cell that occurs more than once counts once as right and else as too much.
    """
    ours, theirs = read_cells(of), reference(read_cells, against)
    alike = sum(place in theirs and theirs[place][0] in values for place, values in ours.items())
    have, want = sum(map(len, ours.values())), sum(map(len, theirs.values()))
    value = 2 * alike / (have + want) if have + want else 0.0
    return Measurement(value, f"{alike} cells alike of {have}, {want} expected")


def _records(path: Path) -> list[dict[str, Any]]:
    found = []
    for item in read_documents(path):
        rows = item if isinstance(item, list) else [item]
        found += [{str(key).casefold(): value for key, value in row.items()} for row in rows if isinstance(row, dict)]
    return found[:_MOST]


def _key(record: dict[str, Any]) -> Place | None:
    place = place_of(str(record.get("excel_rc") or ""))
    if place is not None:
        return place
    row, column = _number(record.get("row")), _number(record.get("column"))
    return (row, column) if row is not None and column is not None else None


def _right(field: str, mine: Any, other: Any, sheets: list[str], offset: int) -> bool:
    if field in ("row", "column"):
        number, wanted = _number(mine), _number(other)
        return number is not None and wanted is not None and number - offset == wanted
    if field == "type":
        return kind_of(mine) == kind_of(other)
    if field == "sheet":
        return plain_value(mine).casefold() in {plain_value(name).casefold() for name in [other, *sheets]}
    if field == "f_name":
        return plain_value(mine).replace("\\", "/").rpartition("/")[2].casefold() == plain_value(other).casefold()
    return plain_value(mine).casefold() == plain_value(other).casefold()


@metric(
    "cell_fields",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="share of fields right over cells matched by place",
)
def cell_fields(
    of: Path, against: Path, *, fields: list[str], sheets: list[str] | None = None, weakest: bool = False
) -> Measurement:
    """Share of the given fields that are right, over the cells of the reference or of the output, whichever are more.

    Both are JSON objects, one a line, in any order, matched by coordinate or row and column, which may count from
    nought or one. Types are compared by kind (number, text, date), file names without folders; `sheets` are names of
    the sheet that are as right as the reference's. A field that a record lacks is wrong. With `weakest` the share of
    the field that is right least often, which a mean over fields hides.
    """
    ours, theirs = _records(of), reference(_records, against)
    waiting = {_key(record): record for record in theirs}
    offsets = {
        field: int(
            min((number for record in ours if (number := _number(record.get(field))) is not None), default=0) == 1
        )
        for field in ("row", "column")
    }
    right = dict.fromkeys(fields, 0)
    wrong: dict[str, int] = {}
    for record in ours:
        other = waiting.pop(_key(record), None)
        if other is None:
            continue
        for field in fields:
            low = field.casefold()
            present = record.get(low) is not None
            good = present and _right(field, record[low], other[low], sheets or [], offsets.get(field, 0))
            right[field] += good
            if not good:
                wrong[field] = wrong.get(field, 0) + 1
    each = max(len(ours), len(theirs))
    note = "".join(f", {field} wrong {count} times" for field, count in wrong.items())
    share = min(right.values()) if weakest else sum(right.values()) / len(fields)
    return Measurement(share / each if each else 0.0, f"{len(ours)} records, {len(theirs)} expected{note}")
