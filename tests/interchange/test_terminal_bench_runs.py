"""Runs of terminal-bench 1 as runs: trials told once, with their tests, and nobody blamed for a machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from repoassay.interchange import find_importer, import_run
from repoassay.types import Outcome

ABOUT = {"run_id": "r", "agent_name": "terminus", "model_name": "some/model", "dataset_name": "terminal-bench-core"}


def trial(task: str, number: int, resolved: bool | None, mode: str = "unset", **more: Any) -> dict[str, Any]:
    return {
        "trial_name": f"{task}.{number}-of-2", "task_id": task, "instruction": "Do.", "is_resolved": resolved,
        "failure_mode": mode, "parser_results": {"test_it": "passed" if resolved else "failed", "test_odd": "broken"},
        "total_input_tokens": 100, "total_output_tokens": 7, "trial_started_at": "2025-07-11T19:00:00+00:00",
        "trial_ended_at": "2025-07-11T19:05:00+00:00", **more,
    }  # fmt: skip


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A run of four trials; each has its own document too, as the harness leaves it."""
    folder = tmp_path / "theirs" / "run"
    trials = [
        trial("one", 1, True), trial("one", 2, False, "agent_timeout"),
        trial("two", 1, None, "parse_error", parser_results=None, total_input_tokens=0, total_output_tokens=None),
        trial("two", 2, False, "agent_installation_failed"),
    ]  # fmt: skip
    for each in trials:
        place = folder / each["task_id"] / each["trial_name"]
        place.mkdir(parents=True)
        (place / "results.json").write_text(json.dumps(each))
    (folder / "results.json").write_text(json.dumps({"results": trials, "accuracy": 0.25}))
    (folder / "run_metadata.json").write_text(json.dumps(ABOUT))
    return folder


def test_each_trial_is_an_attempt_and_told_once(theirs: Path, tmp_path: Path) -> None:
    assert find_importer(None, theirs)[0].name == "terminal-bench"
    done = import_run(None, theirs.parent, tmp_path / "run")
    found = {(one.attempt.task, one.attempt.number): one for one in done.run.finished()}
    assert {slot: one.verdict.outcome for slot, one in found.items()} == {
        ("one", 1): Outcome.PASSED, ("one", 2): Outcome.FAILED,
        ("two", 1): Outcome.NOT_GRADABLE, ("two", 2): Outcome.NOT_GRADABLE,
    }  # fmt: skip
    first, other = found["one", 1], found["two", 1]
    assert first.attempt.agent == "terminus @ some/model"
    assert (first.attempt.ended - first.attempt.started).total_seconds() == 300
    assert first.attempt.spent and first.attempt.spent.usage.input == 100 and first.attempt.spent.dollars is None
    assert other.attempt.spent is None or not other.attempt.spent.usage.input
    assert [(test.id, test.outcome) for test in first.verdict.tests] == [("test_it", "passed")]
    assert first.verdict.grader == "terminal-bench (reported)" and first.verdict.assurance is None
    assert any("agent_timeout" in line for line in found["one", 2].verdict.comments)


def test_trials_without_their_run_are_read(theirs: Path, tmp_path: Path) -> None:
    (theirs / "results.json").unlink()
    done = import_run("terminal-bench", theirs, tmp_path / "run")
    assert done.attempts == 4
    assert {one.attempt.agent for one in done.run.finished()} == {"terminus @ some/model"}
    (theirs / "one" / "one.1-of-2" / "results.json").write_text('{"results": [3, {"task_id": "x"}]}')
    assert import_run("terminal-bench", theirs, tmp_path / "again").attempts == 3
