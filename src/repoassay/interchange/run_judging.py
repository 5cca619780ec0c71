"""Judging an imported run here: its patches and files against the suite's own tasks, as if they had just come.

A verdict that names a reporter as its grader, or a fault of ours, is none yet: so judging that was stopped goes on.
What cannot be judged is unknown afterwards, since no rate is to mix verdicts with what was claimed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import repoassay
from repoassay.engine import GradingContext
from repoassay.errors import BadInput, InfraFault, Interrupted, Unavailable
from repoassay.grading import fault, judge, name_isolation
from repoassay.records import FinishedAttempt, RunFolder
from repoassay.tasks import SuiteFolder, TaskFolder
from repoassay.text import printable
from repoassay.types import Attribution, Outcome, Verdict
from repoassay.workspace import lay_out

__all__ = ["begun_run", "judge_run"]

_REPORTED = " (reported)"


def begun_run(folder: Path, source: Path, suite: SuiteFolder) -> RunFolder | None:
    """The run folder that an import of this source for this suite made before; None where there is none.

    Raises:
        BadInput: There is a run folder that came from elsewhere, or was made on another suite.
    """
    if not (folder / "run.json").is_file():
        return None
    run = RunFolder(folder)
    origin, name = run.plan.origin, printable(source.resolve().name, 200)
    if origin is None or origin.source != name or run.plan.suite != suite.suite.name:
        raise BadInput(
            f"{folder} is a run, and not one that was imported from {name} for {suite.suite.name}.",
            "Choose another --out; runs are never overwritten.",
        )
    return run


def judge_run(
    run: RunFolder,
    suite: SuiteFolder,
    bench: GradingContext,
    *,
    workers: int = 1,
    cancel: threading.Event | None = None,
    progress: Callable[[FinishedAttempt, Verdict], None] = lambda found, verdict: None,
) -> int:
    """Judge every attempt whose task the suite has and that handed something in; returns how many were judged now.

    Attempts that were judged here before are passed over.

    The new verdict replaces the reported one, and a comment keeps what was reported. Passes and failures that are
    claimed of attempts that cannot be judged, and those that a fault of ours spoils, become unknown.

    Raises:
        BadInput: The suite has none of the run's tasks.
        Interrupted: `cancel` was set; what was judged is kept.
    """
    tasks = {folder.task.id: folder for folder in suite.tasks}
    every = list(run.finished())
    if all(_obstacle(found, tasks) for found in every):
        raise BadInput(
            f"The suite {suite.suite.name} has no task of which this run holds a submission.", "Name another --suite."
        )
    waiting: list[FinishedAttempt] = []
    for found in every:
        obstacle, reported = _obstacle(found, tasks), found.verdict.grader.endswith(_REPORTED)
        if not obstacle and (reported or found.verdict.outcome.whose is Attribution.OURS):
            waiting.append(found)
        elif obstacle and reported and found.verdict.outcome in (Outcome.PASSED, Outcome.FAILED):
            run.add_verdict(found.attempt.id, _unjudged(found, obstacle))
    cancel = cancel or threading.Event()
    done = 0
    with ThreadPoolExecutor(max(1, workers)) as pool:
        futures: list[tuple[FinishedAttempt, Future[Verdict]]] = [
            (found, pool.submit(_judge, found, tasks[found.attempt.task], bench, cancel)) for found in waiting
        ]
        try:
            for found, future in futures:
                verdict = future.result()
                if cancel.is_set():
                    raise Interrupted(f"Stopped; {done} verdicts are kept.", "The same call goes on where it was.")
                claim = _claim(found)
                run.add_verdict(found.attempt.id, verdict.model_copy(update={"comments": (*verdict.comments, claim)}))
                done += verdict.outcome.whose is not Attribution.OURS
                progress(found, verdict)
        finally:
            if any(not future.done() for _, future in futures):
                cancel.set()
            for _, future in futures:
                future.cancel()
    return done


def _obstacle(found: FinishedAttempt, tasks: Mapping[str, TaskFolder]) -> str:
    """Why an attempt cannot be judged; empty where it can."""
    folder, files = tasks.get(found.attempt.task), found.attempt.submission.files
    if folder is None:
        return "the suite has no such task"
    if not files:
        return "nothing that was handed in is kept"
    if not folder.task.kind.changes_repository and [file.path for file in files] == ["changes.diff"]:
        return "the task asks for files, and a patch is kept alone"
    return ""


def _claim(found: FinishedAttempt) -> str:
    """What was reported of an attempt, which a verdict that a fault of ours spoiled has as its last comment."""
    whose = found.verdict.grader
    if not whose.endswith(_REPORTED):
        return found.verdict.comments[-1]
    return f"{whose.removesuffix(_REPORTED)} reported {found.verdict.outcome.value}."


def _unjudged(found: FinishedAttempt, obstacle: str) -> Verdict:
    return Verdict(
        task=found.attempt.task,
        task_digest=found.attempt.task_digest,
        outcome=Outcome.NOT_GRADABLE,
        process=None,
        result=None,
        comments=(f"It cannot be judged here: {obstacle}.", _claim(found)),
        grader=f"repoassay/{repoassay.__version__}",
        graded_at=datetime.now(UTC),
    )


def _judge(found: FinishedAttempt, folder: TaskFolder, bench: GradingContext, cancel: threading.Event) -> Verdict:
    if cancel.is_set():
        return found.verdict
    try:
        layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
        files = found.folder / "submission"
        return judge(
            folder, layout, files, found.attempt.submission, bench.sandbox, cancel, bench.reading, bench.oracle
        )
    except (InfraFault, Unavailable) as error:
        return name_isolation(fault(folder, error, bench.reading), bench.sandbox)
