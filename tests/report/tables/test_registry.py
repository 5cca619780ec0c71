"""Tables that a benchmark offers beside those of the runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import repoassay.report
from repoassay.report.figuring import Wanted, figure_out
from repoassay.report.tables import registry
from repoassay.report.tables.registry import OfferedTables, offered_tables, register_tables
from repoassay.report.tables.value import Column, Table
from report.made_rows import info, row, task


@pytest.fixture
def offered() -> Iterator[None]:
    def counted(tables: Mapping[str, Table]) -> list[Table]:
        return [Table("mini_table", "Ours", "", (Column("n", "n"),), ((len(tables),),))]

    register_tables(OfferedTables("mini", counted, lambda: {"code_lines": {"SUMS": 77.0}}))
    yield
    registry._installed.clear()


def test_tables_and_sizes_of_a_plug_in_come_with_runs_of_its_suite(offered: None) -> None:
    figured = figure_out([row(run=info(suite="mini"), of=task(repository="sums"))], Wanted(diagnosed=0))
    assert figured.tables["mini_table"].rows == ((len(figured.tables) - 1,),)
    assert figured.sizes == {"code_lines": {"sums": 77.0}}
    assert "mini_table" not in figure_out([row(run=info(suite="other"))], Wanted(diagnosed=0)).tables


def test_the_bundled_benchmarks_are_offered() -> None:
    assert list(offered_tables()) == ["gittaskbench", "resq"]
    assert offered_tables()["gittaskbench"].sizes()["files"]


def test_no_module_of_the_report_imports_a_benchmark() -> None:
    root = Path(repoassay.report.__file__).parent
    guests = {root / "tables" / "beside.py", *(root / "published").glob("*.py")}
    for path in sorted(set(root.rglob("*.py")) - guests):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            assert not name.startswith(("repoassay.report.published", "repoassay.report.tables.beside")), path
            assert "gittaskbench" not in name, path
