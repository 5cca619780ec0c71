"""Judging an imported run here: its patches and files against the suite's own tasks, as if they had just come.

A verdict that names a reporter as its grader is not ours yet, which is how judging that was stopped goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from repoassay.engine import GradingContext
from repoassay.errors import BadInput, InfraFault, Interrupted, Unavailable
from repoassay.grading import fault, judge
from repoassay.records import FinishedAttempt, RunFolder
from repoassay.tasks import SuiteFolder, TaskFolder
from repoassay.text import printable
from repoassay.types import Attribution, Verdict
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

    The new verdict replaces the reported one, and a comment keeps what was reported. A fault of ours leaves the
    report as it is.

    Raises:
        BadInput: The suite has none of the run's tasks.
        Interrupted: `cancel` was set; what was judged is kept.
    """
    tasks = {folder.task.id: folder for folder in suite.tasks}
    fitting = [found for found in run.finished() if found.attempt.task in tasks and found.attempt.submission.files]
    waiting = [found for found in fitting if found.verdict.grader.endswith(_REPORTED)]
    if not fitting:
        raise BadInput(
            f"The suite {suite.suite.name} has no task of which this run holds a submission.", "Name another --suite."
        )
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
                if verdict.outcome.whose is Attribution.OURS:
                    progress(found, verdict)
                    continue
                said = f"{found.verdict.grader.removesuffix(_REPORTED)} reported {found.verdict.outcome.value}."
                run.add_verdict(found.attempt.id, verdict.model_copy(update={"comments": (*verdict.comments, said)}))
                done += 1
                progress(found, verdict)
        finally:
            if any(not future.done() for _, future in futures):
                cancel.set()
            for _, future in futures:
                future.cancel()
    return done


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
        return fault(folder, error, bench.reading)
