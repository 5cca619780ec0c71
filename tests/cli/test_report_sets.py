"""`repoassay report` of several runs, and with --out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from json_answers import data_of
from repoassay.cli.main import cli
from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.types import Attempt, Outcome, Plan, PlannedTask, Submission, TaskKind, Verdict

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_run(path: Path, name: str = "R") -> Path:
    task = PlannedTask(id="t", digest="d", folder="/s/t", title="A task", kind=TaskKind.EDIT, domain="web")
    run = RunFolder.create(
        path,
        Plan(
            id=name, created=NOW, suite="mini", suite_version="1", suite_folder="/s", tasks=(task,),
            agents={"solo": {"kind": "reference"}}, isolation="none",
        ),
    )  # fmt: skip
    run.record(
        Attempt(id="A1", run=name, task="t", task_digest="d", agent="solo", started=NOW, ended=NOW,
                submission=Submission()),
        Verdict(task="t", task_digest="d", outcome=Outcome.PASSED, process=True, result=True, grader="g",
                graded_at=NOW),
    )  # fmt: skip
    return path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["report", *map(str, arguments)])


def test_several_runs_print_tables_and_write_nothing(tmp_path: Path) -> None:
    runs = [a_run(tmp_path / name, name) for name in ("one", "two")]
    before = sorted(tmp_path.rglob("*"))
    result = call(*runs)
    assert result.exit_code == 0, result.output
    assert "Frameworks and models" in result.stdout and "one" in result.stdout and "two" in result.stdout
    assert sorted(tmp_path.rglob("*")) == before


def test_json_is_alone_on_standard_output(tmp_path: Path) -> None:
    runs = [a_run(tmp_path / name, name) for name in ("one", "two")]
    document = data_of(call(*runs, "--json", "--out", tmp_path / "out", "--format", "md").stdout)
    assert [run["title"] for run in document["runs"]] == ["one", "two"]
    assert document["tables"][0]["name"] == "frameworks"
    assert (tmp_path / "out" / "tables" / "frameworks.md").is_file()
    assert not list((tmp_path / "out" / "plots").iterdir())


def test_one_run_with_out_leaves_the_run_alone_and_can_be_repeated(tmp_path: Path) -> None:
    run, out = a_run(tmp_path / "run"), tmp_path / "deep" / "out"
    before = sorted(run.rglob("*"))
    for _ in range(2):
        result = call(run, "--out", out, "--format", "csv")
        assert result.exit_code == 0, result.output
        assert f"HTML: {out / 'index.html'}" in result.stdout
    assert sorted(run.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "x", "--html", "y"], "--html"),
        (["--out", "x", "--no-html"], "--no-html"),
        (["--out", "x", "--format", "md,pdf"], "'pdf'"),
        (["--scores", "x"], "--out"),
        (["--beside", "published"], "--out"),
        (["--out", "x", "--scores", "none.csv"], "none.csv"),
        (["--out", "run/run.json"], "run.json"),
    ],
)
def test_what_does_not_fit_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = call(a_run(Path("run")), *arguments)
    assert isinstance(result.exception, SystemExit | BadInput)
    assert said in (str(result.exception) if isinstance(result.exception, BadInput) else result.output)


def test_a_run_given_twice_or_none(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    assert "same run" in str(call(run, run).exception)
    assert isinstance(call(run, tmp_path).exception, BadInput)
    assert call().exit_code == 2


def test_help_has_examples() -> None:
    text = call("--help").output
    assert "repoassay report runs/* --out report" in text
