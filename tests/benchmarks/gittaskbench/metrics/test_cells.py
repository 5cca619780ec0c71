"""Cells of sheets in JSON and in print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from repoassay.benchmarks.gittaskbench.metrics.cells import cell_fields, cells_f1, read_cells
from repoassay.benchmarks.gittaskbench.metrics.frames_in_text import frames_printed
from repoassay.benchmarks.gittaskbench.metrics.values import kind_of, place_of, plain_value

ROWS = [["a", "b"], ["1", "2.5"], ["3", "4"]]
FLAT = [{"row": i, "column": j, "value": value} for i, row in enumerate(ROWS) for j, value in enumerate(row)]


def put(folder: Path, name: str, data: Any) -> Path:
    (folder / name).write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    "data",
    [
        FLAT,
        {"cells": FLAT[::-1]},
        [{**each, "row": each["row"] + 1, "column": each["column"] + 1} for each in FLAT],  # type: ignore[operator]  # numbers
        {"sheets": {"S": {"rows": [{"row_index": i, "cells": [{"column_index": j, "value": v} for j, v in enumerate(r)]}
                                   for i, r in enumerate(ROWS)]}}},
        {"S": {f"{'AB'[j]}{i + 1}": v for i, r in enumerate(ROWS) for j, v in enumerate(r)}},
        [{"excel_RC": f"{'AB'[j]}{i + 1}", "value": v} for i, r in enumerate(ROWS) for j, v in enumerate(r)],
        {"S": ROWS},
        [{"a": 1, "b": 2.5}, {"a": 3, "b": 4}],
        {"a": {"0": 1, "1": 3}, "b": {"0": 2.5, "1": 4}},
        {"a": [1, 3], "b": [2.5, 4.0]},
        {"columns": ["a", "b"], "index": [0, 1], "data": [[1, 2.5], [3, 4]]},
    ],
)  # fmt: skip
def test_cells_are_read_from_every_shape(data: Any, tmp_path: Path) -> None:
    assert cells_f1(put(tmp_path, "output.json", data), put(tmp_path, "gt.json", FLAT)).value == 1


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (FLAT[:3], 2 / 3),
        (FLAT * 2, 2 / 3),
        ([{**each, "value": "x"} for each in FLAT], 0),
        ({}, 0),
        (7, 0),
        ([[]], 0),
        ([{}], 0),
    ],
)
def test_missing_repeated_and_wrong_cells_cost(data: Any, value: float, tmp_path: Path) -> None:
    assert cells_f1(put(tmp_path, "output.json", data), put(tmp_path, "gt.json", FLAT)).value == pytest.approx(value)


def test_hostile_json_is_read(tmp_path: Path) -> None:
    for data in (
        [[[[1]]]],
        {"columns": 3, "data": [[1]]},
        {"row": 1e400},
        {"row": {}, "column": [], "value": 1},
        {"A1": [1]},
    ):
        assert isinstance(read_cells(put(tmp_path, "o.json", json.dumps(data).replace("Infinity", "1e400"))), dict)


def test_fields_are_compared_by_place(tmp_path: Path) -> None:
    full = [{**each, "type": "<class 'int'>", "sheet": "A1", "f_name": "a.xlsx"} for each in FLAT]
    lines = "\n".join(json.dumps({**each, "type": "Int64", "sheet": "S", "f_name": "/x/a.xlsx"}) for each in full[::-1])
    ours, theirs = put(tmp_path, "output.txt", lines), put(tmp_path, "gt.txt", full)
    fields = ["row", "column", "value", "type", "sheet", "f_name"]
    assert cell_fields(ours, theirs, fields=fields, sheets=["S"]).value == 1
    assert cell_fields(ours, theirs, fields=fields).value == pytest.approx(5 / 6)
    assert cell_fields(put(tmp_path, "o.txt", full[:3]), theirs, fields=fields).value == 0.5
    assert cell_fields(put(tmp_path, "o.txt", [*full, *full]), theirs, fields=fields).value == 0.5
    assert cell_fields(put(tmp_path, "o.txt", FLAT), theirs, fields=fields).value == 0.5
    assert cell_fields(put(tmp_path, "o.txt", {"f_name": "a.xlsx"}), theirs, fields=fields).value == 0


@pytest.mark.parametrize(
    ("text", "place"), [("A1", (0, 0)), ("$AA$10", (9, 26)), ("S!c3", (2, 2)), ("A0", None), ("1A", None)]
)
def test_coordinates(text: str, place: tuple[int, int] | None) -> None:
    assert place_of(text) == place


def test_values_and_kinds_have_one_form() -> None:
    assert [plain_value(value) for value in (1, "1.0", " 1 ", "2025/4/7", "2025-04-07T00:00:00", None)] == [
        "1", "1", "1", "2025-04-07", "2025-04-07", ""]  # fmt: skip
    assert {kind_of(name) for name in ("<class 'int'>", "Int64", "number", "n", "numpy.float64")} == {"number"}
    assert {kind_of(name) for name in ("datetime.datetime", "Timestamp", "date", "datetime64[ns]")} == {"moment"}
    assert {kind_of(name) for name in ("<class 'str'>", "string", "s")} == {"text"}


def book(folder: Path) -> Path:
    (folder / "books").mkdir(exist_ok=True)
    for name, rows in (("one.xlsx", [["day", "n"], [1, 2], [3, 4]]), ("two.xlsx", [[5, 6]] * 4)):
        made = openpyxl.Workbook()
        for row in rows:
            made.active.append(row)
        made.save(folder / "books" / name)
    return folder / "books"


ONE = "   day  n\n0    1  2\n1    3  4\n"


@pytest.mark.parametrize(
    "two",
    [
        "   5  6\n0  5  6\n1  5  6\n2  5  6\n",
        "5 6\n5 6\n5 6\n5 6\n",
        "   0  1\n" + "".join(f"{i}  5  6\n" for i in range(4)),
    ],
)
def test_print_is_compared_with_the_workbooks(two: str, tmp_path: Path) -> None:
    text = f"File: two.xlsx\nSheet: Sheet\n{two}\n== one.xlsx ==\n{ONE}"
    assert frames_printed(put(tmp_path, "output.txt", text), book(tmp_path)).value == 1


@pytest.mark.parametrize(
    "text",
    [f"one.xlsx\n{ONE}", f"one.xlsx\n{ONE}two.xlsx\n5  6\n", f"two.xlsx\n{ONE}one.xlsx\n5  6", ONE, " " * 50_000 + "x"],
)
def test_what_is_missing_costs(text: str, tmp_path: Path) -> None:
    assert frames_printed(put(tmp_path, "output.txt", text), book(tmp_path)).value < 0.75


def test_the_weakest_field_shows_what_a_mean_hides(tmp_path: Path) -> None:
    full = [{**each, "sheet": "A1", "f_name": "a.xlsx"} for each in FLAT]
    theirs = put(tmp_path, "gt.txt", full)
    unnamed = put(tmp_path, "o.txt", [{**each, "sheet": ""} for each in full])
    fields = ["row", "column", "value", "sheet", "f_name"]
    assert cell_fields(unnamed, theirs, fields=fields).value == pytest.approx(4 / 5)
    assert cell_fields(unnamed, theirs, fields=fields, weakest=True).value == 0
    assert cell_fields(theirs, theirs, fields=fields, weakest=True).value == 1
