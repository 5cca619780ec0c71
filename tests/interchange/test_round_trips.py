"""A run with everything in it that runs have is the same after the way out of a format and back, as far as it holds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from ulid import ULID

from repoassay.interchange import import_run
from repoassay.records import FinishedAttempt, RunFolder, to_json
from repoassay.report import export_file, find_source, read_trajectory
from repoassay.types import (
    AgentEntry,
    Attempt,
    Observation,
    Outcome,
    OwnFigures,
    Plan,
    PlannedTask,
    Source,
    StepCall,
    Submission,
    TaskKind,
    Trajectory,
    TrajectoryStep,
    Usage,
    Verdict,
)

TIME = datetime(2026, 1, 1, 10, 0, tzinfo=UTC)
OUTCOMES = (Outcome.PASSED, Outcome.FAILED, Outcome.INFRA_FAULT, Outcome.NOT_GRADABLE, Outcome.NO_OUTPUT)
WORDS = "naïve – 日本語 🧪 \u202egnirts \x1b[31m"


def steps() -> Iterator[tuple[TrajectoryStep, ...]]:
    """What agents did: with everything, without figures, with half of a pair, and nothing but words."""
    call = StepCall(
        id="c", name="bash", arguments={"command": f"printf '{WORDS}'", "n": 1, "deep": {"a": [None, True]}}
    )
    image = Observation(call="c", text="[image: images/step_3.png]")
    yield (
        TrajectoryStep(index=1, source=Source.SYSTEM, text=WORDS),
        TrajectoryStep(index=2, source=Source.USER, text="Fix it."),
        TrajectoryStep(index=3, source=Source.AGENT, text=WORDS, reasoning="Why?\n", time=TIME, calls=(call,),
                       observations=(image,), usage=Usage(input=100, output=20, cached=60), dollars=Decimal("0.01")),
        TrajectoryStep(index=4, source=Source.AGENT, text="[helper] I help.", time=TIME + timedelta(seconds=5)),
        TrajectoryStep(index=5, source=Source.AGENT, text="Two at once.", calls=(
            StepCall(id="d", name="read", arguments={"path": "a"}), StepCall(id="e", name="read")),
            observations=(Observation(call="e", text="b"), Observation(call="d", text="a", failed=True))),
    )  # fmt: skip
    yield (TrajectoryStep(index=1, source=Source.AGENT, text="", calls=(call,)),)  # never answered, no tokens, no time
    yield (
        TrajectoryStep(index=1, source=Source.USER, text="Hello"),
        TrajectoryStep(index=2, source=Source.AGENT, text=" "),
    )


@pytest.fixture
def ours(tmp_path: Path) -> RunFolder:
    """Two tasks, attempted as often as there are outcomes, one with tokens but no dollars."""
    tasks = tuple(
        PlannedTask(id=name, digest="", folder="", title=name, kind=TaskKind.EDIT, domain="")
        for name in ("one.task", "two_ünïcode")
    )
    plan = Plan(
        id=str(ULID()), created=TIME, suite="mini", suite_version="1", suite_folder="", tasks=tasks,
        agents={"some agent": AgentEntry(kind="command")}, attempts=len(OUTCOMES), isolation="namespaces",
    )  # fmt: skip
    run = RunFolder.create(tmp_path / "ours", plan)
    kinds = tuple(steps())
    for task in tasks:
        for number, outcome in enumerate(OUTCOMES, 1):
            started = TIME + timedelta(minutes=number)
            attempt = Attempt(
                id=str(ULID()), run=plan.id, task=task.id, task_digest="", agent="some agent", number=number,
                started=started, ended=started + timedelta(seconds=90), submission=Submission(),
            )  # fmt: skip
            known = outcome not in (Outcome.INFRA_FAULT, Outcome.NOT_GRADABLE)
            verdict = Verdict(
                task=task.id, task_digest="", outcome=outcome, process=True if known else None,
                result=outcome is Outcome.PASSED if known else None, grader="repoassay 1", graded_at=TIME,
            )  # fmt: skip
            run.record(attempt, verdict)
            own = OwnFigures(usage=Usage(input=100, output=20, cached=60), calls=1) if number % 2 else OwnFigures()
            told = Trajectory(agent="some agent", model="m-1", steps=kinds[number % len(kinds)], own=own)
            place = run.path / "attempts" / attempt.id
            place.mkdir(exist_ok=True)
            (place / "trajectory.json").write_bytes(to_json(told))
    return run


def by_slot(run: RunFolder) -> dict[tuple[str, int], FinishedAttempt]:
    return {(found.attempt.task, found.attempt.number): found for found in run.finished()}


@pytest.mark.parametrize(("kind", "name"), [("atif", "run.jsonl"), ("inspect", "run.eval")])
def test_everything_a_format_can_hold_comes_back(kind: str, name: str, ours: RunFolder, tmp_path: Path) -> None:
    if kind == "inspect":
        pytest.importorskip("inspect_ai")
    export_file(find_source(str(ours.path), tmp_path), kind, tmp_path / name)
    there, again = by_slot(ours), by_slot(import_run(None, tmp_path / name, tmp_path / "again").run)
    assert there.keys() == again.keys() and len(again) == 2 * len(OUTCOMES)
    for slot, found in there.items():
        back = again[slot]
        one, other = read_trajectory(found.folder), read_trajectory(back.folder)
        assert one and other and one.steps == other.steps, slot
        assert (one.model, one.own.usage, one.own.dollars) == (other.model, other.own.usage, other.own.dollars), slot
        assert (found.attempt.agent, found.attempt.started, found.attempt.ended) == (
            back.attempt.agent, back.attempt.started, back.attempt.ended,
        )  # fmt: skip
        assert back.verdict.result is found.verdict.result, slot
        assert back.verdict.assurance is None and back.verdict.grader == "repoassay 1 (reported)"
    second = tmp_path / f"second-{name}"
    export_file(find_source(str(tmp_path / "again"), tmp_path), kind, second)
    third = by_slot(import_run(None, second, tmp_path / "third").run)
    for slot, found in again.items():
        one, other = read_trajectory(found.folder), read_trajectory(third[slot].folder)
        assert one and other and (one.steps, one.own) == (other.steps, other.own), slot
        assert found.verdict.result is third[slot].verdict.result, slot
