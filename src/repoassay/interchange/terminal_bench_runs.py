"""Runs of terminal-bench 1: `results.json` of a run, or of its trials, with `run_metadata.json` beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repoassay.agents import mapping, moment
from repoassay.interchange.agent_files import json_object, plain_files
from repoassay.interchange.foreign_run import ForeignAttempt, ReportedResult
from repoassay.text import printable
from repoassay.types import OwnFigures, TestResult, Trajectory, Usage

__all__ = ["TerminalBenchRun"]

_NAME, _ABOUT = "results.json", "run_metadata.json"
_UNTOLD = frozenset({"", "none", "unset"})
_OF_THE_MACHINE = frozenset({"agent_installation_failed", "parse_error", "unknown"})
"""Ways to fail that are not the agent's."""


class TerminalBenchRun:
    """Trials of terminal-bench before it ran on Harbor; a trial is an attempt, and its tests are what is reported."""

    title = "runs of terminal-bench 1: results.json, with run_metadata.json"
    gives = "run"
    version = "terminal-bench 0.1 to 0.2"
    lost = (
        "What the agent did: recordings of its terminal (asciinema) and its logs are not read.",
        "Dollars: it tells none. Tokens where it tells 0.",
    )  # fmt: skip

    def recognizes(self, source: Path) -> bool:
        """Whether it, or a `results.json` within two levels, is one of terminal-bench."""
        try:
            if source.is_file():
                return source.name.endswith(_NAME) and bool(_trials(json_object(source)))
            found = [path for depth in ("", "*/", "*/*/") for path in sorted(source.glob(f"{depth}*{_NAME}"))[:5]]
            return any(_trials(json_object(path)) for path in found)
        except OSError:
            return False

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a trial; a trial that its run's own document tells of is told once."""
        documents = {path: json_object(path) for path in plain_files(source, _NAME)}
        wholes = {path for path, document in documents.items() if isinstance(document.get("results"), list)}
        trials = {path.parent: {str(each.get("trial_name")) for each in _trials(documents[path])} for path in wholes}
        for path, document in documents.items():
            about = _about(path, source)
            for trial in _trials(document):
                name = str(trial.get("trial_name"))
                if path in wholes or not any(name in trials.get(folder, ()) for folder in path.parents):
                    yield _attempt(trial, about)


def _trials(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The trials that a document tells of; none where it is of another tool."""
    every = document.get("results")
    listed = every if isinstance(every, list) else [document]
    return [each for each in listed if isinstance(each, dict) and "task_id" in each and "is_resolved" in each]


def _about(path: Path, source: Path) -> dict[str, Any]:
    """The settings of the run that a document belongs to: the nearest at or above it."""
    for folder in path.parents:
        if (folder / _ABOUT).is_file():
            return json_object(folder / _ABOUT)
        if folder == source or not folder.is_relative_to(source):
            break
    return {}


def _attempt(trial: dict[str, Any], about: Mapping[str, Any]) -> ForeignAttempt:
    agent, model = str(about.get("agent_name") or "unknown"), str(about.get("model_name") or "")
    counts = [trial.get(key) for key in ("total_input_tokens", "total_output_tokens")]
    read = [count if isinstance(count, int) and count > 0 else 0 for count in counts]
    usage = Usage(input=read[0], output=read[1]) if any(read) else None
    return ForeignAttempt(
        task=str(trial["task_id"]),
        agent=f"{agent} @ {model}" if model else agent,
        model=model,
        trajectory=Trajectory(agent=agent, model=model, own=OwnFigures(usage=usage)),
        reported=_reported(trial),
        started=moment(trial.get("trial_started_at")),
        ended=moment(trial.get("trial_ended_at")),
    )


def _reported(trial: dict[str, Any]) -> ReportedResult:
    """What its tests said; a failure that was the machine's blames nobody."""
    resolved, mode = trial.get("is_resolved"), str(trial.get("failure_mode") or "")
    passed = resolved if isinstance(resolved, bool) else None
    if passed is False and mode in _OF_THE_MACHINE:
        passed = None
    comments = () if mode in _UNTOLD else (f"It ended with {printable(mode, 80)}.",)
    tests = tuple(
        TestResult(id=str(name)[:1000], outcome=outcome)
        for name, outcome in mapping(trial, "parser_results").items()
        if outcome in ("passed", "failed")
    )
    return ReportedResult(passed, "terminal-bench", tests=tests, comments=comments)
