"""`repoassay tasks lint`: of several suites, and of the files of a commit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from command_line import repoassay

MINI = Path(__file__).parents[1] / "assets" / "suites" / "mini"


@pytest.fixture
def suites(tmp_path: Path) -> Path:
    """Two suites, of which one has a task of no known kind."""
    for name in ("first", "second"):
        shutil.copytree(MINI, tmp_path / name)
    task = tmp_path / "second" / "tasks" / "sum-ledger" / "task.toml"
    task.write_text(task.read_text().replace('kind = "deliverable"', 'kind = "delivery"'))
    (tmp_path / "notes.md").touch()
    return tmp_path


def test_findings_of_several_suites_name_their_suite(suites: Path) -> None:
    done = repoassay("tasks", "lint", "first", "second", cwd=suites)
    assert done.returncode == 2 and "error: second/tasks/sum-ledger/task.toml: task.kind" in done.stdout
    assert "of 4 tasks are sound" in done.stdout


def test_of_files_the_tasks_they_lie_in_are_looked_at_once(suites: Path) -> None:
    inner = ("inputs/ledger.csv", "task.toml", "tests/gone.py")
    files = [f"second/tasks/sum-ledger/{name}" for name in inner]
    done = repoassay(
        "tasks", "lint", "--files", "notes.md", "first/tasks/sum-ledger/instruction.md", *files, cwd=suites
    )
    assert done.returncode == 2 and "1 of 2 tasks are sound" in done.stdout
    assert done.stdout.count("error: second/tasks/sum-ledger/task.toml: task.kind") == 1
    assert "of 2 tasks are sound" in repoassay("tasks", "lint", "--files", "first/suite.toml", cwd=suites).stdout
    none = repoassay("tasks", "lint", "--files", "notes.md", cwd=suites)
    assert (none.returncode, none.stdout) == (0, "0 of 0 tasks are sound; nothing to add.\n")
