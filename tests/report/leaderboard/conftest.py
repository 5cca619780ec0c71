"""A run with a model, made through records and the model proxy's own journal, as a submission folder."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from repoassay.model_proxy.journal import CallJournal
from repoassay.records import RunFolder
from repoassay.report.leaderboard import Declarations, pack
from repoassay.types import (
    Attempt,
    CriterionResult,
    Economics,
    Ended,
    Exit,
    Outcome,
    Plan,
    PlannedTask,
    Spending,
    Submission,
    TaskKind,
    TestResult,
    Usage,
    Verdict,
)
from repoassay.types.calls import Call

START = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
NOW = START + timedelta(days=1)
MODEL = "vendor/model-1"
SYSTEM = f"solver @ {MODEL}"
DECLARED = Declarations(no_test_knowledge=True, every_attempt=True, no_human_help=True, one_attempt=True)
PLANNED = (
    ("a-reads", TaskKind.DELIVERABLE, Outcome.PASSED),
    ("b-sums", TaskKind.EDIT, Outcome.FAILED),
    ("c-draws", TaskKind.DELIVERABLE, Outcome.NO_OUTPUT),
    ("d-again", TaskKind.EDIT, Outcome.PASSED),
)
STATES = {
    Outcome.PASSED: (True, True),
    Outcome.FAILED: (True, False),
    Outcome.NO_OUTPUT: (False, False),
    Outcome.INFRA_FAULT: (None, None),
}
MakeRun = Callable[..., RunFolder]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """`make_run("name", SYSTEM, ident="1")`: four tasks, one of them spoiled by us at first and made again."""

    def make(name: str = "run", system: str = SYSTEM, ident: str = "1", days: int = 0) -> RunFolder:
        started = START + timedelta(days=days)
        plan = Plan(
            id=f"01KG9LEADERBOARDRUN000000{ident}",
            created=started,
            suite="mini",
            suite_version="1.2",
            suite_folder="/home/somebody/suites/mini",
            tasks=tuple(
                PlannedTask(
                    id=task,
                    digest=f"{place:064x}",
                    folder=f"/home/somebody/suites/mini/{task}",
                    title=task,
                    kind=kind,
                    domain="web",
                    economics=Economics(value=Decimal(20), low=Decimal(10), high=Decimal(30), source="made up"),
                )
                for place, (task, kind, _) in enumerate(PLANNED, 1)
            ),
            agents={system: {"kind": "command", "model": MODEL}},
            isolation="namespaces",
            versions={"repoassay": "0.1.0", "python": "3.11.7"},
        )
        run = RunFolder.create(tmp_path / name, plan)
        numbers = iter(range(1, 99))
        for place, (task, _, outcome) in enumerate(PLANNED, 1):
            first = _record(run, system, task, place, Outcome.INFRA_FAULT, next(numbers)) if place == 4 else None
            _record(run, system, task, place, outcome, next(numbers), retry_of=first)
        return run

    return make


@pytest.fixture
def handed_in(make_run: MakeRun, tmp_path: Path) -> Path:
    """A sound submission folder."""
    pack(make_run(), tmp_path / "handed-in", contact="somebody@example.org", declared=DECLARED, now=NOW)
    return tmp_path / "handed-in"


def _record(
    run: RunFolder, system: str, task: str, place: int, outcome: Outcome, count: int, retry_of: str | None = None
) -> str:
    name = f"01KG9ATT{count:018d}"
    started = run.plan.created + timedelta(minutes=count)
    folder = run.attempt_folder(name)
    folder.mkdir(parents=True)
    run.journal.append("started", attempt=name, task=task, agent=system, number=1)
    journal = CallJournal(folder / "usage.jsonl")
    usage = Usage(input=1000 * place, output=100 * place)
    for seq in (1, 2):
        journal.append(
            Call(attempt=name, seq=seq, at=started, answered=True, forwarded=True, status=200, served="model-1",
                 usage=usage, price=Decimal("0.25") * place)
        )  # fmt: skip
    journal.close()
    process, result = STATES[outcome]
    attempt = Attempt(
        id=name,
        run=run.plan.id,
        task=task,
        task_digest=f"{place:064x}",
        agent=system,
        retry_of=retry_of,
        started=started,
        ended=started + timedelta(seconds=30),
        submission=Submission(exit=Exit(ended=Ended.EXITED, code=0, wall=20.0)),
        settings=run.plan.agents[system].settings,
        spent=Spending(calls=2, usage=usage + usage, dollars=Decimal("0.5") * place,
                    dollars_known=Decimal("0.5") * place, models=("model-1",)),
    )  # fmt: skip
    graded = outcome is not Outcome.INFRA_FAULT
    verdict = Verdict(
        task=task,
        task_digest=f"{place:064x}",
        outcome=outcome,
        process=process,
        result=result,
        criteria=_criteria(outcome) if graded and place % 2 else (),
        tests=_tests(outcome) if graded and not place % 2 else (),
        grader="repoassay/0.1.0",
        graded_at=started + timedelta(seconds=31),
    )
    run.record(attempt, verdict)
    return name


def _criteria(outcome: Outcome) -> tuple[CriterionResult, ...]:
    passed = outcome is Outcome.PASSED
    opens = CriterionResult(stage="process", metric="opens", of="out.txt", value=float(passed), threshold="= 1",
                            passed=passed)  # fmt: skip
    like = CriterionResult(stage="result", metric="ssim", of="out.txt", value=0.9 if passed else 0.2,
                           threshold=">= 0.7", passed=passed)  # fmt: skip
    return (opens, like)


def _tests(outcome: Outcome) -> tuple[TestResult, ...]:
    return (
        TestResult(id="test_a.py::test_one", outcome="passed"),
        TestResult(id="test_a.py::test_two", outcome="passed" if outcome is Outcome.PASSED else "failed"),
    )
