"""Tables that a benchmark offers beside those of the runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from plugin_packages import write_package
from repoassay.report.report_tables import TableSelection, figure_out
from repoassay.report.tables.registry import offered_tables
from report.made_rows import info, row

OFFER = """
from repoassay.report.tables.registry import OfferedTables
from repoassay.report.tables.value import TableColumn, Table

def counted(tables):
    return [Table("mini_table", "Ours", "", (TableColumn("n", "n"),), ((len(tables),),))]

MINI = OfferedTables("mini", counted, lambda: {"code_lines": {"SUMS": 77.0}})
"""
PROGRAM = """
import sys
sys.path[:0] = sys.argv[1:]
from repoassay.report.report_tables import TableSelection, figure_out
from report.made_rows import info, row, task

ours = figure_out([row(run=info(suite="mini"), of=task(repository="sums"))], TableSelection(diagnosed=0))
assert ours.tables["mini_table"].rows == ((len(ours.tables) - 1,),), ours.tables["mini_table"]
assert ours.sizes == {"code_lines": {"sums": 77.0}}, ours.sizes
assert "mini_table" not in figure_out([row(run=info(suite="other"))], TableSelection(diagnosed=0)).tables
"""


def test_tables_and_sizes_of_a_plug_in_come_with_runs_of_its_suite(tmp_path: Path) -> None:
    write_package(tmp_path, "mini-tables", {"tables": {"mini": "mini_tables:MINI"}}, {"mini_tables": OFFER})
    tests = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(tests)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_bundled_benchmarks_are_offered() -> None:
    assert list(offered_tables()) == ["gittaskbench", "resq"]
    assert offered_tables()["gittaskbench"].sizes()["files"]
    assert "mini_table" not in figure_out([row(run=info(suite="mini"))], TableSelection(diagnosed=0)).tables
