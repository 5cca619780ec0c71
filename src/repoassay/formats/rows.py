"""Rows of code-editing data sets from JSON, JSON Lines, parquet or the hub, and back; see `row_formats` for formats."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from pydantic import ValidationError

from repoassay.errors import BadInput, Problem, Unavailable
from repoassay.formats.edit_row import EditRow
from repoassay.formats.json_records import read_json_records
from repoassay.formats.parquet import hub_records, read_arrow_records, read_csv_records, read_parquet_records
from repoassay.formats.record_problems import PlacedRecord, Problems, in_words, kind_of
from repoassay.formats.row_formats import bundled_keys, format_of, forms, to_row
from repoassay.formats.task_folders import is_folder, read_task_folders
from repoassay.text import join_names, printable, quote

__all__ = ["RefusedRow", "load_hub", "read_rows", "sort_rows", "write_rows"]


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A record that is no row that can be used: its id, or the place where it has none, and why."""

    name: str
    reason: str


def read_rows(path: Path) -> list[EditRow]:
    """Read a data set; every row's format is told by its keys.

    Args:
        path: A `.parquet`, `.arrow`, `.csv`, `.jsonl` or `.json` file of at most 1 GiB: a list of rows,
            `{"rows": [...]}`, or an object that maps ids to rows. Or a folder of task folders, see `read_task_folders`.

    Raises:
        BadInput: With the problems of up to 20 rows: place, key, what is wrong and the remedy.
        MissingExtra: For a parquet file without pyarrow.
    """
    problems = Problems(path, "data set")
    return _understood(_records(path, problems), problems)


def sort_rows(path: Path) -> tuple[list[EditRow], list[RefusedRow]]:
    """Read a data set as far as it can be read: its rows, and the records that are none, each with the reason.

    Args:
        path: As of `read_rows`.

    Raises:
        BadInput: When the file as a whole cannot be read, or holds no records.
        MissingExtra: For a parquet or arrow file without pyarrow.
    """
    problems = Problems(path, "data set", most=inf)
    rows: dict[str, EditRow] = {}
    refused: list[RefusedRow] = []
    for found in _records(path, problems):
        name = _name(found)
        try:
            row = _row(found)
        except (BadInput, Unavailable) as error:
            refused.append(RefusedRow(name, str(error)))
            continue
        if isinstance(row, list):
            refused.append(
                RefusedRow(name, "; ".join(f"{each.key} {each.what}".strip().rstrip(".") for each in row[:3]))
            )
        elif row != rows.setdefault(row.name, row):
            refused.append(RefusedRow(name, "another row of the file has the same id, and says otherwise"))
    refused += [RefusedRow(each.file, each.what.rstrip(".")) for each in problems.found]
    if not rows and not refused:
        raise BadInput(f"The data set {printable(str(path), 500)} holds no rows.", "Write at least one.")
    return list(rows.values()), refused


def load_hub(name: str, split: str = "test") -> list[EditRow]:
    """Read one split of a data set on the hub, such as `OWNER/NAME`.

    Raises:
        BadInput: When its rows are of no known format.
        MissingExtra: Without the package `datasets`.
        Unavailable: When it cannot be had.
    """
    return _understood(hub_records(name, split), Problems(f"{name} ({split})", "data set"))


def write_rows(rows: Sequence[EditRow], path: Path) -> None:
    """Write a data set with the published keys, whole or not at all: `.jsonl` one row a line, `.json` as a list.

    Raises:
        BadInput: When the file has another suffix or cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix == ".json":
        text = json.dumps([row.to_json() for row in rows], indent=1) + "\n"
    elif suffix in {".jsonl", ".ndjson"}:
        text = "".join(json.dumps(row.to_json()) + "\n" for row in rows)
    else:
        raise BadInput(f"{quote(path)} is neither a .json nor a .jsonl file.", "Name one of these.")
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        part.write_text(text, encoding="ascii")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"The file {printable(str(path), 500)} cannot be written: {error.strerror}.") from error


def _records(path: Path, problems: Problems) -> Iterator[PlacedRecord]:
    if is_folder(path):
        return read_task_folders(path, problems)
    if path.suffix.lower() == ".parquet":
        return read_parquet_records(path)
    if path.suffix.lower() in {".arrow", ".feather"}:
        return read_arrow_records(path)
    if path.suffix.lower() == ".csv":
        return read_csv_records(path)
    return read_json_records(path, problems, bundled_keys())


def _name(found: PlacedRecord) -> str:
    """What a record is called before it is understood."""
    data = found.value if isinstance(found.value, dict) else {}
    named = (data.get(key) for key in ("instance_id", "id", found.key))
    return next((printable(each, 200) for each in named if isinstance(each, str) and each), found.place)


def _understood(records: Iterable[PlacedRecord], problems: Problems) -> list[EditRow]:
    rows: list[EditRow] = []
    places: dict[str, str] = {}
    for found in records:
        row = _row(found)
        if isinstance(row, list):
            problems.add(*row)
        elif row.name in places:
            what = f"is {quote(row.name)}, as in {places[row.name]}."
            problems.add(Problem(found.place, row.ID_KEY, what, "Give every row an id of its own."))
        else:
            places[row.name] = found.place
            rows.append(row)
    problems.check()
    if not rows:
        problems.add(Problem("file", "", "holds no rows.", "Write at least one."))
        problems.check()
    return rows


def _row(found: PlacedRecord) -> EditRow | list[Problem]:
    """Make a row of a record, or say what is wrong with it."""
    data = found.value
    if not isinstance(data, dict):
        return [Problem(found.place, "", f"is {kind_of(data)}.", f"It must be an object. {forms()}")]
    model = format_of(data)
    if model is None:
        keys = f"It has {join_names(map(str, data), 8)}." if data else "It is empty."
        return [Problem(found.place, "", "is of no known format.", f"{keys} {forms()}")]
    key = model.ID_KEY
    if found.key is not None:
        stated = data.get(key, found.key)
        if stated != found.key:
            return [Problem(found.place, key, f"is {kind_of(stated)}.", "Make it the key, or leave it out.")]
        data = {**data, key: found.key}
    try:
        return to_row(model.model_validate(data))
    except ValidationError as error:
        name = data.get(key)
        place = f"{found.place} ({printable(name, 60)})" if isinstance(name, str) and found.key is None else found.place
        return list(in_words(error, place))
