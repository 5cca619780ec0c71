"""Files that hold a table: CSV, JSON, JSON lines, XML lists and workbooks, read as rows and written back.

A JSON document is a table where it holds a list of objects somewhere; a single object is a table of one row.
What stands around the table stays.
"""

from __future__ import annotations

import copy
import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from repoassay.mutants.outputs.mutant import OutputChange, Same
from repoassay.mutants.outputs.texts import right_changes, text_of

__all__ = ["SUFFIXES", "RecordTable", "read_table", "right_writers", "write_table"]

SUFFIXES = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xlsx", ".txt", ".xml"})
_FIELD = re.compile(r"^([A-Za-z][\w \-]{0,40})([:=]\s*)(.+)$")
Keys = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class RecordTable:
    """Rows of a file.

    Args:
        form: `csv`, `json`, `jsonl`, `xlsx`, `xml` or `fields` (`key: value` lines).
        columns: Their names; numbers where the file names none.
        rows: Their values; None where a record lacks a column.
        whole: What stands around them.
        keys: Where in `whole` they stand.
        named: Whether the file says which column is which.
    """

    form: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    whole: Any = None
    keys: Keys = ()
    named: bool = True


class _Absent:
    """A key that a record does not have."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


def read_table(path: Path) -> RecordTable | None:
    """The table of a file; None where there is none."""
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        return _workbook(path)
    try:
        text = text_of(path)
    except Same:
        return None
    if suffix in (".csv", ".tsv"):
        return _csv(text, "\t" if suffix == ".tsv" else ",")
    if suffix == ".xml":
        return _xml(text)
    return _json(text) or _json_lines(text) or (_fields(text) if suffix == ".txt" else None)


def write_table(path: Path, table: RecordTable, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table with other columns and rows, as its file had it."""
    if table.form == "xlsx":
        _write_workbook(path, table, columns, rows)
        return
    path.write_text(_WRITERS[table.form](table, columns, rows), encoding="utf-8", newline="")


def right_writers(
    table: RecordTable, path: Path, formats: Sequence[str]
) -> Iterator[tuple[str, str, Callable[[Path], None]]]:  # fmt: skip
    """Other ways to write the same: name, suffix where it is another, and what writes it."""
    if table.form == "xlsx":
        yield "saved-again", "", lambda place: write_table(place, table, table.columns, table.rows)
        return
    text = text_of(path)
    for each in right_changes(text, mark=table.form not in ("json", "jsonl", "xml")):
        if each.name != "byte-order-mark" or table.form not in ("json", "jsonl", "xml"):
            yield each.name, "", partial(_write_change, each)
    if table.form == "csv":
        yield "all-quoted", "", lambda place: _text(place, _csv_text(table, table.columns, table.rows, csv.QUOTE_ALL))
    if table.form == "json":
        data = json.loads(text)
        yield "indented", "", lambda place: _text(place, json.dumps(data, indent=4, ensure_ascii=False) + "\n")
        yield "compact", "", lambda place: _text(place, json.dumps(data, separators=(",", ":")))
        yield "keys-sorted", "", lambda place: _text(place, json.dumps(data, sort_keys=True, ensure_ascii=False))
        if ".jsonl" in formats and isinstance(data, list):
            yield "as-lines", ".jsonl", lambda place: _text(place, "".join(json.dumps(row) + "\n" for row in data))


def _write_change(change: OutputChange, place: Path) -> None:
    change.write(place)


def _text(place: Path, text: str) -> None:
    place.write_text(text, encoding="utf-8", newline="")


def _csv(text: str, delimiter: str) -> RecordTable | None:
    csv.field_size_limit(2**24)
    lines = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    if len(lines) < 2:
        return None
    width = len(lines[0])
    rows = tuple(tuple((*row, *[""] * width)[:width]) for row in lines[1:])
    return RecordTable("csv", tuple(lines[0]), rows, whole=delimiter)


