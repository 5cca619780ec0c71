"""`repoassay tasks`: list, show and lint, as a person and as a program see them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.errors import RepoAssayError

MINI = Path(__file__).parents[1] / "assets/suites/mini"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MINI, tmp_path / "mini"))


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, ["tasks", *(str(word) for word in words)])


def said(*words: object) -> str:
    result = call(*words)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*words: object) -> RepoAssayError:
    error = call(*words).exception
    assert isinstance(error, RepoAssayError)
    return error


@pytest.mark.parametrize("verb", ["list", "show", "lint", "validate"])
def test_every_verb_has_help_with_examples(verb: str) -> None:
    assert verb in said("--help")
    assert "Examples:" in said(verb, "--help")


def test_list_prints_one_line_a_task_with_tabs() -> None:
    lines = said("list", MINI).splitlines()
    assert lines == [
        "mini\tfix-total\tedit\tSoftware\t3.00\tMake total count the first value",
        "mini\tsum-ledger\tdeliverable\tOffice documents\t5.00\tTotal a ledger by month",
    ]


def test_list_without_a_suite_lists_the_bundled_ones() -> None:
    lines = [line.split("\t") for line in said("list").splitlines()]
    assert {len(line) for line in lines} == {6}
    assert "starter" in {line[0] for line in lines}


def test_list_as_json() -> None:
    rows = data_of(said("list", MINI, "--json"))
    assert [row["id"] for row in rows] == ["fix-total", "sum-ledger"]
    assert len(rows[0]["digest"]) == 64


def test_list_makes_hostile_titles_harmless(suite: Path) -> None:
    file = suite / "tasks/fix-total/task.toml"
    file.write_text(file.read_text().replace("Make total", r"\u001b[2J\t\n[red]"))
    lines = said("list", suite).splitlines()
    assert len(lines) == 2
    assert r"\x1b[2J\t\n[red] count" in lines[0]


@pytest.mark.parametrize("words", [(MINI, "sum-ledger"), (MINI / "tasks/sum-ledger",)])
def test_show_says_everything(words: tuple[object, ...]) -> None:
    page = said("show", *words)
    for part in (
        "sum-ledger: Total a ledger by month", "deliverable", "bundled:sums", "ledger.csv", "totals.csv (at most",
        'opens of totals.csv = 1 (format = "csv")', "table_cells_f1 of totals.csv against truth:totals.csv >= 0.99",
        "every total present and nothing else", "60 s, memory 1 GiB", "$5.00 ($2.00 to $12.00; invented for the tests)",
        "digest:", "# Total a ledger", "one row a month",
    ):  # fmt: skip
        assert part in page


def test_show_an_edit() -> None:
    page = said("show", MINI, "fix-total")
    assert "must turn:    test_total.py::test_every_value_counts" in page
    assert "must stay:    test_total.py::TestLargest::test_largest" in page


def test_show_as_json() -> None:
    facts = data_of(said("show", MINI, "sum-ledger", "--json"))
    assert facts["task"]["grading"]["result"][0]["at_least"] == 0.99
    assert facts["instruction"].startswith("# Total")


def test_show_makes_a_hostile_instruction_harmless(suite: Path) -> None:
    (suite / "tasks/fix-total/instruction.md").write_text("\x1b]0;x\x07\tone\r\ntwo\u202e")
    assert "\\x1b]0;x\\x07\tone\\r\ntwo\\u202e\n" in said("show", suite, "fix-total")


def test_show_needs_to_know_which_task() -> None:
    error = refused("show", MINI)
    assert error.exit_code == 2
    assert "holds 2 tasks. Name one of them: fix-total, sum-ledger." in str(error)
    assert "Did you mean fix-total?" in str(refused("show", MINI, "fix-totals"))


def test_show_takes_no_globs() -> None:
    assert "has no task '*'" in str(refused("show", MINI, "*"))


def test_show_a_task_beside_broken_ones(suite: Path) -> None:
    (suite / "tasks/sum-ledger/task.toml").unlink()
    assert "fix-total" in said("show", suite, "fix-total")


def test_lint_of_what_is_sound() -> None:
    assert said("lint", MINI) == "2 of 2 tasks are sound; nothing to add.\n"


def test_lint_of_what_is_broken(suite: Path) -> None:
    (suite / "tasks/fix-total/solution/changes.diff").unlink()
    result = call("lint", suite)
    assert result.exit_code == 2
    assert "error: tasks/fix-total/solution/changes.diff: is missing. Add the reference solution" in result.output
    assert "1 of 2 tasks are sound; problems: 1, pieces of advice: 0." in result.output
    result = call("lint", suite, "--json")
    assert result.exit_code == 2
    facts = data_of(result.output)
    assert (facts["tasks"], facts["sound_tasks"]) == (2, 1)
    assert facts["findings"][0]["severity"] == "error"
    assert facts["findings"][0]["file"] == "tasks/fix-total/solution/changes.diff"


def test_lint_advice_counts_only_when_strict(suite: Path) -> None:
    file = suite / "tasks/fix-total/task.toml"
    file.write_text(file.read_text().partition("[economics]")[0])
    assert "advice: tasks/fix-total/task.toml: economics: is missing." in said("lint", suite)
    assert call("lint", suite, "--strict").exit_code == 2
    assert data_of(said("lint", suite, "--json"))["findings"][0]["severity"] == "advice"


@pytest.mark.parametrize("verb", ["list", "show", "lint"])
def test_a_suite_that_is_not_there(verb: str) -> None:
    error = refused(verb, "startr")
    assert error.exit_code == 2
    assert "Did you mean starter?" in str(error)


def test_help_needs_no_pydantic() -> None:
    """Imports of the heavy rooms wait until a verb runs, so that help is quick."""
    code = "import sys, repoassay.cli.tasks; sys.exit('pydantic' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
