"""Workbooks cell by cell, against counting."""

from __future__ import annotations

import contextlib
import datetime
import signal
import zipfile
from pathlib import Path

import openpyxl
import pytest

from repoassay.errors import InfraFault
from repoassay.grading.metrics.opening import mapped
from repoassay.grading.metrics.workbooks import workbook_cells_f1, workbook_sheets_match
from repoassay.grading.protocol import UnreadableOutput

Cells = dict[str, dict[str, object]]
DAY = datetime.datetime(2025, 4, 7)  # noqa: DTZ001 - cells of workbooks have no time zone
BASE: Cells = {"One": {"A1": "name", "B1": 3, "C1": DAY, "D1": True}, "Two": {"A1": "=1+1", "B9": 0.5}}


def book(path: Path, sheets: Cells) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, cells in sheets.items():
        sheet = made.create_sheet(title)
        for place, value in cells.items():
            sheet[place] = value
    made.save(path)
    return path


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    return book(tmp_path / "truth.xlsx", BASE)


def changed(**cells: object) -> Cells:
    return {"One": {**BASE["One"], **cells}, "Two": BASE["Two"]}


@pytest.mark.parametrize(
    ("sheets", "alike", "ours"),
    [
        (BASE, 6, 6),
        ({"Two": BASE["Two"], "One": BASE["One"]}, 6, 6),
        (changed(A1=" name ", B1=3.0, C1=DAY.date()), 6, 6),
        (changed(A1="Name"), 5, 6),
        (changed(B1="3"), 5, 6),
        (changed(B1=3.1), 5, 6),
        (changed(D1=1), 5, 6),
        (changed(D1="True"), 5, 6),
        (changed(C1=DAY.replace(hour=1)), 5, 6),
        (changed(E1="surplus", F1=1), 6, 8),
        ({"One": BASE["One"]}, 4, 4),
        ({"One": BASE["One"], "Two": {"A2": "=1+1", "B9": 0.5}}, 5, 6),
        ({"one": BASE["One"], "Two": BASE["Two"]}, 2, 6),
        ({"One": {}, "Two": {}}, 0, 0),
    ],
)
def test_cells_are_counted_by_their_places(tmp_path: Path, truth: Path, sheets: Cells, alike: int, ours: int) -> None:
    made = book(tmp_path / "a.xlsx", sheets)
    assert workbook_cells_f1(made, truth).value == pytest.approx(2 * alike / (ours + 6))
    assert workbook_cells_f1(truth, made).value == pytest.approx(2 * alike / (ours + 6))


def test_numbers_within_a_tolerance(tmp_path: Path, truth: Path) -> None:
    near = book(tmp_path / "a.xlsx", changed(B1=3.1))
    assert workbook_cells_f1(near, truth, tolerance=0.2).value == 1
    assert workbook_cells_f1(near, truth, tolerance=0.05).value == pytest.approx(5 / 6)


def test_empty_workbooks_are_alike(tmp_path: Path) -> None:
    assert workbook_cells_f1(book(tmp_path / "a.xlsx", {"x": {}}), book(tmp_path / "b.xlsx", {"y": {}})).value == 1


@pytest.mark.parametrize(
    ("names", "value"), [(["One", "Two"], 1), (["Two", "One"], 0), (["One"], 0), (["One", "Two", "3"], 0)]
)
def test_sheets_in_their_order(tmp_path: Path, truth: Path, names: list[str], value: float) -> None:
    assert workbook_sheets_match(book(tmp_path / "a.xlsx", {name: {} for name in names}), truth).value == value


def test_a_cell_far_away_is_one_cell(tmp_path: Path, truth: Path) -> None:
    far = book(tmp_path / "a.xlsx", changed(XFD1048576="far"))
    assert workbook_cells_f1(far, truth).value == pytest.approx(2 * 6 / (7 + 6))


def test_a_library_that_computes_too_long_is_stopped_even_where_it_catches_everything() -> None:
    def stubborn() -> None:
        while True:
            with contextlib.suppress(Exception):
                sum(range(1000))

    with pytest.raises(UnreadableOutput, match="more time"), mapped("a workbook", seconds=0.2):
        stubborn()
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
    with mapped("a workbook", seconds=0.2):
        pass  # and once more it is free


def test_a_formula_is_not_its_result(tmp_path: Path) -> None:
    formula, number = book(tmp_path / "a.xlsx", {"x": {"A1": "=1+1"}}), book(tmp_path / "b.xlsx", {"x": {"A1": 2}})
    assert workbook_cells_f1(formula, number).value == 0


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\3\4 no archive", b"\xd0\xcf\x11\xe0" + b"\0" * 600])
def test_hostile_workbooks(tmp_path: Path, truth: Path, content: bytes) -> None:
    bad = tmp_path / "bad.xlsx"
    bad.write_bytes(content)
    for measure in (workbook_cells_f1, workbook_sheets_match):
        with pytest.raises(UnreadableOutput):
            measure(bad, truth)
        with pytest.raises(InfraFault, match=r"bad\.xlsx"):
            measure(truth, bad)


@pytest.mark.parametrize("part", ["xl/workbook.xml", "xl/worksheets/sheet1.xml"])
@pytest.mark.parametrize("text", ["", "<broken", "<worksheet><sheetData><row r='x'/></sheetData></worksheet>"])
def test_broken_parts(tmp_path: Path, truth: Path, part: str, text: str) -> None:
    bad = tmp_path / "bad.xlsx"
    with zipfile.ZipFile(truth) as old, zipfile.ZipFile(bad, "w") as new:
        for name in old.namelist():
            new.writestr(name, text if name == part else old.read(name))
    if text.endswith("</worksheet>"):
        # Well-formed and strange: it opens without the cells of that part.
        assert workbook_cells_f1(bad, truth).value <= 2 * 2 / (2 + 6)
        return
    with pytest.raises(UnreadableOutput):
        workbook_cells_f1(bad, truth)
