"""The data files that ship: every one reads, says where it is from, and a wrong one is refused."""

from __future__ import annotations

from decimal import Decimal
from importlib.resources import files

import pytest

from repoassay.benchmarks.gittaskbench.papers import PAPER, ErrorShare, RunFigures, SubdomainValue
from repoassay.benchmarks.metr import POST
from repoassay.benchmarks.resq.papers.comparison import PAPER as RESQ_PAPER, PassRate
from repoassay.report.published_figures import FigureTables, parse_figures

HEAD = '[table]\npaper = "P"\nreference = "R"\nname = "T"\ntitle = "X"\nread_from = "S"\n'


@pytest.mark.parametrize("published", [PAPER, RESQ_PAPER, POST])
def test_every_file_is_a_table_and_every_table_a_file(published: FigureTables) -> None:
    shipped = {entry.name for entry in files(published.package).iterdir() if entry.name.endswith(".toml")}
    assert shipped == {f"{name}.toml" for name in published.kinds}


@pytest.mark.parametrize("published", [PAPER, RESQ_PAPER, POST])
def test_every_table_says_where_its_figures_were_read(published: FigureTables) -> None:
    tables = published.read_all()
    assert set(tables) == set(published.kinds)
    for name, table in tables.items():
        assert table.table.read_from, name
        assert all(isinstance(row, published.kinds[name]) for row in table.row), name


def test_printed_digits_are_kept() -> None:
    rows = PAPER.read("gittaskbench-table-03", RunFigures).row
    assert [str(row.cost) for row in rows[:4]] == ["0.0316", "0.0355", "0.0304", "0.00269"]
    assert str(rows[4].output) == "1282.70"
    assert rows[-1].cost is None


def test_one_kind_of_row_for_each_table() -> None:
    with pytest.raises(ValueError, match="are RunFigures, not PassRate"):
        PAPER.read("gittaskbench-table-03", PassRate)
    with pytest.raises(KeyError):
        PAPER.read("gittaskbench-table-99", PassRate)


@pytest.mark.parametrize(
    "text",
    [
        "[table",
        "",
        HEAD,
        HEAD + "row = []",
        HEAD + '[[row]]\nclass = "E1"\npercent = 101',
        HEAD + '[[row]]\nclass = "E1"\npercent = nan',
        HEAD + '[[row]]\nclass = "E1"\npercent = 1\nmore = 2',
        HEAD + 'more = 1\n[[row]]\nclass = "E1"\npercent = 1',
        HEAD.replace('"S"', '""') + '[[row]]\nclass = "E1"\npercent = 1',
    ],
)
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="published table mine cannot be read"):
        parse_figures(text, ErrorShare, "mine")


@pytest.mark.parametrize("ends", ["low = 1", "low = 3\nhigh = 4", "low = 2\nhigh = 1"])
def test_a_value_outside_its_range_is_refused(ends: str) -> None:
    row = f'[[row]]\ndomain = "D"\nsubdomain = "S"\nvalue = 2\n{ends}'
    with pytest.raises(ValueError, match="needs low"):
        parse_figures(HEAD + row, SubdomainValue, "mine")


def test_a_table_of_ones_own() -> None:
    table = parse_figures(HEAD + '[[row]]\nmodel = "M"\npass_at_1 = 12.50', PassRate, "mine")
    assert (table.row[0].pass_at_1, table.table.missing) == (Decimal("12.50"), ())
