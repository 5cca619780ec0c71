"""Linting lists problems, and gives advice on sound tasks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from repoassay.tasks import Advice, lint

MINI = Path(__file__).parents[1] / "assets/suites/mini"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MINI, tmp_path / "mini")) / "tasks/sum-ledger"


def advice(folder: Path) -> list[str]:
    found = lint(folder, repositories=folder.parents[1] / "repositories")
    assert all(isinstance(item, Advice) for item in found)
    return [str(item) for item in found]


def change(file: Path, old: str, new: str) -> None:
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_nothing_is_to_be_said_of_good_tasks(folder: Path) -> None:
    assert advice(folder) == []
    assert advice(folder.parent / "fix-total") == []


def test_problems_are_listed_without_advice(folder: Path) -> None:
    (folder / "solution/solve.py").unlink()
    change(folder / "instruction.md", "totals.csv", "tests/totals")
    found = lint(folder, repositories=folder.parents[1] / "repositories", metrics=["opens"])
    assert [(type(item).__name__, item.key) for item in found] == [
        ("Problem", "grading.result[0].metric"),
        ("Problem", ""),
    ]


@pytest.mark.parametrize("text", ["See tests/totals.csv.", "as `solution/solve.py` does", "(./tests/)"])
def test_an_instruction_that_names_what_is_hidden(folder: Path, text: str) -> None:
    with (folder / "instruction.md").open("a") as stream:
        stream.write(text)
    assert len(advice(folder)) == 1
    assert "which the agent does not see" in advice(folder)[0]


@pytest.mark.parametrize("text", ["/workspace/repo/tests/ and repo/solution/", "contests/ resolution/"])
def test_an_instruction_that_names_something_else(folder: Path, text: str) -> None:
    with (folder / "instruction.md").open("a") as stream:
        stream.write(text)
    assert advice(folder) == []


def test_an_output_the_instruction_does_not_name(folder: Path) -> None:
    change(folder / "instruction.md", "totals.csv", "a table")
    assert advice(folder) == ["instruction.md: does not name the output 'totals.csv'. Say that it is expected."]


def test_a_criterion_without_reason(folder: Path) -> None:
    change(folder / "task.toml", 'why = "the output must be a table"', "")
    assert advice(folder) == ["task.toml: grading.process[0].why: is missing. Say what the threshold rests on."]


def test_no_economics_and_no_licences(folder: Path) -> None:
    text = (folder / "task.toml").read_text().partition("[economics]")[0]
    (folder / "task.toml").write_text(text.replace('"Apache-2.0"', '""'))
    assert [item.split(":")[1].strip() for item in advice(folder)] == [
        "economics",
        "task.licence",
        "repository.licence",
    ]


def test_a_solution_that_is_an_input(folder: Path) -> None:
    shutil.copy(folder / "inputs/ledger.csv", folder / "solution/totals.csv")
    assert advice(folder)[0].startswith("solution/totals.csv: is byte for byte the input 'ledger.csv'.")


def test_an_edit_task_whose_environment_lacks_pytest(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit = folder.parent / "fix-total"

    def problems() -> list[str]:
        return [str(item) for item in lint(edit, repositories=edit.parents[1] / "repositories")]

    monkeypatch.setattr("repoassay.tasks.linter.find_spec", lambda name: None)
    assert "the Python of this RepoAssay has no pytest" in problems()[0]
    (edit / "environment").mkdir()
    (edit / "environment" / "requirements.txt").write_text("tabulate==0.9.0 --hash=sha256:" + 64 * "0" + "\n")
    change(edit / "task.toml", "[environment]\n", '[environment]\nrequirements = "environment/requirements.txt"\n')
    assert "environment/requirements.txt: names no pytest, which runs the hidden tests." in problems()[0]
    with (edit / "environment" / "requirements.txt").open("a") as stream:
        stream.write("pytest==9.0.1 --hash=sha256:" + 64 * "1" + "\n")
    assert problems() == []
