"""A run in the schema of every-eval-ever: a record of figures for each agent, and one row an attempt beside it.

The layout is the one of its data store, so that a folder can be handed in as it is. Rows hold roles, names of tools and
figures; what was said stays here.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import repoassay
from repoassay.records import FinishedAttempt, RunFolder, counting_attempts
from repoassay.report.attempt_timeline import read_trajectory
from repoassay.report.exporters import ExportSource
from repoassay.stats import clustered_proportion
from repoassay.types import Plan

__all__ = ["EveryEvalEver"]

_SCHEMA, _ROW_SCHEMA = "0.3.0", "instance_level_eval_0.3.0"
_METRIC = "pass_rate"
_AWKWARD = re.compile(r"[^A-Za-z0-9._-]+")
_ROLES = {"agent": "assistant"}
_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}


class EveryEvalEver:
    """A folder `data/SUITE/DEVELOPER/MODEL/` of a record and its rows, for each agent of the run."""

    title = "a run as a folder in the schema of every-eval-ever, figures and one row an attempt"
    takes = ("run",)
    version = "schema 0.3.0"
    lost = (
        "What was said, patches, and tests by name.",
        "Attempts that could not be judged; their number is kept.",
        "Who controls a model and whether its weights are open: it says unknown.",
    )

    def files(self, source: ExportSource) -> Iterator[tuple[str, str]]:
        """Yield each file's path in the folder, and its text."""
        run = source.run
        assert run is not None
        counting = counting_attempts(run.plan, list(source.attempts()), lambda found: found.attempt)
        for agent, entry in run.plan.agents.items():
            found = [one for slot, one in counting.items() if slot.agent == agent]
            if found:
                model = str(entry.settings.get("model") or "")
                yield from _AgentRecord(run, agent, model, found).files()


