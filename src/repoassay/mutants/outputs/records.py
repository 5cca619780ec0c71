"""Tables and records made wrong, whatever file they stand in: rows, columns and values that are not what they were."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from repoassay.mutants.outputs.mutant import Expected, OutputChange, RightOutput, Same
from repoassay.mutants.outputs.record_files import SUFFIXES, RecordTable, read_table, right_writers, write_table
from repoassay.mutants.outputs.texts import text_changes

__all__ = ["SUFFIXES", "record_changes"]

_MOST_COLUMNS = 12
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class _Rows:
    """A table being changed."""

    table: RecordTable
    seed: int

    @property
    def chance(self) -> random.Random:
        return random.Random(self.seed)  # noqa: S311 - the same every time

    @property
    def rows(self) -> list[list[Any]]:
        return [list(row) for row in self.table.rows]

    @property
    def width(self) -> int:
        return len(self.table.columns)


_Made = tuple[Sequence[str], list[list[Any]]]


def record_changes(source: RightOutput) -> Iterator[OutputChange]:
    """Every mutant of a table; a file that holds none is taken for text."""
    table = read_table(source.path)
    if table is None or not table.rows:
        yield from text_changes(source)
        return
    whole = _Rows(table, source.seed)
    for name, change in (*_row_changes(whole), *_column_changes(whole), *_value_changes(whole)):
        yield _mutant(whole, name, change)
    if len(table.rows) == 1:  # one record said twice says nothing else
        yield _mutant(whole, "row-doubled", lambda: (table.columns, whole.rows * 2), Expected.OPEN)
    yield _mutant(whole, "lists-reversed", lambda: _lists(whole, lambda items: items[::-1]), Expected.OPEN)
    yield _mutant(whole, "rows-shuffled", lambda: (table.columns, _shuffled(whole)), Expected.OPEN)
    yield _mutant(whole, "rows-reversed", lambda: (table.columns, whole.rows[::-1]), Expected.OPEN)
    if table.named:
        back = list(range(whole.width))[::-1]
        yield _mutant(whole, "columns-reordered", lambda: _columns(whole, back), Expected.OPEN)
    for number, path in enumerate(source.inputs):
        if path.is_file():
            tag = f"-{number + 1}" if len(source.inputs) > 1 else ""
            yield OutputChange(f"input{tag}", partial(_copied, path))
    for name, suffix, write in right_writers(table, source.path, source.formats):
        yield OutputChange(name, write, Expected.RIGHT, suffix=suffix)


def _mutant(whole: _Rows, name: str, change: Callable[[], _Made], expected: Expected = Expected.WRONG) -> OutputChange:
    def write(place: Path) -> float:
        columns, rows = change()
        if list(columns) == list(whole.table.columns) and _spoken(rows) == _spoken(whole.rows):
            raise Same
        write_table(place, whole.table, columns, rows)
        return _share(whole.table, columns, rows)

    return OutputChange(name, write, expected)


def _share(table: RecordTable, columns: Sequence[str], rows: list[list[Any]]) -> float:
    """Share of cells that are wrong or missing; each counts under its column, and in its row where none is lost."""
    if list(columns) == list(table.columns) and len(rows) == len(table.rows):
        places = [one != two for row, line in zip(table.rows, rows, strict=True)
                  for one, two in zip(row, line, strict=True)]  # fmt: skip
        return float(sum(places)) / max(1, len(places))

    def cells(names: Sequence[str], lines: Sequence[Sequence[Any]]) -> Counter[tuple[str, str]]:
        return Counter((name, repr(value)) for row in lines for name, value in zip(names, row, strict=False))

    ours, theirs = cells(table.columns, table.rows), cells(columns, rows)
    lost: float = max((ours - theirs).total() / max(1, ours.total()), (theirs - ours).total() / max(1, theirs.total()))
    return lost or 1.0


def _row_changes(whole: _Rows) -> Iterator[tuple[str, Callable[[], _Made]]]:
    columns, count = whole.table.columns, len(whole.table.rows)
    number = whole.chance.randrange(count)

    def made(change: Callable[[list[list[Any]]], list[list[Any]]]) -> Callable[[], _Made]:
        return lambda: (columns, change(whole.rows))

    if count > 1:
        yield "row-missing", made(lambda rows: rows[:number] + rows[number + 1 :])
        yield "last-row-missing", made(lambda rows: rows[:-1])
        yield "first-half", made(lambda rows: rows[: count // 2])
        yield "first-row-only", made(lambda rows: rows[:1])
        yield "first-row-repeated", made(lambda rows: rows[:1] * count)
        if whole.table.form in ("csv", "xlsx"):
            yield "header-lost", lambda: ([_word(value) for value in whole.rows[0]], whole.rows[1:])
        yield "row-doubled", made(lambda rows: [*rows, rows[number]])
        yield "all-doubled", made(lambda rows: rows + rows)
    yield "row-invented", made(lambda rows: [*rows, [_other(value) for value in rows[number]]])
    yield "template", made(lambda rows: [[_blank(value) for value in rows[0]]])


def _column_changes(whole: _Rows) -> Iterator[tuple[str, Callable[[], _Made]]]:
    columns, width, count = whole.table.columns, whole.width, len(whole.table.rows)
    if width > 1:
        yield "columns-shifted", lambda: (columns, [[*row[-1:], *row[:-1]] for row in whole.rows])
        one, two = whole.chance.sample(range(width), 2)
        yield "columns-swapped", lambda: (columns, [_swapped(row, one, two) for row in whole.rows])
        yield "column-missing", lambda: _columns(whole, [place for place in range(width) if place != one])
    if count > 2:
        for place in _some_columns(whole):
            name = columns[place]
            yield f"column-shuffled-{name}", partial(_rotated, whole, place)
    for place in _some_columns(whole):
        name = columns[place]
        yield f"column-changed-{name}", partial(_each, whole, place, _other)
        yield f"column-emptied-{name}", partial(_each, whole, place, lambda _: "")


def _value_changes(whole: _Rows) -> Iterator[tuple[str, Callable[[], _Made]]]:
    columns = whole.table.columns
    row, place = whole.chance.randrange(len(whole.table.rows)), whole.chance.randrange(whole.width)

    def cell() -> _Made:
        rows = whole.rows
        rows[row][place] = _other(rows[row][place])
        return columns, rows

    yield "cell-changed", cell
    for name, change in (
        ("numbers-rounded", _rounded), ("numbers-scaled", lambda value: value * 10),
        ("numbers-negated", lambda value: -value), ("numbers-shifted", lambda value: value + 1 + abs(value) * 0.2),
    ):  # fmt: skip
        yield (
            name,
            partial(_numbers, whole, change),
        )
    yield "numbers-emptied", lambda: (columns, [[_emptied(value) for value in line] for line in whole.rows])
    for name, cut in (
        ("lists-halved", lambda items: items[: len(items) // 2]), ("lists-item-missing", lambda items: items[:-1]),
        ("lists-doubled", lambda items: items + items), ("lists-emptied", lambda _: []),
    ):  # fmt: skip
        yield name, partial(_lists, whole, cut)


def _numbers(whole: _Rows, change: Callable[[float], float]) -> _Made:
    return whole.table.columns, [[_numeric(value, change) for value in line] for line in whole.rows]


def _lists(whole: _Rows, cut: Callable[[list[Any]], list[Any]]) -> _Made:
    return whole.table.columns, [[_listed(value, cut) for value in line] for line in whole.rows]


def _some_columns(whole: _Rows) -> list[int]:
    places = range(whole.width)
    return list(places) if whole.width <= _MOST_COLUMNS else sorted(whole.chance.sample(places, _MOST_COLUMNS))


def _columns(whole: _Rows, places: Sequence[int]) -> _Made:
    return [whole.table.columns[place] for place in places], [[row[place] for place in places] for row in whole.rows]


def _shuffled(whole: _Rows) -> list[list[Any]]:
    rows = whole.rows
    whole.chance.shuffle(rows)
    return rows


def _swapped(row: list[Any], one: int, two: int) -> list[Any]:
    row[one], row[two] = row[two], row[one]
    return row


def _rotated(whole: _Rows, place: int) -> _Made:
    """The values of a column one row further down, the last one first."""
    rows = whole.rows
    values = [row[place] for row in rows]
    for row, value in zip(rows, values[-1:] + values[:-1], strict=True):
        row[place] = value
    return whole.table.columns, rows


def _each(whole: _Rows, place: int, change: Callable[[Any], Any]) -> _Made:
    rows = whole.rows
    for row in rows:
        row[place] = change(row[place])
    return whole.table.columns, rows


def _other(value: Any) -> Any:
    """Another value of the same kind; never the same."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return _shifted(value)
    if isinstance(value, list | dict):
        return _within(value, _other)
    text = str(value) if value is not None else ""
    if (items := _as_list(text)) is not None:
        return json.dumps(_other(items))
    if _NUMBER.fullmatch(text):
        return _like(text, _shifted(float(text)))
    if any(sign.isalnum() for sign in text):
        return "".join(_next(sign) for sign in text)
    return text + "x"


