"""Outputs graded by nodes: as on this machine, when nodes are lost, and when they lie; and patches when they lie."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repoassay.engine import GradingContext, SubmissionEngine, grade_outputs
from repoassay.engine.output_cluster import GradedOutput
from repoassay.engine.submission_cluster import JudgedSubmission
from repoassay.errors import BadInput
from repoassay.grading import names
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import SuiteFolder, find_suite
from repoassay.types import Outcome, Verdict
from unreliable_nodes import LyingExecutor

LOCAL, LOSING, LYING = (
    "repoassay.executors.local:LocalExecutor", "unreliable_nodes:LosingExecutor", "unreliable_nodes:LyingExecutor",
)  # fmt: skip
EDIT, DAILY, OUTAGES, BOOK = (
    "edit-ledger-monthly", "sensor-log-daily", "sensor-log-outages", "workbook-readings-json",
)  # fmt: skip


@pytest.fixture(scope="module")
def suite() -> SuiteFolder:
    return find_suite("starter", only=[EDIT, DAILY, OUTAGES, BOOK], metrics=names())


@pytest.fixture
def bench(suite: SuiteFolder) -> Iterator[GradingContext]:
    cache = Cache()
    found = GradingContext(suite.repositories, cache, open_sandbox("namespaces", cache))
    yield found
    found.oracle.close()


def right_outputs(suite: SuiteFolder, place: Path) -> Path:
    for folder in suite.tasks:
        source = folder.solution if folder.task.kind.changes_repository else folder.tests
        shutil.copytree(source, place / folder.task.id)
    return place


def said(verdict: Verdict) -> dict[str, Any]:
    told = verdict.model_dump(exclude={"graded_at", "seconds"})
    return told | {"tests": [(test.id, test.outcome) for test in verdict.tests]}


def test_verdicts_are_those_of_this_machine_whatever_lies_there(
    tmp_path: Path, suite: SuiteFolder, bench: GradingContext
) -> None:
    outputs = right_outputs(suite, tmp_path / "outputs")
    (outputs / EDIT / "changes.diff").rename(outputs / EDIT / "mine.patch")
    (outputs / EDIT / "more").symlink_to("/etc")
    (outputs / DAILY / "daily.csv").unlink()
    (outputs / DAILY / "daily.csv").symlink_to(suite.tasks[0].path / "task.toml")
    shutil.rmtree(outputs / OUTAGES)
    here = list(grade_outputs(suite, outputs, bench))
    there = list(grade_outputs(suite, outputs, bench, 2, executor=LOCAL))
    assert [(each.task, each.outcome) for each in here] == [
        (EDIT, Outcome.PASSED), (DAILY, Outcome.NO_OUTPUT), (OUTAGES, Outcome.NO_OUTPUT), (BOOK, Outcome.PASSED),
    ]  # fmt: skip
    assert [said(each) for each in there] == [said(each) for each in here]


@pytest.mark.long
def test_outputs_of_lost_nodes_are_graded_by_others(tmp_path: Path, suite: SuiteFolder, bench: GradingContext) -> None:
    outputs = right_outputs(suite, tmp_path / "outputs")
    found = list(grade_outputs(suite, outputs, bench, executor=LOSING))
    assert [(each.task, each.outcome) for each in found] == [
        (name, Outcome.PASSED) for name in (EDIT, DAILY, OUTAGES, BOOK)
    ]


def test_a_verdict_on_another_task_is_a_fault_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suite: SuiteFolder, bench: GradingContext
) -> None:
    def lie(answer: GradedOutput) -> GradedOutput:
        if answer.verdict.task != DAILY:
            return answer
        return GradedOutput(verdict=answer.verdict.model_copy(update={"task": BOOK}))

    monkeypatch.setattr(LyingExecutor, "lie", staticmethod(lie))
    outputs = right_outputs(suite, tmp_path / "outputs")
    found = {each.task: each for each in grade_outputs(suite, outputs, bench, executor=LYING)}
    assert {name: each.outcome for name, each in found.items()} == {
        EDIT: Outcome.PASSED, DAILY: Outcome.INFRA_FAULT, OUTAGES: Outcome.PASSED, BOOK: Outcome.PASSED,
    }  # fmt: skip
    assert "another task" in found[DAILY].comments[0]


def test_whoever_stops_reading_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suite: SuiteFolder, bench: GradingContext
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    outputs = right_outputs(suite, tmp_path / "outputs")
    found = grade_outputs(suite, outputs, bench, executor=LOCAL)
    assert next(found).task == EDIT
    found.close()  # type: ignore[attr-defined]
    assert not list((tmp_path / "temporary").glob("repoassay-output*"))
    with pytest.raises(BadInput, match="no executor"):
        next(grade_outputs(suite, outputs, bench, executor="rya"))


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [{"verdicts": ()}, {"task": "another-task"}, {"task_digest": "0" * 64}],
    ids=str,
)
def test_patches_without_a_verdict_on_their_task_are_a_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch, suite: SuiteFolder, bench: GradingContext, change: dict[str, Any]
) -> None:
    def lie(answer: JudgedSubmission) -> JudgedSubmission:
        if "verdicts" in change:
            return answer.model_copy(update=change)
        return answer.model_copy(update={"verdicts": tuple(each.model_copy(update=change) for each in answer.verdicts)})

    monkeypatch.setattr(LyingExecutor, "lie", staticmethod(lie))
    tasks = {folder.task.id: folder for folder in suite.tasks if folder.task.id == EDIT}
    with SubmissionEngine(tasks, replace(bench), 1, executor=LYING) as engine:
        (answer,) = engine.grade_many([(EDIT, (tasks[EDIT].solution / "changes.diff").read_bytes())])
    assert answer.verdict.outcome is Outcome.INFRA_FAULT
    assert "A node" in answer.verdict.comments[0]
