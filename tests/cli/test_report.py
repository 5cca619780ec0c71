"""`repoassay report`: table, JSON, page, and what it says when there is nothing to report."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from json_answers import data_of
from repoassay.api import load_run
from repoassay.cli.main import cli
from repoassay.cli.report import print_report
from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.types import Attempt, Outcome, Plan, PlannedTask, Submission, TaskKind, Verdict

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_run(path: Path, suite: str = "mini") -> RunFolder:
    task = PlannedTask(id="t", digest="d", folder="/s/t", title="A task", kind=TaskKind.EDIT, domain="web")
    run = RunFolder.create(
        path,
        Plan(
            id="R", created=NOW, suite=suite, suite_version="1", suite_folder="/s", tasks=(task,),
            agents={"solo": {"kind": "reference"}}, isolation="none",
        ),
    )  # fmt: skip
    attempt = Attempt(
        id="A1", run="R", task="t", task_digest="d", agent="solo", started=NOW, ended=NOW, submission=Submission()
    )
    verdict = Verdict(
        task="t", task_digest="d", outcome=Outcome.PASSED, process=True, result=True, grader="g", graded_at=NOW
    )
    run.record(attempt, verdict)
    return run


def call(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["report", *arguments])


def test_it_prints_the_table_and_where_the_page_is(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    result = call(str(run.path))
    assert result.exit_code == 0, result.output
    assert "1/1 100.0% [20.7, 100.0]" in result.stdout
    assert f"HTML: {run.path / 'report.html'}" in result.stdout
    assert "This run had no isolation." in (run.path / "report.html").read_text()


def test_json_is_alone_on_standard_output(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    result = call(str(run.path), "--json")
    assert data_of(result.stdout)["agents"][0]["tpr"]["all"]["n"] == 1
    assert "report.html" in result.stderr


def test_the_page_goes_where_it_is_wanted_or_nowhere(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    assert "HTML" not in call(str(run.path), "--no-html").output
    assert call(str(run.path), "--html", str(tmp_path / "other.html")).exit_code == 0
    assert not (run.path / "report.html").exists()
    assert (tmp_path / "other.html").exists()


def test_latest_is_the_newest_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    a_run(tmp_path / "runs" / "20260101-000000-x", "older")
    a_run(tmp_path / "runs" / "20260102-000000-x", "newer")
    result = call("latest", "--no-html")
    assert "newer 1" in result.output and "older" not in result.output


@pytest.mark.parametrize("where", ["latest", "nowhere", "."])
def test_no_run_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.chdir(tmp_path)
    result = call(where)
    assert isinstance(result.exception, BadInput)
    assert "\n" not in str(result.exception)


def test_options_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    result = call(str(a_run(tmp_path / "run").path), "--no-html", "--html", "x.html")
    assert result.exit_code == 2
    assert "contradict" in result.output


def test_it_can_be_called_after_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, file = a_run(tmp_path / "run"), io.StringIO()
    path = print_report(load_run(run.path), Console(file=file, width=80))
    assert path == run.path / "report.html"
    assert "solo" in file.getvalue()
    assert str(path) in capsys.readouterr().out


def test_help_has_examples() -> None:
    assert "repoassay report latest --json" in call("--help").output