def _shifted(value: float) -> float:
    whole = float(value).is_integer() and abs(value) < 1e15
    return value + 7 + round(abs(value) * 0.31) if whole else value * 1.37 + 3


def _next(sign: str) -> str:
    if sign.isdigit() and sign.isascii():
        return str((int(sign) + 3) % 10)
    if sign.isascii() and sign.isalpha():
        start = ord("a") if sign.islower() else ord("A")
        return chr(start + (ord(sign) - start + 5) % 26)
    return chr(ord(sign) + 1) if sign.isalnum() else sign


def _numeric(value: Any, change: Callable[[float], float]) -> Any:
    """A value with every number in it changed."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        variant = change(value)
        return int(variant) if isinstance(value, int) and float(variant).is_integer() else variant
    if isinstance(value, str) and (items := _as_list(value)) is not None:
        return json.dumps(_numeric(items, change))
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return _like(value, change(float(value)))
    return _within(value, partial(_numeric, change=change))


def _within(value: Any, change: Callable[[Any], Any]) -> Any:
    """A list or an object with every value in it changed; anything else as it is."""
    if isinstance(value, list):
        return [change(item) for item in value]
    return {key: change(item) for key, item in value.items()} if isinstance(value, dict) else value


def _emptied(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number or (isinstance(value, str) and _NUMBER.fullmatch(value)):
        return ""
    return _within(value, _emptied)


def _listed(value: Any, cut: Callable[[list[Any]], list[Any]]) -> Any:
    if isinstance(value, list):
        return cut(value)
    items = _as_list(value) if isinstance(value, str) else None
    return value if items is None else json.dumps(cut(items))


def _as_list(text: str) -> list[Any] | None:
    """The items of a cell that holds a list such as `[1, 2]`."""
    if not text.startswith("["):
        return None
    try:
        found = json.loads(text.replace("nan", "null"))
    except ValueError:
        return None
    return found if isinstance(found, list) and len(found) > 1 else None


def _like(text: str, value: float) -> str:
    """A number written with as many decimals as `text` has."""
    decimals = len(text.partition(".")[2]) if "." in text and "e" not in text.lower() else 0
    return f"{value:.{decimals}f}"


def _rounded(value: float) -> float:
    """To one digit that counts."""
    return float(f"{value:.0e}")


def _blank(value: Any) -> Any:
    return 0 if isinstance(value, int | float) else "N/A"


def _word(value: Any) -> str:
    return str(value)[:60] or "column"


def _spoken(rows: list[list[Any]]) -> str:
    return repr(rows)


def _copied(path: Path, place: Path) -> None:
    place.write_bytes(path.read_bytes())
