"""Runs as rows: one for each place of each plan, whatever order attempts ended in, and what damaged runs say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.report import summarise
from repoassay.report.results import read_rows
from repoassay.types import Outcome


def test_rows_agree_with_the_summary(varied: RunFolder) -> None:
    rows = read_rows([varied.path])
    summary = summarise(varied)
    assert len(rows) == varied.plan.size
    assert [(row.agent, row.task) for row in rows] == [
        (agent, task.id) for agent in varied.plan.agents for task in varied.plan.tasks
    ]
    for agent in summary.agents:
        mine = [row for row in rows if row.agent == agent.name]
        assert sum(row.finished for row in mine) == agent.finished
        assert sum(row.result is True for row in mine) == agent.result.successes
        assert sum(row.result is None for row in mine) == agent.result.unknown
        assert sum(row.process is True for row in mine) == agent.process.successes
        assert sum(row.seconds or 0 for row in mine) == pytest.approx(agent.wall.total)


def test_a_retry_fills_the_place_and_what_is_unfinished_has_no_attempt(varied: RunFolder) -> None:
    rows = {(row.agent, row.task): row for row in read_rows([varied.path])}
    assert rows["alpha", "task-10"].outcome is Outcome.FAILED
    assert "[bold]" in rows["alpha", "task-10"].comment
    empty = rows["beta", "task-10"]
    assert (empty.outcome, empty.attempt, empty.folder, empty.process, empty.dollars) == (None, "", None, None, None)


def test_a_later_verdict_counts(make_run: Callable[..., RunFolder], put: Callable[..., Any]) -> None:
    run = make_run(tasks=1)
    attempt = put(run, "task-01", Outcome.FAILED)
    folder = run.attempt_folder(attempt.id)
    for number, outcome in ((2, "no_output"), (10, "passed")):
        verdict = json.loads((folder / "verdict.json").read_text())
        verdict.update(outcome=outcome, process=True, result=outcome == "passed")
        (folder / f"verdict.{number}.json").write_text(json.dumps(verdict))
    (row,) = read_rows([run.path])
    assert (row.outcome, row.result) == (Outcome.PASSED, True)


def test_names_are_taken_apart(make_run: Callable[..., RunFolder]) -> None:
    run = make_run(tasks=1, agents=("x",))
    plan = json.loads((run.path / "run.json").read_text())
    plan["agents"] = {
        "a @ p/m, timeout=60, max_iterations=3": {"kind": "a", "model": "p/m", "timeout": "60", "max_iterations": "3"},
        "b, timeout=5": {"kind": "b", "timeout": "5"},
        "c @ home": {"kind": "c"},
    }
    (run.path / "run.json").write_text(json.dumps(plan))
    rows = read_rows([run.path])
    assert [(row.framework, row.model) for row in rows] == [("a", "p/m"), ("b", ""), ("c @ home", "")]


def test_a_run_named_twice_is_refused_and_runs_of_one_name_are_told_apart(
    make_run: Callable[..., RunFolder], tmp_path: Path
) -> None:
    run = make_run(tasks=1)
    with pytest.raises(BadInput, match="same run"):
        read_rows([run.path, run.path])
    other = tmp_path / "other" / "run"
    other.mkdir(parents=True)
    (other / "run.json").write_text((run.path / "run.json").read_text().replace(run.plan.id, "ANOTHER"))
    titles = {row.run.title for row in read_rows([run.path, other])}
    assert len(titles) == 2
    assert "other/run" in titles


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("attempt.json", "{"), ("attempt.json", "[]"), ("verdict.json", '{"outcome": "great"}'), ("verdict.json", ""),
        ("attempt.json", '{"id":"other","task":"t","task_digest":"d","agent":"a","submission":{}}'),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_sentence(
    make_run: Callable[..., RunFolder], put: Callable[..., Any], file: str, text: str
) -> None:
    run = make_run(tasks=1)
    attempt = put(run, "task-01")
    (run.attempt_folder(attempt.id) / file).write_text(text)
    with pytest.raises(BadInput, match=attempt.id):
        read_rows([run.path])


@pytest.mark.parametrize(
    "change",
    [
        {"spent": {"dollars": "-1"}}, {"spent": {"dollars": "NaN"}}, {"spent": {"usage": {"input": -5}}},
        {"submission": {"exit": {"wall": -1}}}, {"number": "many"},
    ],
)  # fmt: skip
def test_impossible_figures_are_refused(
    make_run: Callable[..., RunFolder], put: Callable[..., Any], change: dict[str, Any]
) -> None:
    run = make_run(tasks=1)
    attempt = put(run, "task-01")
    path = run.attempt_folder(attempt.id) / "attempt.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(BadInput):
        read_rows([run.path])


@pytest.mark.parametrize("name", ["../../etc", "a/b", "", ".", "x" * 500, "a\nb"])
def test_an_id_that_leads_elsewhere_is_refused(make_run: Callable[..., RunFolder], name: str) -> None:
    run = make_run(tasks=1)
    run.journal.append("finished", attempt=name)
    with pytest.raises(BadInput, match="no id"):
        read_rows([run.path])


def test_links_are_not_followed(make_run: Callable[..., RunFolder], put: Callable[..., Any], tmp_path: Path) -> None:
    run = make_run(tasks=1)
    attempt = put(run, "task-01")
    path = run.attempt_folder(attempt.id) / "attempt.json"
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(BadInput):
        read_rows([run.path])
    path.unlink()
    path.mkdir()
    with pytest.raises(BadInput):
        read_rows([run.path])
