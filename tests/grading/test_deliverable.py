"""Verdicts on deliverables: the worker in its sandbox, what it may use, and whose fault what is."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import pytest

import repoassay
from bombs import WORKBOOKS
from repoassay.errors import InfraFault
from repoassay.grading.deliverable import Job, grade_deliverable, grade_deliverables
from repoassay.grading.outcome import judge
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Sandbox
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.tasks import TaskFolder, read_task
from repoassay.tasks.suite import find_suite
from repoassay.types import Ended, Exit, Limits, Outcome, SkippedFile, Submission

STARTER = Path(repoassay.__file__).parent / "benchmarks/starter/suite"


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    return open_sandbox("namespaces", Cache())


@pytest.fixture(scope="session")
def daily() -> TaskFolder:
    return find_suite("starter", only=["sensor-log-daily"]).tasks[0]


@pytest.fixture
def outputs(tmp_path: Path, daily: TaskFolder) -> Path:
    folder = tmp_path / "outputs"
    folder.mkdir()
    shutil.copyfile(daily.tests / "daily.csv", folder / "daily.csv")
    return folder


def test_the_truth_passes_with_every_value_shown(daily: TaskFolder, outputs: Path, sandbox: Sandbox) -> None:
    verdict = grade_deliverable(daily, outputs, sandbox)
    assert (verdict.outcome, verdict.process, verdict.result) == (Outcome.PASSED, True, True)
    assert all(item.value is not None and item.passed and item.threshold for item in verdict.criteria)
    assert {item.stage for item in verdict.criteria} == {"process", "result"}


def test_a_wrong_value_fails_and_says_what_was_measured(daily: TaskFolder, outputs: Path, sandbox: Sandbox) -> None:
    lines = (outputs / "daily.csv").read_text().splitlines()
    (outputs / "daily.csv").write_text("\n".join(lines[:10]) + "\n")
    verdict = grade_deliverable(daily, outputs, sandbox)
    assert (verdict.outcome, verdict.process, verdict.result) == (Outcome.FAILED, True, False)
    assert any(comment.startswith("daily.csv: table_rows is 9, needs = 18") for comment in verdict.comments)


def test_what_follows_the_first_failure_need_not_be_measured(
    daily: TaskFolder, outputs: Path, sandbox: Sandbox
) -> None:
    (outputs / "daily.csv").write_text("a,b\n1,2\n")
    jobs = [Job(daily, outputs), Job(daily, outputs, to_first_failure=True)]
    whole, brief = (each.verdict() for each in grade_deliverables(jobs, sandbox))
    assert (whole.outcome, brief.outcome) == (Outcome.FAILED, Outcome.FAILED)
    assert brief.comments == whole.comments[:1]
    assert [item.passed for item in brief.criteria] == [True, False, None, None]


@pytest.mark.parametrize("kind", ["missing", "empty", "link", "fifo", "folder"])
def test_what_is_no_file_is_no_output(daily: TaskFolder, outputs: Path, sandbox: Sandbox, kind: str) -> None:
    path = outputs / "daily.csv"
    path.unlink()
    if kind == "empty":
        path.touch()
    elif kind == "link":
        path.symlink_to(daily.tests / "daily.csv")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    verdict = grade_deliverable(daily, outputs, sandbox)
    assert (verdict.outcome, verdict.process, verdict.result) == (Outcome.NO_OUTPUT, False, False)
    assert verdict.comments[0].startswith("daily.csv: ")


@pytest.mark.long
def test_a_bomb_costs_one_verdict_and_keeps_to_the_limits(tmp_path: Path, sandbox: Sandbox) -> None:
    folder = find_suite("starter", only=["workbook-budget-build"]).tasks[0]
    with zipfile.ZipFile(tmp_path / "report.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        cells = "".join(f'<c r="A{n}" t="inlineStr"><is><t>x</t></is></c>' for n in range(1, 60))
        row = f"<row>{cells}</row>"
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", row * 60_000)
    limits = Limits(seconds=4, memory=200 * 2**20, disk=2**24, processes=64)
    verdict = grade_deliverable(folder, tmp_path, sandbox, limits=limits)
    assert verdict.outcome is Outcome.NO_OUTPUT
    assert "report.xlsx" in verdict.comments[0]


def bombed(tmp_path: Path, *names: str) -> list[Job]:
    folder = find_suite("starter", only=["workbook-budget-build"]).tasks[0]
    found = []
    for name in names:
        place = tmp_path / name
        place.mkdir()
        (place / "report.xlsx").write_bytes(WORKBOOKS[name]())
        found.append(Job(folder, place))
    return found


@pytest.mark.exhaustive  # of the quick tests, that of a worker in bad company has a workbook of this kind
def test_workbooks_that_take_for_ever_get_verdicts_and_the_rest_theirs(tmp_path: Path, sandbox: Sandbox) -> None:
    jobs = bombed(tmp_path, "merged", "dimension", "strings")
    jobs.append(Job(jobs[0].folder, jobs[0].folder.tests))
    found = [each.verdict() for each in grade_deliverables(jobs, sandbox, workers=2, limits=Limits(seconds=8))]
    assert [each.outcome for each in found] == [
        Outcome.NO_OUTPUT, Outcome.FAILED, Outcome.NO_OUTPUT, Outcome.PASSED
    ]  # fmt: skip
    assert all("takes more" in found[number].comments[0] for number in (0, 2))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["merged", "links", "cells", "strings", "archive"])
def test_every_bomb_gets_its_verdict_within_the_usual_limits(tmp_path: Path, sandbox: Sandbox, name: str) -> None:
    (job,) = bombed(tmp_path, name)
    assert grade_deliverable(job.folder, job.outputs, sandbox).outcome is Outcome.NO_OUTPUT


def changed(daily: TaskFolder, tmp_path: Path) -> Path:
    copy = tmp_path / daily.task.id
    shutil.copytree(daily.path, copy)
    return copy


def test_a_broken_truth_is_ours(daily: TaskFolder, outputs: Path, sandbox: Sandbox, tmp_path: Path) -> None:
    copy = changed(daily, tmp_path)
    (copy / "tests/daily.csv").write_bytes(b"\xff\xfe\0")
    with pytest.raises(InfraFault, match=r"daily\.csv cannot be read"):
        grade_deliverable(read_task(copy, repositories=STARTER / "repositories"), outputs, sandbox)


def test_a_metric_that_raises_is_ours_and_is_named(
    daily: TaskFolder, outputs: Path, sandbox: Sandbox, tmp_path: Path
) -> None:
    copy = changed(daily, tmp_path)
    document = (copy / "task.toml").read_text().replace('options = { format = "csv" }', 'options = { format = "hat" }')
    (copy / "task.toml").write_text(document)
    with pytest.raises(InfraFault, match=r"opens of daily\.csv failed: There is no format .hat."):
        grade_deliverable(read_task(copy, repositories=STARTER / "repositories"), outputs, sandbox)


def test_two_that_differ_in_one_letter_have_two_digests(daily: TaskFolder, tmp_path: Path) -> None:
    copy = changed(daily, tmp_path)
    (copy / "tests/daily.csv").write_text((copy / "tests/daily.csv").read_text().replace("0.611", "0.612"))
    assert read_task(copy, repositories=STARTER / "repositories").digest != daily.digest


@pytest.mark.parametrize(("ended", "outcome"), [(Ended.TIMED_OUT, Outcome.TIMED_OUT), (Ended.EXITED, Outcome.PASSED)])
def test_a_time_out_outranks_what_was_graded(
    daily: TaskFolder, outputs: Path, sandbox: Sandbox, ended: Ended, outcome: Outcome
) -> None:
    verdict = judge(daily, None, outputs, Submission(exit=Exit(ended=ended)), sandbox)
    assert verdict.outcome is outcome
    assert verdict.process is True
    assert verdict.result is (outcome is Outcome.PASSED)


def test_what_did_not_cross_is_named(daily: TaskFolder, outputs: Path, sandbox: Sandbox) -> None:
    (outputs / "daily.csv").unlink()
    left = Submission(rejected=(SkippedFile(path="daily.csv", reason="a symbolic link; only regular files cross"),))
    verdict = judge(daily, None, outputs, left, sandbox)
    assert verdict.outcome is Outcome.NO_OUTPUT
    assert "daily.csv: a symbolic link; only regular files cross." in verdict.comments


def test_running_out_of_memory_is_told(daily: TaskFolder, outputs: Path, sandbox: Sandbox) -> None:
    done = Submission(exit=Exit(ended=Ended.OUT_OF_MEMORY))
    verdict = judge(daily, None, outputs, done, sandbox)
    assert any("out of memory" in comment for comment in verdict.comments)
