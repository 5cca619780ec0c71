"""Tidy tables as files: CSV, JSON lines, and Parquet through pyarrow. Each comes back exactly.

Beside them lie a codebook, and scripts for Python and R.

Reading is strict: what is damaged is refused in one sentence that names the row and the column.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput
from repoassay.review.database import stamp
from repoassay.review.exchange import pyarrow_modules
from repoassay.review.tidy_columns import TIDY_COLUMNS, TidyCell, TidyColumn, TidyRow, codebook
from repoassay.review.tidy_table import StudyRecords, tidy_rows
from repoassay.text import printable, suggest

__all__ = ["TIDY_FORMATS", "arrow_installed", "read_tidy_rows", "write_tidy_folder", "write_tidy_rows"]

TIDY_FORMATS = ("parquet", "csv", "jsonl")
"""Formats of tables, which are the endings of their files."""

_SCRIPTS = ("analyse.py", "analyse.R")
_COLUMNS = {column.name: column for column in TIDY_COLUMNS}
_MAX_FILE = 2**29
_MAX_ROWS = 5_000_000
_MAX_CELL = 16 * 2**20
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
_WHOLE = 2**63


def write_tidy_rows(rows: Sequence[TidyRow], path: Path) -> None:
    """Write rows in the format that the file's ending names.

    Raises:
        BadInput: When the ending is none of `TIDY_FORMATS`.
        MissingExtra: For Parquet, without pyarrow.
    """
    ending = _format_of(path)
    if ending == "parquet":
        _write_parquet(rows, path)
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        if ending == "jsonl":
            for row in rows:
                stream.write(json.dumps(row, ensure_ascii=False, allow_nan=False, default=_time_text) + "\n")
        else:
            writer = csv.writer(stream, lineterminator="\r\n")
            writer.writerow(_COLUMNS)
            writer.writerows([_csv_text(_COLUMNS[name], row[name]) for name in _COLUMNS] for row in rows)


def write_tidy_folder(records: StudyRecords, folder: Path, formats: Iterable[str]) -> int:
    """Write a study's table, its codebook, and scripts that print the figures from the CSV file alone.

    Args:
        records: As `study_records` returns them.
        folder: Made where it is not there.
        formats: Of `TIDY_FORMATS`; each gives a file named after the study.

    Returns:
        The number of rows.

    Raises:
        MissingExtra: For Parquet, without pyarrow.
    """
    rows, name = tidy_rows(records), records.study.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CODEBOOK.md").write_text(codebook(records.rubric, name), encoding="utf-8")
    for each in _SCRIPTS:
        text = (files("repoassay.review") / "examples" / each).read_text(encoding="utf-8")
        (folder / each).write_text(text, encoding="utf-8")
    for each in formats:
        write_tidy_rows(rows, folder / f"{name}.{each}")
    return len(rows)


def read_tidy_rows(path: Path) -> Iterator[tuple[str, TidyRow]]:
    """Yield each row with the name of its place, such as `table.csv, row 7`; columns a file has not are None.

    Rows are counted as a spreadsheet does in a CSV file, whose header is row 1, else from 1.

    Raises:
        BadInput: When the file cannot be read, is too large, or a column or cell is not one of `TIDY_COLUMNS`.
        MissingExtra: For Parquet, without pyarrow.
    """
    ending, name = _format_of(path), printable(path.name, 300)
    try:
        if path.stat().st_size > _MAX_FILE:
            raise BadInput(f"{name} is larger than {_MAX_FILE:,} bytes.", "Split the study.")
        lines = {"csv": _csv_rows, "jsonl": _json_rows, "parquet": _parquet_rows}[ending](path, name)
        for place, values in lines:
            yield place, {key: _checked(column, values.get(key), place) for key, column in _COLUMNS.items()}
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{name} cannot be read: {printable(str(error), 200)}.", "Export it anew.") from error


def _csv_rows(path: Path, name: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    before = csv.field_size_limit(_MAX_CELL)
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = csv.reader(stream, strict=True)
            header = _check_header(next(lines, []), f"{name}, row 1")
            line = lines.line_num + 1
            for number, cells in enumerate(lines, 2):
                # A text may have several lines, and then an editor counts more lines than a spreadsheet rows.
                place = f"{name}, row {number}{'' if line == number else f' (line {line})'}"
                line = lines.line_num + 1
                if len(cells) != len(header):
                    raise BadInput(
                        f"{place} has {len(cells)} cells, not the {len(header)} of the header.", "Export it anew."
                    )
                yield place, {key: cell.removeprefix("'") for key, cell in zip(header, cells, strict=True)}
    except csv.Error as error:
        raise BadInput(
            f"{name}, after row {max(number, 1)}: no CSV: {printable(str(error))}.", "Export it anew."
        ) from None
    finally:
        csv.field_size_limit(before)


def _json_rows(path: Path, name: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            place = f"{name}, row {number}"
            try:
                found = json.loads(line, object_pairs_hook=_distinct_keys, parse_constant=_no_constant)
            except (ValueError, RecursionError) as error:
                raise BadInput(f"{place} is no JSON: {printable(str(error), 200)}.", "Export it anew.") from None
            if not isinstance(found, dict):
                raise BadInput(f"{place} is no JSON object.", "Export it anew.")
            _check_header(list(found), place)
            yield place, found


def _distinct_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice")
    return found


def _no_constant(text: str) -> object:
    raise ValueError(f"{text} is no number of JSON")


def _write_parquet(rows: Sequence[TidyRow], path: Path) -> None:
    pyarrow, parquet = pyarrow_modules()
    kinds = {
        "text": pyarrow.string(), "integer": pyarrow.int64(), "number": pyarrow.float64(), "boolean": pyarrow.bool_(),
        "time": pyarrow.timestamp("us", "UTC"),
    }  # fmt: skip
    columns = {
        name: pyarrow.array([row[name] for row in rows], type=kinds[column.kind]) for name, column in _COLUMNS.items()
    }
    parquet.write_table(pyarrow.table(columns), path, compression="zstd")


def _parquet_rows(path: Path, name: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    _, parquet = pyarrow_modules()
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            size = sum(file.metadata.row_group(group).total_byte_size for group in range(file.metadata.num_row_groups))
            if size > _MAX_FILE or file.metadata.num_rows > _MAX_ROWS:
                raise BadInput(f"{name} unpacks to more than {_MAX_FILE:,} bytes or {_MAX_ROWS:,} rows.", "Split it.")
            _check_header(list(file.schema_arrow.names), f"{name}, its schema")
            for batch in file.iter_batches(batch_size=4096):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{name}, row {number}", row
    except (OSError, ValueError, KeyError, TypeError, NotImplementedError, OverflowError) as error:  # pyarrow's own
        raise BadInput(
            f"{name}, after row {number}: no Parquet that can be read: {printable(str(error), 200)}.", "Export it anew."
        ) from error


def _check_header(header: Sequence[str], place: str) -> Sequence[str]:
    """Return the header if each name is a column, and there once."""
    for position, key in enumerate(header):
        if key not in _COLUMNS:
            known = suggest(key, _COLUMNS, list_known=False)
            raise BadInput(
                f"{place}: {printable(key, 100)!r} is no column of the codebook.", f"Rename or drop it. {known}".strip()
            )
        if key in header[:position]:
            raise BadInput(f"{place}: the column {key} appears twice.", "Keep one of both.")
    return header


def _checked(column: TidyColumn, cell: object, place: str) -> TidyCell:
    """Return a cell as its column's kind has it; texts of CSV are read.

    Raises:
        BadInput: Naming the row, the column and what was expected.
    """
    if cell is None or cell == "":
        return None
    try:
        return _READERS[column.kind](cell)
    except (ValueError, OverflowError):
        shown = printable(str(cell), 60)
        raise BadInput(
            f"{place}, column {column.name}: {shown!r} is no {_EXPECTED[column.kind]}.", "Correct that cell."
        ) from None


def _text(cell: object) -> str:
    if not isinstance(cell, str) or len(cell) > _MAX_CELL:
        raise ValueError
    cell.encode()  # half of a surrogate pair is no text
    if "\0" in cell:  # which PostgreSQL cannot keep
        raise ValueError
    return cell


def _integer(cell: object) -> int:
    number = cell
    if isinstance(cell, str) and cell.lstrip("-").isdecimal() and cell.isascii() and len(cell) <= 20:
        number = int(cell)
    if isinstance(number, bool) or not isinstance(number, int) or not -_WHOLE <= number < _WHOLE:
        raise ValueError
    return number


def _number(cell: object) -> float:
    if isinstance(cell, bool) or not isinstance(cell, int | float | str) or (isinstance(cell, str) and "_" in cell):
        raise ValueError
    number = float(cell)
    if not math.isfinite(number):
        raise ValueError
    return number


def _boolean(cell: object) -> bool:
    known = {"true": True, "false": False}
    if isinstance(cell, bool):
        return cell
    if not isinstance(cell, str) or cell.lower() not in known:
        raise ValueError
    return known[cell.lower()]


def _time(cell: object) -> datetime:
    moment = datetime.fromisoformat(cell) if isinstance(cell, str) else cell
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise ValueError
    return moment.astimezone(UTC)


_READERS: dict[str, Callable[[object], TidyCell]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "time": _time,
}
_EXPECTED = {
    "text": "text that can be kept", "integer": "whole number", "number": "finite number", "boolean": "true or false",
    "time": "time such as 2026-01-31T12:00:00Z, with its zone",
}  # fmt: skip


def _csv_text(column: TidyColumn, cell: TidyCell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return stamp(cell)
    if column.kind == "text":
        text = str(cell)
        return f"'{text}" if text.startswith(_FORMULA) else text
    return repr(cell)


def _time_text(value: Any) -> str:
    assert isinstance(value, datetime)
    return stamp(value)


def _format_of(path: Path) -> str:
    ending = path.suffix.lower().removeprefix(".")
    if ending not in TIDY_FORMATS:
        raise BadInput(
            f"{printable(path.name)!r} ends in none of {', '.join(TIDY_FORMATS)}.", "Name the file accordingly."
        )
    return ending


def arrow_installed() -> bool:
    """Whether Parquet can be written here."""
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None
