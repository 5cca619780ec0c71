"""From a submission to a verdict, whatever the kind of task, and whatever became of the agent."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import repoassay
from repoassay.errors import RepoAssayError
from repoassay.grading.deliverable import grade_deliverable
from repoassay.sandbox import Sandbox, capabilities_of
from repoassay.tasks import TaskFolder
from repoassay.types import Ended, GradingIsolation, Outcome, Reading, Submission, TaskKind, Verdict

if TYPE_CHECKING:
    from repoassay.grading.oracle.oracle import Oracle
    from repoassay.workspace import PreparedTask

__all__ = ["fault", "judge", "name_isolation", "no_task", "not_gradable", "with_ending"]


def judge(
    folder: TaskFolder,
    layout: PreparedTask | None,
    files: Path,
    submission: Submission,
    sandbox: Sandbox,
    cancel: threading.Event | None = None,
    reading: Reading = Reading.FAIR,
    oracle: Oracle | None = None,
) -> Verdict:
    """Grade one submission in a second, fresh workspace.

    Args:
        folder: The task.
        layout: The task laid out; needed for changes of a repository alone.
        files: Folder of what was copied out: the output files, `changes.diff`, or a pull request's files.
        submission: How the agent ended and what was not copied out.
        sandbox: Where hidden tests and metrics run.
        cancel: Set to give up early; the verdict is then meaningless.
        reading: Which criteria of a deliverable decide.
        oracle: Compares values of changed code outside its sandbox.

    Raises:
        InfraFault: When grading itself fails.
    """
    if folder.task.steps:
        from repoassay.grading.step_verdicts import judge_steps

        assert layout is not None
        verdict = judge_steps(
            folder,
            layout,
            files,
            lambda step, laid, left: judge(step, laid, left, Submission(), sandbox, cancel, reading, oracle),
            cancel,
        )
    elif folder.task.kind.changes_repository:
        from repoassay.grading.edit import grade_edit  # half a second that outputs of other kinds need not wait for
        from repoassay.grading.pull_request import diff_name, notes_on, read_pull_request

        assert layout is not None
        diff = files / diff_name(folder.task.kind)
        verdict = grade_edit(
            folder,
            diff.read_bytes() if diff.is_file() else b"",
            sandbox,
            base=layout.base,
            environment=layout.environment,
            oracle=oracle,
            cancel=cancel,
        )
        if folder.task.kind is TaskKind.PULL_REQUEST:
            notes = notes_on(read_pull_request(files))
            verdict = verdict.model_copy(update={"comments": (*verdict.comments, *notes)})
    else:
        verdict = grade_deliverable(folder, files, sandbox, reading=reading, cancel=cancel)
    return name_isolation(with_ending(verdict, submission), sandbox)


def name_isolation(verdict: Verdict, sandbox: Sandbox) -> Verdict:
    """Name the isolation a verdict was given under; one that names its own keeps that."""
    if verdict.isolation is not None:
        return verdict
    isolation = GradingIsolation(kind=sandbox.name, grade=capabilities_of(sandbox).grade)
    return verdict.model_copy(update={"isolation": isolation})


def with_ending(verdict: Verdict, submission: Submission) -> Verdict:
    """Add what was not copied out, and let a time-out outrank what was graded: its result is never a pass."""
    notes = [f"{item.path}: {item.reason}." for item in submission.rejected[:20]]
    changes: dict[str, object] = {}
    ended = submission.exit.ended if submission.exit else None
    if ended is Ended.TIMED_OUT and verdict.outcome.whose is Outcome.TIMED_OUT.whose:
        notes.append("The agent ran out of time; what it had left was graded.")
        changes = {"outcome": Outcome.TIMED_OUT, "result": False}
    elif ended is Ended.OUT_OF_MEMORY:
        notes.append("The agent ran out of memory; what it had left was graded.")
    return verdict.model_copy(update={**changes, "comments": (*verdict.comments, *notes)})


def not_gradable(folder: TaskFolder, reading: Reading, absent: Sequence[str]) -> Verdict:
    """The verdict on a task that cannot even be attempted because the benchmark's own inputs are absent."""
    return Verdict(
        task=folder.task.id,
        task_digest=folder.digest,
        outcome=Outcome.NOT_GRADABLE,
        process=None,
        result=None,
        reading=reading,
        comments=(f"The benchmark's own data lacks the input {', '.join(absent)}, so no agent was set to work.",),
        grader=f"repoassay/{repoassay.__version__}",
        graded_at=datetime.now(UTC),
    )


def no_task(name: str, reason: str) -> Verdict:
    """The verdict on a patch for something that could not be made a task: unknown, and nobody's who made the patch."""
    return Verdict(
        task=name,
        task_digest="",
        outcome=Outcome.INFRA_FAULT,
        process=None,
        result=None,
        comments=(f"The row cannot be made a task: {reason}",),
        grader=f"repoassay/{repoassay.__version__}",
        graded_at=datetime.now(UTC),
    )


def fault(folder: TaskFolder, error: RepoAssayError, reading: Reading = Reading.FAIR) -> Verdict:
    """The verdict of an attempt that our own machinery spoiled: unknown, never false."""
    return Verdict(
        task=folder.task.id,
        task_digest=folder.digest,
        outcome=Outcome.INFRA_FAULT,
        process=None,
        result=None,
        reading=reading,
        comments=(str(error),),
        grader=f"repoassay/{repoassay.__version__}",
        graded_at=datetime.now(UTC),
    )
