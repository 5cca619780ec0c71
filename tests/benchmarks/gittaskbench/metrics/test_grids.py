"""Tables by place, and lists of addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.benchmarks.gittaskbench.metrics.addresses import addresses_precision, addresses_recall
from repoassay.benchmarks.gittaskbench.metrics.grids import grid_header, grid_precision, grid_recall, read_grid
from repoassay.grading.protocol import UnreadableOutput

ROWS = [["No.", "Day", "Town"], *([str(i * 3), f"0 {i} / 2 0 24", f"Town {i}"] for i in range(9))]


def table(rows: list[list[str]], blank: str = "") -> str:
    return "".join(",".join(row) + f"\n{blank}" for row in rows)


def both(folder: Path, ours: str, theirs: str = table(ROWS, ",,\n")) -> tuple[Path, Path]:
    (folder / "gt.csv").write_text(theirs)
    (folder / "output.csv").write_text(ours)
    return folder / "output.csv", folder / "gt.csv"


def test_blank_rows_spaces_and_row_numbers_do_not_count(tmp_path: Path) -> None:
    rows = [[cell.replace(" ", "") for cell in row] for row in ROWS]
    numbered = [["", *rows[0]], *([str(i), *row] for i, row in enumerate(rows[1:]))]
    for text in (table(rows), table(rows, "\n\n"), table(numbered), table(rows).replace(",", ";")):
        files = both(tmp_path, text)
        assert (grid_recall(*files).value, grid_precision(*files).value, grid_header(*files).value) == (1, 1, 1)


def test_a_row_less_costs_itself_alone(tmp_path: Path) -> None:
    files = both(tmp_path, table(ROWS[:4] + ROWS[5:]))
    assert grid_recall(*files).value == pytest.approx(0.9)
    assert grid_precision(*files).value == 1


def test_order_counts(tmp_path: Path) -> None:
    assert grid_recall(*both(tmp_path, table(ROWS[::-1]))).value < 0.3


def test_header_may_go_on_and_stand_below_titles(tmp_path: Path) -> None:
    assert grid_header(*both(tmp_path, table([["Report", "", ""], ["No. of", "Day", "Town"], *ROWS[1:]]))).value == 1
    assert grid_header(*both(tmp_path, table([["a", "b", "c"], *ROWS[1:]]))).value < 0.5


def test_hostile_tables(tmp_path: Path) -> None:
    with pytest.raises(UnreadableOutput):
        read_grid(both(tmp_path, "a,b\n\0,c\n")[0])
    assert grid_recall(*both(tmp_path, ("," * 300 + "\n") * 3000)).value == 0
    assert grid_precision(*both(tmp_path, "x\n")).value == 0


def lists(folder: Path, text: str) -> tuple[Path, Path]:
    return both(folder, text, "ann@a.org\nbob.b@b.co.uk\n")


@pytest.mark.parametrize(
    "text",
    ["ann@a.org\nbob.b@b.co.uk", "Bob.B@b.co.uk; ANN@a.org", '["ann@a.org", "bob.b@b.co.uk"]',
     "Found:\n1. ann@a.org\n2. <bob.b@b.co.uk>",
     "E-mail: ann@a.org\nE-mail:bob.b@b.co.uk\n", "- mailto:ann@a.org\n- mailto:bob.b@b.co.uk",
     "ann@a.org, ann@a.org, bob.b@b.co.uk"],
)  # fmt: skip
def test_addresses_are_found_however_they_are_listed(text: str, tmp_path: Path) -> None:
    files = lists(tmp_path, text)
    assert (addresses_recall(*files).value, addresses_precision(*files).value) == (1, 1)


def test_dumps_have_no_precision(tmp_path: Path) -> None:
    files = lists(tmp_path, "Write\nto\nann@a.org\nor\nbob.b@b.co.uk\nnow\n")
    assert addresses_recall(*files).value == 1
    assert addresses_precision(*files).value == pytest.approx(2 / 6)


def test_a_longer_address_is_another(tmp_path: Path) -> None:
    assert addresses_recall(*lists(tmp_path, "joann@a.org bob.b@b.co.uk")).value == 0.5


def test_the_weakest_column_shows_what_a_mean_hides(tmp_path: Path) -> None:
    towns = [row[2] for row in ROWS[1:]]
    moved = [ROWS[0], *([*row[:2], town] for row, town in zip(ROWS[1:], [towns[-1], *towns], strict=False))]
    files = both(tmp_path, table(moved))
    assert grid_recall(*files).value == pytest.approx((10 + 10 + 1) / 30)
    assert grid_recall(*files, weakest=True).value == pytest.approx(1 / 10)
    assert grid_recall(*both(tmp_path, table(ROWS)), weakest=True).value == 1
    assert grid_recall(*both(tmp_path, table(ROWS[:4] + ROWS[5:])), weakest=True).value == pytest.approx(0.9)
