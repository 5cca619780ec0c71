"""Runs written as evaluation logs of Inspect, read by Inspect itself, and read back."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from ulid import ULID

from mini_runs import DIFF, write_run
from repoassay.errors import BadInput
from repoassay.interchange import import_run, score_of_verdict
from repoassay.records import FinishedAttempt, RunFolder, to_json
from repoassay.report import export_file, find_source, read_trajectory
from repoassay.types import (
    AgentEntry,
    Assurance,
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
    TestResult,
    Trajectory,
    TrajectoryStep,
    Usage,
    Verdict,
)

pytest.importorskip("inspect_ai")

PEERS = {"inspect": "inspect-ai", "inspect-logs": "inspect-ai"}
TIME = datetime(2026, 1, 1, 10, 0, tzinfo=UTC)
STEPS = (
    TrajectoryStep(index=1, source=Source.SYSTEM, text="You are."),
    TrajectoryStep(index=2, source=Source.USER, text="Fix it.\n" * 2000),
    TrajectoryStep(
        index=3, source=Source.AGENT, text="I look.", reasoning="Where?", time=TIME, dollars=Decimal("0.0123"),
        usage=Usage(input=100, output=20, cached=60, cache_write=10, reasoning=5),
        calls=(StepCall(id="a", name="bash", arguments={"cmd": "ls"}), StepCall(id="b", name="edit", arguments={})),
        observations=(Observation(call="a", text="x.py\n" * 500), Observation(call="b", text="no", failed=True)),
    ),
    TrajectoryStep(index=4, source=Source.AGENT, text="\x1b[31mdone\u202e", usage=Usage(input=3, output=1),
                   dollars=Decimal("0.5")),
)  # fmt: skip


def by_slot(run: RunFolder) -> dict[tuple[str, int], FinishedAttempt]:
    """Attempts of a run."""
    return {(found.attempt.task, found.attempt.number): found for found in run.finished()}


def written(run: Path, place: Path, kind: str = "inspect") -> Path:
    export_file(find_source(str(run), place), kind, place)
    return place


def inspect(*words: str | Path) -> str:
    """What Inspect's own command prints."""
    done = subprocess.run(
        [Path(sys.executable).with_name("inspect"), *words], capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def first(tmp_path: Path) -> RunFolder:
    """A run of two tasks, in one of which everything happens that the format can hold."""
    run = import_run(None, write_run(tmp_path / "theirs", {"a__b-1": DIFF, "a__b-2": ""}), tmp_path / "one").run
    found = by_slot(run)["a__b-1", 1]
    own = OwnFigures(usage=Usage(input=103, output=21, cached=60, cache_write=10, reasoning=5), calls=2,
                     dollars=Decimal("0.5123"))  # fmt: skip
    rich = Trajectory(agent="mini", model="some-model-1", steps=STEPS, own=own)
    (found.folder / "trajectory.json").write_bytes(to_json(rich))
    return run


def test_a_run_is_the_same_after_the_way_out_and_in(first: RunFolder, tmp_path: Path) -> None:
    second = import_run(None, written(first.path, tmp_path / "run.eval"), tmp_path / "two").run
    there, again = by_slot(first), by_slot(second)
    assert there.keys() == again.keys()
    for slot, found in there.items():
        back = again[slot]
        one, other = read_trajectory(found.folder), read_trajectory(back.folder)
        assert one and other and one.steps == other.steps and one.model == other.model
        assert found.verdict.outcome is back.verdict.outcome
        for fact in ("agent", "started", "ended"):
            assert getattr(found.attempt, fact) == getattr(back.attempt, fact), fact
        assert found.attempt.submission.files == back.attempt.submission.files
        assert back.verdict.grader.removesuffix(" (reported)") == found.verdict.grader.removesuffix(" (reported)")
    spent = [found.attempt.spent for found in (there["a__b-2", 1], again["a__b-2", 1])]
    assert spent[0] and spent[1]
    assert (spent[0].usage, spent[0].dollars, spent[0].calls) == (spent[1].usage, spent[1].dollars, spent[1].calls)


@pytest.mark.long
def test_inspect_itself_reads_what_is_written(first: RunFolder, tmp_path: Path) -> None:
    log = json.loads(inspect("log", "dump", written(first.path, tmp_path / "run.eval")))
    assert log["status"] == "success" and log["eval"]["solver"] == "mini-swe-agent"
    assert log["results"]["total_samples"] == 2
    sample = log["samples"][0]
    roles = [message["role"] for message in sample["messages"]]
    assert (sample["id"], roles) == ("a__b-1", ["system", "user", "assistant", "tool", "tool", "assistant"])
    assert sample["messages"][2]["tool_calls"][0]["arguments"] == {"cmd": "ls"}
    assert sample["model_usage"]["some-model-1"]["total_cost"] == 0.25  # what the run says was spent
    assert "no output" in log["samples"][1]["scores"]["verdict"]["explanation"]
    from inspect_ai.log import read_eval_log

    assert [event.event for event in (read_eval_log(str(tmp_path / "run.eval")).samples or [])[0].events] == [
        "model", "tool", "tool", "model",
    ]  # fmt: skip


def verdict_of(outcome: Outcome, **more: Any) -> Verdict:
    known = outcome not in (Outcome.INFRA_FAULT, Outcome.NOT_GRADABLE)
    passed = outcome is Outcome.PASSED
    return Verdict(
        task="a__b-1", task_digest="", outcome=outcome, process=True if known else None,
        result=passed if known else None, grader="repoassay 1", graded_at=TIME, **more,
    )  # fmt: skip


@pytest.mark.parametrize("outcome", Outcome)
def test_each_outcome_is_a_score_that_blames_nobody_wrongly(outcome: Outcome, first: RunFolder, tmp_path: Path) -> None:
    found = by_slot(first)["a__b-1", 1]
    tests = (TestResult(id="t::a", outcome="passed"), TestResult(id="t::\x1b[2J", outcome="failed"))
    first.add_verdict(
        found.attempt.id, verdict_of(outcome, tests=tests, assurance=Assurance(grade="attested", bits=46.0))
    )
    score = score_of_verdict(by_slot(first)["a__b-1", 1].verdict, DIFF.encode())
    ours = outcome in (Outcome.INFRA_FAULT, Outcome.NOT_GRADABLE)
    assert (score["value"] != score["value"]) is ours  # NaN, which Inspect leaves out
    assert ours or score["value"] == ("C" if outcome is Outcome.PASSED else "I")
    assert "46 bits" in score["explanation"] and "\x1b" not in score["explanation"]
    back = by_slot(import_run("inspect", written(first.path, tmp_path / "run.eval"), tmp_path / "two").run)
    verdict = back["a__b-1", 1].verdict
    assert verdict.result is (None if ours else outcome is Outcome.PASSED)
    assert verdict.assurance is None and verdict.grader == "repoassay 1 (reported)"
    assert ours or verdict.tests == tests
    assert any(outcome.value in line for line in verdict.comments) or outcome is Outcome.PASSED


def run_of(folder: Path, agents: tuple[str, ...], numbers: tuple[int, ...]) -> RunFolder:
    """A run of one task, of which the tenth attempts passed."""
    task = PlannedTask(id="t", digest="", folder="", title="T", kind=TaskKind.EDIT, domain="")
    plan = Plan(
        id=str(ULID()), created=TIME, suite="mini", suite_version="1", suite_folder="", tasks=(task,),
        agents={agent: AgentEntry(kind="command") for agent in agents}, attempts=11, isolation="namespaces",
    )  # fmt: skip
    run = RunFolder.create(folder, plan)
    for agent in agents:
        for number in numbers:
            attempt = Attempt(id=str(ULID()), run=plan.id, task="t", task_digest="", agent=agent, number=number,
                              started=TIME, ended=TIME, submission=Submission())  # fmt: skip
            run.record(attempt, verdict_of(Outcome.PASSED if number == 10 else Outcome.FAILED))
    return run


def test_several_agents_are_several_logs(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", ("alpha", "beta/../x"), (1, 2, 10, 11))
    with pytest.raises(BadInput, match="several agents: alpha, beta"):
        written(run.path, tmp_path / "run.eval")
    logs = written(run.path, tmp_path / "logs", "inspect-logs")
    assert [path.name for path in sorted(logs.iterdir())] == ["01-alpha.eval", "02-beta----x.eval"]
    again = [one for one in import_run(None, logs, tmp_path / "two").run.finished() if one.attempt.agent == "alpha"]
    assert [one.verdict.outcome is Outcome.PASSED for one in again] == [False, False, True, False]


def test_nothing_is_written_of_a_run_without_attempts(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        written(run_of(tmp_path / "run", ("alpha",), ()).path, tmp_path / "run.eval")
    assert not list(tmp_path.glob("*.eval"))
