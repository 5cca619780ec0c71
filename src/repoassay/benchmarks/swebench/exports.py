"""Runs of ours as SWE-bench's files: predictions, the summary of a run, and a folder for its leaderboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from repoassay.benchmarks.swebench.predictions import Prediction
from repoassay.benchmarks.swebench.reports import run_report
from repoassay.errors import BadInput
from repoassay.formats import to_atif
from repoassay.records import FinishedAttempt, counting_attempts
from repoassay.report import ExportSource, read_trajectory
from repoassay.text import join_names
from repoassay.types import Attribution, Outcome

__all__ = ["SweBenchLeaderboard", "SweBenchPredictions", "SweBenchReport"]


class SweBenchPredictions:
    """The patches of a run, one JSON object a line; the first attempt of each task that counts."""

    title = "patches of a run as SWE-bench predictions (JSON Lines), the first attempt of each task"
    takes = ("run",)
    version = "swebench 2 to 4"
    lost = ("Further attempts of a task, and everything but the patch.",)

    def export(self, source: ExportSource) -> Iterator[str]:
        """Yield the lines."""
        for found in _firsts(source):
            yield json.dumps(_prediction(found)) + "\n"


class SweBenchReport:
    """The summary that SWE-bench's harness writes of a run, out of our verdicts."""

    title = "verdicts of a run as the summary of SWE-bench's harness (MODEL.RUN.json)"
    takes = ("run",)
    version = "schema_version 2, with the keys of swebench 4 and 5"
    lost = ("Why a task failed, what it cost, and further attempts.",)

    def export(self, source: ExportSource) -> str:
        """Return the document."""
        return json.dumps(_summary(source), indent=4) + "\n"


class SweBenchLeaderboard:
    """A folder as SWE-bench's leaderboard takes it."""

    title = "a run as a folder for SWE-bench's leaderboard: all_preds.jsonl, metadata.yaml, trajs/, logs/"
    takes = ("run",)
    version = "experiments, 2025"
    lost = ("What tests printed, where it was not kept.",)

    def files(self, source: ExportSource) -> Iterator[tuple[str, str]]:
        """Yield each file's path in the folder, and its text."""
        found = list(_firsts(source))
        yield "all_preds.jsonl", "".join(json.dumps(_prediction(one)) + "\n" for one in found)
        yield "metadata.yaml", _metadata(found)
        yield "README.md", _readme(source, found)
        for one in found:
            name = one.attempt.task
            yield f"logs/{name}/patch.diff", _patch(one)
            if one.verdict.result is not None:  # as the harness, which leaves none where it could not tell
                yield f"logs/{name}/report.json", json.dumps({name: _report(one)}, indent=4) + "\n"
            trajectory = read_trajectory(one.folder)
            if trajectory is not None and trajectory.steps:
                yield f"trajs/{name}.json", json.dumps(to_atif(trajectory, session=one.attempt.id), indent=2) + "\n"


def _firsts(source: ExportSource) -> Iterator[FinishedAttempt]:
    """The first attempt at each task, its last retry if it was retried; of one agent, since a file names no more."""
    if source.run is None:
        return
    counting = counting_attempts(source.run.plan, list(source.attempts()), lambda one: one.attempt)
    agents = {one.attempt.agent for one in counting.values()}
    if len(agents) > 1:
        raise BadInput(
            f"The run has several agents: {join_names(sorted(agents), 6)}.",
            "Export a run of one, as this format has it.",
        )
    seen: set[str] = set()
    for slot in sorted(counting, key=lambda slot: slot.number):
        if slot.task not in seen:
            seen.add(slot.task)
            yield counting[slot]


def _patch(found: FinishedAttempt) -> str:
    path = found.folder / "submission" / "changes.diff"
    return path.read_bytes().decode("utf-8", "replace") if path.is_file() and not path.is_symlink() else ""


def _prediction(found: FinishedAttempt) -> dict[str, str]:
    return {
        "instance_id": found.attempt.task,
        "model_name_or_path": found.attempt.agent,
        "model_patch": _patch(found),
    }


def _summary(source: ExportSource) -> dict[str, Any]:
    """The harness's summary; what we could not judge counts as an error, as there."""
    assert source.run is not None
    found = {one.attempt.task: one for one in _firsts(source)}
    predictions = {name: Prediction(name, one.attempt.agent, _patch(one)) for name, one in found.items()}
    judged = {
        name: one.verdict.outcome is Outcome.PASSED for name, one in found.items() if one.verdict.result is not None
    }
    unjudged = {
        name: one.verdict.outcome for name, one in found.items() if one.verdict.outcome.whose is not Attribution.AGENT
    }
    return run_report([task.id for task in source.run.plan.tasks], predictions, judged, unjudged)


def _report(found: FinishedAttempt) -> dict[str, Any]:
    """What the harness writes of one instance; tests are told by what they should turn to, where that is known."""
    outcome = found.verdict.outcome
    patch = _patch(found)
    names = {word: [test.id for test in found.verdict.tests if (test.outcome == "passed") == good]
             for word, good in (("success", True), ("failure", False))}  # fmt: skip
    return {
        "patch_is_None": not patch,
        "patch_exists": bool(patch),
        "patch_successfully_applied": bool(patch) and outcome not in (Outcome.PATCH_FAILED, Outcome.NO_OUTPUT),
        "resolved": outcome is Outcome.PASSED,
        "tests_status": {"FAIL_TO_PASS": names, "PASS_TO_PASS": {"success": [], "failure": []}},
    }


def _metadata(found: list[FinishedAttempt]) -> str:
    name = json.dumps(found[0].attempt.agent if found else "unknown")
    model = json.dumps(found[0].attempt.settings.get("model", "") if found else "")
    return f"info:\n  name: {name}\n  authors: ''\n  site: ''\ntags:\n  model: [{model}]\n  checked: false\n"


def _readme(source: ExportSource, found: list[FinishedAttempt]) -> str:
    assert source.run is not None
    passed = sum(one.verdict.outcome is Outcome.PASSED for one in found)
    reported = "" if source.run.plan.origin is None else f"\n{source.run.plan.origin.sentence}\n"
    line = f"{passed} of {len(source.run.plan.tasks)} tasks resolved, one attempt each."
    return f"# {source.run.plan.suite}\n\n{line}\n{reported}"