def _csv_text(
    table: RecordTable, columns: Sequence[str], rows: Sequence[Sequence[Any]], quoting: Any = csv.QUOTE_MINIMAL
) -> str:  # fmt: skip
    kept = io.StringIO(newline="")
    writer = csv.writer(kept, delimiter=table.whole, quoting=quoting, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return kept.getvalue()


def _json(text: str) -> RecordTable | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    keys = _longest(data)
    if keys is None and isinstance(data, dict) and data:
        return _of_records([data], "json", data, ("",))
    return None if keys is None else _of_records(_at(data, keys), "json", data, keys)


def _longest(data: Any) -> Keys | None:
    """Where the longest list of objects, or of lists, stands; at the outside where two are as long."""
    best: tuple[int, Keys] | None = None
    queue: list[tuple[Any, Keys]] = [(data, ())]
    while queue:
        item, keys = queue.pop(0)
        if len(keys) > 6:
            continue
        if isinstance(item, dict):
            queue += [(inner, (*keys, key)) for key, inner in item.items()]
        elif isinstance(item, list) and item:
            if all(isinstance(row, dict) for row in item) or all(isinstance(row, list) for row in item):
                best = (len(item), keys) if best is None or len(item) > best[0] else best
            queue += [(inner, (*keys, number)) for number, inner in enumerate(item[:50])]
    return None if best is None else best[1]


def _at(data: Any, keys: Keys) -> Any:
    for key in keys:
        data = data[key]
    return data


def _of_records(records: list[Any], form: str, whole: Any, keys: Keys) -> RecordTable:
    if all(isinstance(row, dict) for row in records):
        columns = tuple(dict.fromkeys(str(name) for row in records for name in row))
        rows = tuple(tuple(row.get(name, ABSENT) for name in columns) for row in records)
        return RecordTable(form, columns, rows, whole, keys)
    width = max((len(row) for row in records), default=0)
    rows = tuple(tuple((*row, *[ABSENT] * width)[:width]) for row in records)
    return RecordTable(form, tuple(map(str, range(width))), rows, whole, keys, named=False)


def _records(table: RecordTable, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Any]:
    if not table.named:
        return [[value for value in row if value is not ABSENT] for row in rows]
    return [{name: value for name, value in zip(columns, row, strict=False) if value is not ABSENT} for row in rows]


def _json_text(table: RecordTable, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    records: Any = _records(table, columns, rows)
    if table.keys == ("",):  # one object alone
        data = records[0] if len(records) == 1 else records
    elif not table.keys:
        data = records
    else:
        data = copy.deepcopy(table.whole)
        _at(data, table.keys[:-1])[table.keys[-1]] = records
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _json_lines(text: str) -> RecordTable | None:
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        records = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None
    if not records or not all(isinstance(row, dict) for row in records):
        return None
    return _of_records(records, "jsonl", None, ())


def _json_lines_text(table: RecordTable, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _records(table, columns, rows))


def _fields(text: str) -> RecordTable | None:
    """Lines such as `title: xxx`, every one of them."""
    lines = [line for line in text.splitlines() if line.strip()]
    found = [_FIELD.match(line) for line in lines]
    named = [each for each in found if each is not None]
    if len(named) != len(lines) or len(lines) < 2 or len({each[1] for each in named}) < len(lines):
        return None
    return RecordTable(
        "fields", tuple(each[1] for each in named), (tuple(each[3] for each in named),), whole=named[0][2]
    )


def _fields_text(table: RecordTable, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    return "\n".join(
        f"{name}{table.whole}{value}\n".rstrip(" ") for row in rows for name, value in zip(columns, row, strict=False)
    ).replace("\n\n", "\n")  # fmt: skip


def _xml(text: str) -> RecordTable | None:
    """The children of the root, where each holds texts alone."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(text.encode())  # noqa: S314 - inside a sandbox, of a task's own solution
    except (ElementTree.ParseError, ValueError):
        return None
    if len(root) < 2 or len({child.tag for child in root}) > 1 or any(len(leaf) for child in root for leaf in child):
        return None
    records = [{leaf.tag: leaf.text or "" for leaf in child} for child in root]
    if not all(records):
        return None
    return _of_records(records, "xml", (root.tag, root[0].tag), ())


def _xml_text(table: RecordTable, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    from xml.etree import ElementTree

    outer, inner = table.whole
    root = ElementTree.Element(outer)
    for record in _records(table, columns, rows):
        child = ElementTree.SubElement(root, inner)
        for name, value in record.items():
            ElementTree.SubElement(child, re.sub(r"\W+", "_", name) or "field").text = str(value)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _workbook(path: Path) -> RecordTable | None:
    """The first sheet with more than one row."""
    import openpyxl

    book = openpyxl.load_workbook(path)
    for sheet in book.worksheets:
        rows = [tuple(cell.value for cell in row) for row in sheet.iter_rows()]
        if len(rows) > 2:
            columns = tuple(str(value) if value is not None else f"column-{number}" for number, value in
                            enumerate(rows[0]))  # fmt: skip
            return RecordTable("xlsx", columns, tuple(rows[1:]), whole=path, keys=(sheet.title,), named=False)
    return None


def _write_workbook(path: Path, table: RecordTable, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    import openpyxl

    book = openpyxl.load_workbook(table.whole)
    sheet = book[str(table.keys[0])]
    for row in sheet.iter_rows():
        for cell in row:
            cell.value = None
    shown = [None if name == f"column-{number}" else name for number, name in enumerate(columns)]
    for number, line in enumerate([shown, *rows], 1):
        for place, value in enumerate(line, 1):
            sheet.cell(number, place).value = value
    book.save(path)


_WRITERS: dict[str, Callable[[RecordTable, Sequence[str], Sequence[Sequence[Any]]], str]] = {
    "csv": _csv_text, "json": _json_text, "jsonl": _json_lines_text, "fields": _fields_text, "xml": _xml_text,
}  # fmt: skip
