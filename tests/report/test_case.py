"""The facts of an attempt, from the task while its folder is that of the plan, else from the plan."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.report.case import TaskFacts, case_of
from repoassay.tasks.suite import find_suite
from repoassay.types import Outcome, PlannedTask, Submission, SubmittedFile, TaskKind

MINI = Path(__file__).parents[1] / "assets" / "suites" / "mini"
DIFF = "--- a/src/sums/__init__.py\n+++ b/src/sums/__init__.py\n@@ -1 +1 @@\n-1\n+2\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MINI, tmp_path / "mini"))


def planned(suite: Path, task: str) -> PlannedTask:
    (folder,) = find_suite(suite, only=[task]).tasks
    return PlannedTask(
        id=task, digest=folder.digest, folder=str(folder.path), title="T", kind=folder.task.kind, domain="D",
        repository="sums", outputs=folder.task.outputs.files,
    )  # fmt: skip


def left(*names: str) -> Submission:
    return Submission(files=tuple(SubmittedFile(path=name, size=1, sha256="0" * 64) for name in names))


def test_a_task_that_is_there_tells_all_it_knows(suite: Path, tmp_path: Path) -> None:
    (suite / "tasks/sum-ledger/tests/ledger_of_truth.csv").write_text("a\n")
    (suite / "tasks/sum-ledger/tests/page_9.csv").write_text("a name an agent may choose\n")
    (suite / "tasks/sum-ledger/tests/gt.csv").write_text("a name of the repository, too\n")
    (suite / "repositories/sums/gt.csv").write_text("b\n")
    case = case_of(
        planned(suite, "sum-ledger"), tmp_path, Outcome.FAILED, TaskFacts(str(suite)), left("totals.csv", "b/c.txt")
    )
    assert case.repository == "sums"
    assert case.packages == ("sums",)
    assert case.expected == ("totals.csv",)
    assert case.inputs == ("ledger.csv",)
    assert case.left == ("totals.csv", "b/c.txt")
    assert case.outcome is Outcome.FAILED
    assert "ledger.csv" in case.instruction
    # The truth has the name of the deliverable, which the agent writes itself; gt.csv is in the repository.
    assert case.ground_truth == ("ledger_of_truth.csv",)
    assert not case.edit and not case.patch and not case.reference


def test_an_edit_has_its_patch_and_the_reference(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission/changes.diff").write_text(DIFF)
    case = case_of(planned(suite, "fix-total"), tmp_path, Outcome.FAILED, TaskFacts(str(suite)), left("changes.diff"))
    assert case.edit
    assert case.patch == DIFF
    assert case.reference.startswith(("diff", "---"))
    assert case.ground_truth == ()  # a test of that name is what an agent would write itself
    assert case.tests_named == ()


def test_a_patch_that_is_a_link_is_not_followed(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "submission").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "submission/changes.diff").symlink_to(tmp_path / "secret")
    assert case_of(planned(suite, "fix-total"), tmp_path, None, None, left()).patch == ""


@pytest.mark.parametrize("how", ["gone", "task gone", "changed", "broken", "linked"])
def test_else_the_plan_tells(suite: Path, tmp_path: Path, how: str) -> None:
    task = planned(suite, "sum-ledger")
    folder = suite / "tasks/sum-ledger"
    if how == "gone":
        shutil.rmtree(suite)
    elif how == "task gone":
        shutil.rmtree(folder)
    elif how == "changed":
        (folder / "instruction.md").write_text("Something else.\n")
    elif how == "broken":
        (folder / "task.toml").write_text("no = [")
    else:
        folder.rename(tmp_path / "moved")
        folder.symlink_to(tmp_path / "moved")
    case = case_of(task, tmp_path, Outcome.NO_OUTPUT, TaskFacts(str(suite)), left())
    assert (case.repository, case.expected, case.left, case.instruction) == ("sums", ("totals.csv",), (), "")


def test_unknown_stays_unknown(tmp_path: Path) -> None:
    case = case_of(None, tmp_path / "nowhere", None)
    assert case.left is None
    assert case.outcome is None
    (tmp_path / "attempt.json").write_text("{}")
    assert case_of(None, tmp_path, Outcome.FAILED).left is None


def test_one_object_reads_a_task_once(suite: Path, tmp_path: Path) -> None:
    facts, task = TaskFacts(str(suite)), planned(suite, "sum-ledger")
    first = facts.of(task)
    assert first is not None
    shutil.rmtree(suite)
    assert facts.of(task) is first
    assert TaskFacts("").of(task) is None
    assert task.kind is TaskKind.DELIVERABLE
    assert replace(first, left=("a",)) != first


def test_the_journal_of_the_network_is_read_as_far_as_it_goes(suite: Path, tmp_path: Path) -> None:
    lines = [
        '{"project": "sums", "file": "", "allowed": false, "rule": "name"}', "not json", "[]",
        '{"host": "pypi.org", "port": 443, "allowed": false, "rule": "sources"}', '{"host": 7, "allowed": "yes"}', "{}",
    ]  # fmt: skip
    (tmp_path / "network.jsonl").write_text("\n".join(lines) + "\n")
    case = case_of(planned(suite, "fix-total"), tmp_path, Outcome.FAILED)
    assert [(one.project, one.host, one.rule, one.allowed) for one in case.requests] == [
        ("sums", "", "name", False), ("", "pypi.org", "sources", False), ("", "7", "", False),
    ]  # fmt: skip
    assert case_of(planned(suite, "sum-ledger"), tmp_path, Outcome.FAILED).requests == ()
