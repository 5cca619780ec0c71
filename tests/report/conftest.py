"""Real run folders with fixed times and ids, and verdicts of every kind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import chromium
from repoassay.records import RunFolder
from repoassay.types import (
    Attempt,
    CriterionResult,
    Ended,
    Exit,
    Outcome,
    Plan,
    PlannedTask,
    SkippedFile,
    Submission,
    SubmittedFile,
    TaskKind,
    TestResult,
    Verdict,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

START = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
HOSTILE = "</script><script>alert(1)</script>\x1b[31m\u202egnp.exe\u202c [bold]&amp;\x00 <!-- ]]> 'x' \"y\" {{ 7*7 }}"
STATES: dict[Outcome, tuple[bool | None, bool | None]] = {
    Outcome.PASSED: (True, True),
    Outcome.FAILED: (True, False),
    Outcome.NO_OUTPUT: (False, False),
    Outcome.PATCH_FAILED: (False, False),
    Outcome.TIMED_OUT: (None, False),
    Outcome.BUDGET: (True, False),
    Outcome.TAMPERING: (False, False),
    Outcome.NOT_GRADABLE: (None, None),
    Outcome.INFRA_FAULT: (None, None),
}
MakeRun = Callable[..., RunFolder]
Put = Callable[..., Attempt]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Lay out a run: `make_run(tasks=3, agents=("a",), attempts=1, domains=("d",))`."""

    def make(
        tasks: int = 3,
        agents: Sequence[str] = ("alpha",),
        attempts: int = 1,
        domains: Sequence[str] = ("documents", "images", "web"),
        name: str = "run",
        title: str = "Task number",
    ) -> RunFolder:
        plan = Plan(
            id="01KG90000000000000000000RN",
            created=START,
            suite="mini",
            suite_version="1.2",
            suite_folder="/suites/mini",
            tasks=tuple(
                PlannedTask(
                    id=f"task-{number:02d}",
                    digest=f"{number:064x}",
                    folder=f"/suites/mini/tasks/task-{number:02d}",
                    title=f"{title} {number}",
                    kind=TaskKind.DELIVERABLE if number % 2 else TaskKind.EDIT,
                    domain=domains[number % len(domains)],
                )
                for number in range(1, tasks + 1)
            ),
            agents={agent: {"kind": "command", "command": f"run-{agent}"} for agent in agents},
            attempts=attempts,
            workers=2,
            isolation="namespaces",
            host={"system": "Linux 6.1", "cores": "4"},
            versions={"repoassay": "0.1.0", "python": "3.11.7"},
        )
        return RunFolder.create(tmp_path / name, plan)

    return make


@pytest.fixture
def put() -> Put:
    """Record one attempt: `put(run, "task-01", Outcome.FAILED, agent="alpha", number=1, retry_of=None, ...)`."""

    counter = itertools.count(1)

    def record(
        run: RunFolder,
        task: str,
        outcome: Outcome = Outcome.PASSED,
        *,
        agent: str = "alpha",
        number: int = 1,
        retry_of: str | None = None,
        seconds: float | None = 2.0,
        comments: tuple[str, ...] = (),
        log: bytes | None = b"line one\nline two\n",
        verdict: Verdict | None = None,
    ) -> Attempt:
        count = next(counter)
        digest = f"{int(task.rpartition('-')[2]):064x}"
        started = START + timedelta(minutes=count)
        attempt = Attempt(
            id=f"01KG9ATTEMPT00000000{count:06d}",
            run=run.plan.id,
            task=task,
            task_digest=digest,
            agent=agent,
            number=number,
            retry_of=retry_of,
            started=started,
            ended=started + timedelta(seconds=30),
            submission=a_submission(seconds, bad=outcome is not Outcome.PASSED),
        )
        process, result = STATES[outcome]
        run.record(
            attempt,
            verdict
            or Verdict(
                task=task,
                task_digest=digest,
                outcome=outcome,
                process=process,
                result=result,
                criteria=some_criteria(result),
                tests=some_tests(result),
                comments=comments,
                grader="repoassay/0.1.0",
                graded_at=started + timedelta(seconds=31),
                seconds=0.4,
            ),
        )
        if log is not None:
            (run.attempt_folder(attempt.id) / "log.txt").write_bytes(log)
        return attempt

    return record


def a_submission(seconds: float | None, *, bad: bool) -> Submission:
    ending = None
    if seconds is not None:
        ending = Exit(ended=Ended.EXITED, code=1 if bad else 0, wall=seconds, cpu=seconds / 2, peak_memory=88 * 2**20)
    return Submission(
        files=(SubmittedFile(path="output/report.csv", size=4321, sha256="ab" * 32),),
        rejected=(SkippedFile(path="output/link", reason="is a symbolic link"),) if bad else (),
        exit=ending,
    )


def some_criteria(result: bool | None) -> tuple[CriterionResult, ...]:
    return (
        CriterionResult(
            stage="process", metric="row_count", of="report.csv", value=12.0, threshold=">= 1", passed=True, unit="rows"
        ),
        CriterionResult(
            stage="result",
            metric="cell_accuracy",
            of="report.csv",
            against="truth:gt.csv",
            value=None if result is None else 0.9134 if result else 0.41,
            threshold=">= 0.9",
            passed=result,
            unit="ratio",
            comment="" if result else "7 cells differ",
        ),
    )


def some_tests(result: bool | None) -> tuple[TestResult, ...]:
    return (
        TestResult(id="test_a.py::test_reads", outcome="passed", seconds=0.01),
        TestResult(
            id="test_a.py::test_gap[é]",
            outcome="passed" if result else "failed",
            seconds=0.02,
            message="" if result else "AssertionError: 3 != 4\n  at line 7",
        ),
    )


@pytest.fixture
def varied(make_run: MakeRun, put: Put) -> RunFolder:
    """Two agents, ten tasks, every outcome, a retry chain, hostile strings, one slot unfinished, one torn line."""
    run = make_run(tasks=10, agents=("alpha", "beta"))
    for number, outcome in enumerate(Outcome, 1):
        comments = () if outcome is Outcome.PASSED else (f"Reason for {outcome.value}.", "A second remark.")
        put(run, f"task-{number:02d}", outcome, seconds=float(number * number), comments=comments)
        put(run, f"task-{number:02d}", Outcome.PASSED if number % 3 else outcome, agent="beta", seconds=number / 3)
    first = put(run, "task-10", Outcome.INFRA_FAULT, comments=("The disk was full.",), seconds=None)
    second = put(run, "task-10", Outcome.INFRA_FAULT, retry_of=first.id, comments=("Again.",), seconds=None)
    put(run, "task-10", Outcome.FAILED, retry_of=second.id, comments=(HOSTILE,), seconds=4.5, log=HOSTILE.encode())
    with run.journal.path.open("ab") as stream:
        stream.write(b'{"event":"fini')
    return run


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of thousands of attempts need not survive a power cut."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium."""
    yield from chromium()
