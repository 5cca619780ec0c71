"""Ratings out and in again, exactly: JSON lines, CSV, and Parquet through pyarrow.

A CSV cell that a spreadsheet would run as a formula is written with an apostrophe before it, which reading takes away.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repoassay.errors import BadInput, MissingExtra
from repoassay.records import parse
from repoassay.text import printable
from repoassay.types import Rating

__all__ = [
    "FORMATS", "pyarrow_modules", "ratings_from_csv", "ratings_from_jsonl", "ratings_to_csv", "ratings_to_jsonl",
    "read_ratings", "write_ratings",
]  # fmt: skip

FORMATS = (".jsonl", ".csv", ".parquet")
"""Endings of files that `read_ratings` and `write_ratings` know."""

_MAX_FILE = 2**30
_MAX_CELL = 64 * 2**20
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
_JSON = ("axes", "others")
_LATER = "instructions"
"""A field that version 0.1 had not: a study without instructions is exported as it was then."""
_FIELDS = tuple(name for name in Rating.model_fields if name not in (*_JSON, _LATER))


def ratings_to_jsonl(ratings: Iterable[Rating]) -> Iterator[str]:
    """Yield one line of JSON a rating, newline included."""
    for rating in ratings:
        yield rating.model_dump_json(exclude=_unsaid(rating)) + "\n"


def ratings_from_jsonl(text: str, name: str = "ratings") -> tuple[Rating, ...]:
    """Read JSON lines; empty lines are passed over.

    Raises:
        BadInput: Naming the first line that is no rating.
    """
    found = []
    # Only these end a line of JSON; a text may hold others, such as U+2028.
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if line.strip():
            found.append(_rating_of_json(line, f"{printable(name, 300)}, line {number}"))
    return tuple(found)


def ratings_to_csv(ratings: Iterable[Rating]) -> str:
    """Write a table: one line a rating, a column for each field and for each axis's state, evidence as JSON.

    Columns: the fields of `Rating`; `contradiction`; for each axis `axis.KEY` and `evidence.KEY`; `others`.
    """
    rows = [_flat(rating) for rating in ratings]
    axes = dict.fromkeys(key for row in rows for key in row if key.startswith(("axis.", "evidence.")))
    out = io.StringIO(newline="")
    later = [_LATER] if any(_LATER in row for row in rows) else []
    writer = csv.DictWriter(out, [*_FIELDS, "contradiction", *axes, "others", *later], lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _guarded(value) for key, value in row.items()})
    return out.getvalue()


def ratings_from_csv(text: str, name: str = "ratings") -> tuple[Rating, ...]:
    """Read such a table. `contradiction` is not read: it follows from the rest.

    Raises:
        BadInput: Naming the first line that is no rating.
    """
    before = csv.field_size_limit(_MAX_CELL)
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise BadInput(f"{printable(name, 300)} is no CSV: {printable(str(error))}.", "Export it anew.") from None
    finally:
        csv.field_size_limit(before)
    found = []
    for number, row in enumerate(rows, 2):
        place = f"{printable(name, 300)}, row {number}"
        if None in row or None in row.values():
            raise BadInput(f"{place} has another number of cells than the header.", "Export it anew.")
        found.append(_unflat({key: cell.removeprefix("'") for key, cell in row.items()}, place))
    return tuple(found)


def write_ratings(ratings: Iterable[Rating], path: Path) -> None:
    """Write ratings in the format that the file's ending names.

    Raises:
        BadInput: When the ending is not one of `FORMATS`.
        MissingExtra: For Parquet, without pyarrow.
    """
    ending = _ending(path)
    if ending == ".jsonl":
        with path.open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(ratings_to_jsonl(ratings))
    elif ending == ".csv":
        path.write_text(ratings_to_csv(ratings), encoding="utf-8", newline="")
    else:
        pyarrow, parquet = pyarrow_modules()
        rows = [_flat(rating) for rating in ratings]
        names = list(dict.fromkeys([*_FIELDS, "contradiction", "others", *(key for row in rows for key in row)]))
        columns = {name: pyarrow.array([row.get(name) for row in rows], type=pyarrow.string()) for name in names}
        parquet.write_table(pyarrow.table(columns), path)


def read_ratings(path: Path) -> tuple[Rating, ...]:
    """Read ratings from a file of at most 1 GiB that `write_ratings` wrote.

    Raises:
        BadInput: When it cannot be read, or holds something else.
        MissingExtra: For Parquet, without pyarrow.
    """
    ending = _ending(path)
    try:
        if path.stat().st_size > _MAX_FILE:
            raise BadInput(f"{printable(str(path), 300)} is larger than {_MAX_FILE:,} bytes.", "Split it.")
        if ending == ".parquet":
            return _from_parquet(path)
        with path.open(encoding="utf-8", newline="") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{printable(str(path), 300)} cannot be read: {printable(str(error), 200)}.") from error
    return ratings_from_jsonl(text, str(path)) if ending == ".jsonl" else ratings_from_csv(text, str(path))


def _from_parquet(path: Path) -> tuple[Rating, ...]:
    _, parquet = pyarrow_modules()
    try:
        rows = parquet.read_table(path).to_pylist()
    except (OSError, ValueError, KeyError, TypeError, NotImplementedError) as error:  # what pyarrow's errors are
        raise BadInput(f"{printable(str(path), 300)} is no Parquet file: {printable(str(error), 200)}.") from error
    return tuple(
        _unflat(
            {key: str(cell) for key, cell in row.items() if cell is not None},
            f"{printable(str(path), 300)}, row {number}",
        )
        for number, row in enumerate(rows, 1)
    )


def _flat(rating: Rating) -> dict[str, str]:
    """Return a rating as text cells. A cell is empty for None, and texts are never None."""
    data: dict[str, Any] = rating.model_dump(mode="json")
    row = {key: _cell(data[key]) for key in _FIELDS}
    row["contradiction"] = _cell(rating.contradiction)
    for axis, answer in data["axes"].items():
        row[f"axis.{axis}"] = answer["state"]
        row[f"evidence.{axis}"] = json.dumps(answer["evidence"], ensure_ascii=False) if answer["evidence"] else ""
    row["others"] = json.dumps(data["others"], ensure_ascii=False) if data["others"] else ""
    return row if rating.instructions is None else {**row, _LATER: _cell(rating.instructions)}


def _unflat(row: Mapping[str, str], place: str) -> Rating:
    data: dict[str, Any] = {}
    for key in (*_FIELDS, _LATER):
        cell = row.get(key, "")
        text = Rating.model_fields[key].annotation is str
        if cell or text:
            data[key] = cell
    try:
        data["others"] = json.loads(row.get("others") or "{}")
        data["axes"] = {
            key.removeprefix("axis."): {
                "state": state,
                "evidence": json.loads(row.get(f"evidence.{key.removeprefix('axis.')}") or "[]"),
            }
            for key, state in row.items()
            if key.startswith("axis.") and state
        }
    except (ValueError, RecursionError):
        raise BadInput(f"{place}: a cell of evidence or others is no JSON.", "Export it anew.") from None
    try:
        return Rating.model_validate(data)
    except ValidationError as error:
        raise _wrong(place, error) from None


def _unsaid(rating: Rating) -> set[str] | None:
    return {_LATER} if rating.instructions is None else None


def _rating_of_json(line: str, place: str) -> Rating:
    try:
        return parse(Rating, line.encode("utf-8", "backslashreplace"), place)
    except ValidationError as error:
        raise _wrong(place, error) from None


def _wrong(place: str, error: ValidationError) -> BadInput:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    return BadInput(
        f"{place} is no rating: {printable(key, 100)}: {printable(str(first['msg']), 200)}.", "Export it anew."
    )


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise BadInput(f"{printable(path.name)!r} ends in none of {', '.join(FORMATS)}.", "Name the file accordingly.")
    return ending


def pyarrow_modules() -> tuple[Any, Any]:
    """`pyarrow` and `pyarrow.parquet`; raises `MissingExtra` where they are absent."""
    try:
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]  # untyped, in another extra
        from pyarrow import parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]  # the same
    except ImportError as error:
        raise MissingExtra("pyarrow", "datasets") from error
    return pyarrow, parquet
