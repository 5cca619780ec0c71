"""ATIF as runs, and jobs of Harbor, which keep it beside their results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mini_runs import DIFF, write_run
from repoassay.formats import to_atif
from repoassay.interchange import find_importer, import_run
from repoassay.records import FinishedAttempt, RunFolder
from repoassay.report import export_file, find_source, read_trajectory
from repoassay.types import Outcome, Source, Trajectory, TrajectoryStep


def by_task(run: RunFolder) -> dict[str, FinishedAttempt]:
    """Attempts of a run."""
    return {found.attempt.task: found for found in run.finished()}


def test_a_run_is_the_same_after_the_way_out_and_in(tmp_path: Path) -> None:
    first = import_run(None, write_run(tmp_path / "theirs", {"a__b-1": DIFF, "a__b-2": ""}), tmp_path / "one").run
    attempt = by_task(first)["a__b-1"].attempt.id
    verdict = by_task(first)["a__b-1"].verdict
    passed = {"outcome": Outcome.PASSED, "process": True, "result": True, "grader": "repoassay 1"}
    first.add_verdict(attempt, verdict.model_copy(update=passed))
    export_file(find_source(str(first.path), tmp_path), "atif", tmp_path / "run.jsonl")
    second = import_run(None, tmp_path / "run.jsonl", tmp_path / "two").run
    there, again = by_task(first), by_task(second)
    assert there.keys() == again.keys()
    for task, found in there.items():
        assert read_trajectory(found.folder) == read_trajectory(again[task].folder)
        for fact in ("agent", "number", "spent", "started", "ended"):
            assert getattr(found.attempt, fact) == getattr(again[task].attempt, fact), fact
        back = again[task].verdict
        assert back.result == found.verdict.result and back.assurance is None
        assert back.grader.removesuffix(" (reported)") == found.verdict.grader.removesuffix(" (reported)")


def trial(folder: Path, reward: float | None, **more: Any) -> None:
    """A trial's folder as Harbor leaves it."""
    steps = (TrajectoryStep(index=1, source=Source.AGENT, text="I look."),)
    (folder / "agent").mkdir(parents=True)
    (folder / "agent" / "trajectory.json").write_text(json.dumps(to_atif(Trajectory(agent="terminus", steps=steps))))
    result = {
        "trial_name": folder.name, "task_name": folder.name.partition("__")[0],
        "agent_info": {"name": "terminus", "version": "2", "model_info": {"name": "m", "provider": "p"}},
        "agent_result": {"n_input_tokens": 50, "n_output_tokens": 5, "n_cache_tokens": 20, "cost_usd": 0.125},
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "started_at": "2026-01-01T10:00:00Z", "finished_at": "2026-01-01T10:05:00Z", **more,
    }  # fmt: skip
    (folder / "result.json").write_text(json.dumps(result))


def test_trials_of_harbor_are_attempts_with_their_rewards(tmp_path: Path) -> None:
    job = tmp_path / "job"
    trial(job / "one__x", 1.0)
    trial(job / "two__x", 0.5)
    late = {"exception_type": "AgentTimeoutError", "exception_message": "late"}
    trial(job / "three__x", None, task_name="", exception_info=late)  # of the task `.`
    (job / "result.json").write_text('{"id": "job", "n_total_trials": 3}')
    assert find_importer(None, job)[0].name == "harbor-jobs"
    found = by_task(import_run(None, job, tmp_path / "run").run)
    assert {task: one.verdict.outcome for task, one in found.items()} == {
        "one": Outcome.PASSED, "two": Outcome.FAILED, "three": Outcome.NOT_GRADABLE,
    }  # fmt: skip
    assert any("score of 0.5" in line for line in found["two"].verdict.comments)
    assert any("AgentTimeoutError" in line for line in found["three"].verdict.comments)
    attempt = found["one"].attempt
    assert attempt.agent == "terminus @ m" and (attempt.ended - attempt.started).total_seconds() == 300
    assert attempt.spent and (attempt.spent.usage.input, str(attempt.spent.dollars)) == (50, "0.125")
    trajectory = read_trajectory(found["one"].folder)
    assert trajectory and trajectory.steps[0].text == "I look." and trajectory.version == "2"
