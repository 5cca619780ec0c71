"""Every format of a table: what it shows, and that no name can break out of it."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st
from rich.console import Console

from repoassay.report.tables.value import Cell, ColumnUnit, Estimate, Table, TableColumn
from repoassay.report.writers import csv_text, json_text, latex, markdown
from repoassay.report.writers.terminal import print_tables
from repoassay.stats import Proportion

COLUMNS = (
    TableColumn("name", "Name"), TableColumn("rate", "Rate", ColumnUnit.RATE), TableColumn("share", "Share", ColumnUnit.ESTIMATE),
    TableColumn("cost", "Cost", ColumnUnit.DOLLARS, 2), TableColumn("p", "p", ColumnUnit.P_VALUE),
)  # fmt: skip
HOSTILE = "=cmd|' /C calc'!A0 </script><b>\u202e | \\input{/etc/passwd} $x$ [red]`a`\n# b"


def table(name: str, *more: Cell) -> Table:
    cells = more or (Proportion(1, 2), Estimate(0.5, 0.25, 0.75, 4), Decimal("-1.5"), 0.00001)
    return Table("t", "Title", "Table 1", COLUMNS, ((name, *cells),), (f"A note on {name}",))


def test_figures_are_the_same_in_every_format() -> None:
    made = table("x")
    assert "| x | 1/2 50.0% \\[9.5, 90.5\\] | 50.0% \\[25.0, 75.0\\] | -\\$1.50 | &lt;0.0001 |" in markdown(made)
    assert r"x & 1/2 50.0\% {[}9.5, 90.5{]} & 50.0\% {[}25.0, 75.0{]} & -\$1.50 & \textless{}0.0001 \\" in latex(made)
    (line,) = csv.DictReader(io.StringIO(csv_text(made)))
    assert line["rate_successes"] == "1" and line["rate_percent"] == "50" and line["cost"] == "-1.5"
    assert line["share_low"] == "25" and line["p"] == "1e-05"
    document = json.loads(json_text(made))
    assert document["rows"][0]["rate"]["method"] == "Wilson score, 95%"
    assert document["rows"][0]["share"] == {"value": 0.5, "low": 0.25, "high": 0.75, "n": 4, "undefined": ""}


def test_unknown_is_a_dash_or_empty() -> None:
    made = table("x", None, None, None, None)
    assert "| x | - | - | - | - |" in markdown(made)
    assert csv_text(made).splitlines()[1] == "x" + "," * 11
    assert json.loads(json_text(made))["rows"][0]["rate"] is None
    assert "Nothing to show" in markdown(Table("t", "T", "", COLUMNS, ()))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\uff1d"])
def test_no_text_is_a_formula(start: str) -> None:
    (line,) = csv.DictReader(io.StringIO(csv_text(table(f"{start}HYPERLINK(1)"))))
    assert line["name"].startswith("'") or line["name"][0] not in "=+-@\t\uff1d"
    assert line["cost"] == "-1.5"  # a figure is a figure


@given(st.text(max_size=60))
def test_no_name_breaks_out(name: str) -> None:
    made = table(name + HOSTILE)
    text = markdown(made)
    assert "<" not in text.replace("&lt;", "")
    row = next(line for line in text.splitlines() if line.startswith("| ") and "1/2" in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == len(COLUMNS) + 1
    tex = latex(made)
    assert "\\input" not in tex and "\u202e" not in tex
    assert tex.count("\\begin{") == tex.count("\\end{") == 2
    assert len(list(csv.reader(io.StringIO(csv_text(made))))) == 2
    assert len(json.loads(json_text(made))["rows"]) == 1


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_terminal_shows_all_columns_at_any_width(width: int) -> None:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_tables([table(HOSTILE), Table("e", "Empty", "", COLUMNS, ())], console)
    text = console.file.getvalue()  # type: ignore[attr-defined] # a StringIO
    assert all(column.title in text for column in COLUMNS)
    assert "\u202e" not in text
    assert "Empty" not in text
    assert max(map(len, text.splitlines())) <= width


def test_a_terminal_without_unicode_gets_escapes() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "ascii")
    print_tables([table("é\u2603")], Console(file=stream, width=120, color_system=None))
    stream.flush()
    assert b"\\xe9" in raw.getvalue()