class _AgentRecord:
    """What is written of one agent."""

    def __init__(self, run: RunFolder, agent: str, model: str, found: Sequence[FinishedAttempt]) -> None:
        self._plan: Plan = run.plan
        self._agent = agent
        self._found = found
        self._judged = [one for one in found if one.verdict.result is not None]
        developer, _, name = model.rpartition("/")
        self._model = {"name": name or agent, "id": f"{_part(developer or 'unknown')}/{_part(name or agent)}",
                       "developer": developer or "unknown", "additional_details": dict(_UNKNOWN)}  # fmt: skip
        self._folder = f"data/{_part(run.plan.suite)}/{_part(developer or 'unknown')}/{_part(name or agent)}"
        ended = max(one.attempt.ended for one in found)
        self._stamp = f"{ended.timestamp():.0f}"
        self._id = f"{_part(run.plan.suite)}/{self._model['id']}/{run.plan.id}"
        number = hashlib.sha256(f"{run.plan.id}\0{agent}".encode()).digest()[:16]
        self._stem = str(uuid.UUID(bytes=number, version=4))  # the same for the same run and agent

    def files(self) -> Iterator[tuple[str, str]]:
        """The record, and its rows where anything was judged."""
        rows = "".join(json.dumps(self._row(one)) + "\n" for one in self._judged)
        yield f"{self._folder}/{self._stem}.json", json.dumps(self._record(rows), indent=2) + "\n"
        if rows:
            yield f"{self._folder}/{self._stem}_samples.jsonl", rows

    def _record(self, rows: str) -> dict[str, Any]:
        origin = self._plan.origin
        record: dict[str, Any] = {
            "schema_version": _SCHEMA, "evaluation_id": self._id, "retrieved_timestamp": self._stamp,
            "evaluation_timestamp": _iso(self._plan.created),
            "source_metadata": {
                "source_name": origin.format if origin else "RepoAssay", "source_type": "evaluation_run",
                "source_organization_name": "unknown", "evaluator_relationship": "third_party",
                "additional_details": {"run": self._plan.id, **({"origin": origin.sentence} if origin else {})},
            },
            "eval_library": {"name": "repoassay", "version": repoassay.__version__},
            "model_info": self._model,
            "evaluation_results": [self._result()] if self._judged else [],
        }  # fmt: skip
        if rows:
            record["detailed_evaluation_results"] = {
                "format": "jsonl", "file_path": f"{self._folder}/{self._stem}_samples.jsonl",
                "hash_algorithm": "sha256", "checksum": hashlib.sha256(rows.encode()).hexdigest(),
                "total_rows": len(self._judged),
            }  # fmt: skip
        return record

    def _result(self) -> dict[str, Any]:
        tasks: dict[str, list[bool]] = {}
        for one in self._judged:
            tasks.setdefault(one.attempt.task, []).append(bool(one.verdict.result))
        values = [value for task in tasks.values() for value in task]
        details: dict[str, Any] = {"score": sum(values) / len(values), "details": self._counts()}
        interval = clustered_proportion(list(tasks.values()))
        if interval.low is not None and interval.high is not None:
            details["uncertainty"] = {
                "confidence_interval": {"lower": interval.low, "upper": interval.high, "confidence_level": 0.95,
                                        "method": interval.method},
                "num_samples": len(values),
            }  # fmt: skip
        return {
            "evaluation_result_id": f"{self._id}#{_METRIC}", "evaluation_name": self._plan.suite,
            "source_data": {"dataset_name": self._plan.suite, "source_type": "other",
                            "additional_details": {"version": self._plan.suite_version}},
            "metric_config": {
                "evaluation_description": "Share of judged attempts that passed.", "metric_id": _METRIC,
                "metric_name": "Pass rate", "metric_kind": _METRIC, "metric_unit": "proportion",
                "lower_is_better": False, "score_type": "continuous", "min_score": 0.0, "max_score": 1.0,
            },
            "score_details": details,
            "generation_config": {"additional_details": {"agent": self._agent, **self._settings()}},
        }  # fmt: skip

    def _counts(self) -> dict[str, str]:
        known = [one.attempt.spent.dollars for one in self._found if one.attempt.spent]
        dollars = [value for value in known if value is not None]
        counts = {"attempts": str(len(self._found)), "judged": str(len(self._judged))}
        if len(dollars) == len(self._found):
            counts["dollars"] = str(sum(dollars))
        return counts

    def _settings(self) -> dict[str, str]:
        settings: Mapping[str, Any] = self._plan.agents[self._agent].settings
        return {f"setting.{key}": str(value) for key, value in settings.items()}

    def _row(self, found: FinishedAttempt) -> dict[str, Any]:
        attempt, spent = found.attempt, found.attempt.spent
        turns = _turns(found)
        passed = bool(found.verdict.result)
        usage = spent.usage if spent else None
        titles = {task.id: task.title for task in self._plan.tasks}
        return {
            "schema_version": _ROW_SCHEMA, "evaluation_id": self._id, "model_id": self._model["id"],
            "evaluation_name": self._plan.suite, "evaluation_result_id": f"{self._id}#{_METRIC}",
            "sample_id": f"{attempt.task}#{attempt.number}", "sample_hash": None, "interaction_type": "agentic",
            "input": {"raw": titles.get(attempt.task, attempt.task), "reference": []}, "output": None,
            "messages": turns, "answer_attribution": [],
            "evaluation": {"score": float(passed), "is_correct": passed, "num_turns": len(turns) or None,
                           "tool_calls_count": sum(len(turn.get("tool_calls") or ()) for turn in turns)},
            "token_usage": {"input_tokens": usage.input, "output_tokens": usage.output, "total_tokens": usage.total}
            if usage else None,
            "performance": {"latency_ms": max(0.0, (attempt.ended - attempt.started).total_seconds() * 1000)},
            "error": None, "metadata": {"outcome": found.verdict.outcome.value, "attempt": attempt.id},
        }  # fmt: skip


def _turns(found: FinishedAttempt) -> list[dict[str, Any]]:
    """Who spoke and which tools were called, without a word of what was said."""
    trajectory = read_trajectory(found.folder)
    turns = []
    for number, step in enumerate(trajectory.steps if trajectory else ()):
        calls = [{"id": call.id or f"{step.index}-{at}", "name": call.name} for at, call in enumerate(step.calls)]
        role = _ROLES.get(step.source.value, step.source.value)
        turns.append({"turn_idx": number, "role": role, "content": None, "tool_calls": calls or None})
    return turns


def _part(name: str) -> str:
    """A name as one portable part of a path."""
    return _AWKWARD.sub("_", name).strip("._") or "unknown"


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
