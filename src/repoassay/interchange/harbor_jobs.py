"""Jobs of Harbor: a folder a trial, with `result.json`, what its agent recorded, and what its verifier wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from repoassay.agents import mapping, moment
from repoassay.interchange.agent_files import (
    json_object,
    plain_files,
    steps_of,
    trajectory_from,
)
from repoassay.interchange.agent_sessions import ClaudeCodeSessions, CodexSessions, GeminiCliSessions
from repoassay.interchange.atif import looks_like_atif
from repoassay.interchange.foreign_run import ForeignAttempt, ReportedResult
from repoassay.types import OwnFigures, Trajectory, Usage

__all__ = ["HarborJobs"]

_MOST_DOCUMENTS = 200
_SESSIONS = {"claude-code": ClaudeCodeSessions, "codex": CodexSessions, "gemini-cli": GeminiCliSessions}


class HarborJobs:
    """Trials of Harbor, and of terminal-bench that runs on it; a trial is an attempt, its reward what is reported."""

    title = "jobs of Harbor: a folder of trials, each with its result.json"
    gives = "run"
    version = "Harbor 0.2x (result.json of trials), ATIF-v1.0 to ATIF-v1.8"
    lost = (
        "Files that the verifier left, and rewards other than the first.",
        "Trajectories of agents that write no ATIF, but for Claude Code, Codex, Gemini CLI and mini-swe-agent.",
    )  # fmt: skip

    contains = ("aider", "atif", "claude-code", "codex", "gemini-cli", "mini-swe-agent", "swe-agent", "junit")

    def recognizes(self, source: Path) -> bool:
        """Whether a `result.json` in it, or one folder below, is a trial's."""
        try:
            return source.is_dir() and any(
                "trial_name" in json_object(path)
                for path in [*sorted(source.glob("result.json")), *sorted(source.glob("*/result.json"))[:5],
                             *sorted(source.glob("*/*/result.json"))[:5]]
            )  # fmt: skip
        except OSError:
            return False

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a trial."""
        for path in plain_files(source, "result.json"):
            result = json_object(path) if path.name == "result.json" else {}
            if "trial_name" in result and "task_name" in result:
                yield _trial(path, result)


def _trial(path: Path, result: dict[str, Any]) -> ForeignAttempt:
    info = mapping(result, "agent_info")
    name, model = str(info.get("name") or "unknown"), str(mapping(info, "model_info").get("name") or "")
    documents: Mapping[str, Path] = _documents(path.parent / "agent")
    if documents:
        trajectory = trajectory_from("atif", documents, agent=name, model=model)
    else:
        documents, trajectory = _kept_by_agent(path.parent / "agent", name, model)
    trajectory = _with_figures(trajectory, mapping(result, "agent_result"), str(info.get("version") or ""))
    first, last = steps_of(trajectory)
    problems = [] if trajectory.steps else ["Its agent left no trajectory that is read."]
    if fault := mapping(result, "exception_info"):
        problems.append(f"{fault.get('exception_type')}: {str(fault.get('exception_message'))[:300]}")
    return ForeignAttempt(
        task=str(result["task_name"] or "") or str(result["trial_name"]).rpartition("__")[0],  # of a task that was `.`
        agent=f"{name} @ {model}" if model else name,
        model=model,
        trajectory=trajectory,
        reported=_reward(result),
        started=moment(result.get("started_at")) or first,
        ended=moment(result.get("finished_at")) or last,
        files={**documents, "result.json": path},
        problems=(*problems, *trajectory.problems[:10]) if trajectory.steps else tuple(problems),
    )


def _documents(folder: Path) -> dict[str, Path]:
    """ATIF documents of a trial: the agent's first, then those it refers to."""
    found: list[Path] = []
    for path in plain_files(folder, ".json") if folder.is_dir() else ():
        if len(found) < _MOST_DOCUMENTS and looks_like_atif(path):
            found.append(path)
    found.sort(key=lambda path: (path.name != "trajectory.json", path.name))
    # The reader begins with the first by name, and finds the others by the names that references have.
    return {f"files/{'' if number else '0-'}{path.name}": path for number, path in enumerate(found)}


def _kept_by_agent(folder: Path, name: str, model: str) -> tuple[Mapping[str, Path], Trajectory]:
    """What the agent kept of itself, where it wrote no ATIF: its files, and the longest trajectory that they tell."""
    found: list[tuple[Mapping[str, Path], Trajectory]] = [({}, Trajectory(agent=name, model=model))]

    def read(reader: str, files: Mapping[str, Path]) -> None:
        found.append((files, trajectory_from(reader, files, agent=name, model=model)))

    if folder.is_dir() and not folder.is_symlink():
        for reader, sessions in _SESSIONS.items():
            log = folder / f"{reader}.txt"
            printed = {"stdout.txt": log} if log.is_file() and not log.is_symlink() else {}
            for files in [one.files for one in sessions().attempts(folder)] or ([{}] if printed else []):
                read(reader, {**files, **printed})
        for path in plain_files(folder, "mini-swe-agent.trajectory.json"):
            read("mini-swe-agent", {"files/own.traj.json": path})
    files, trajectory = max(found, key=lambda one: len(one[1].steps))
    return files, trajectory.model_copy(update={"agent": name, "model": trajectory.model or model})


def _with_figures(trajectory: Trajectory, result: dict[str, Any], version: str) -> Trajectory:
    """The trajectory with the trial's own figures where its documents have none."""
    own = trajectory.own
    tokens = [result.get(key) for key in ("n_input_tokens", "n_output_tokens", "n_cache_tokens")]
    read = [count if isinstance(count, int) and count >= 0 else 0 for count in tokens]
    usage = own.usage
    if usage is None and any(isinstance(count, int) for count in tokens[:2]):
        usage = Usage(input=read[0], output=read[1], cached=min(read[2], read[0]))
    cost = result.get("cost_usd")
    dollars = own.dollars
    if dollars is None and isinstance(cost, int | float) and cost >= 0:
        dollars = Decimal(str(cost))
    figures = OwnFigures(usage=usage, calls=own.calls, dollars=dollars, note=own.note)
    return trajectory.model_copy(update={"own": figures, "version": trajectory.version or version})


def _reward(result: dict[str, Any]) -> ReportedResult | None:
    """What the verifier gave: 1 is a pass; where it failed itself, nothing is known."""
    rewards = mapping(result, "verifier_result", "rewards")
    known = [value for value in rewards.values() if isinstance(value, int | float) and not isinstance(value, bool)]
    named = rewards.get("reward", known[0] if known else None)
    if not isinstance(named, int | float):
        return None
    reported = ReportedResult(passed=named >= 1, by="Harbor's verifier", score=float(named))
    return reported if named in (0, 1) else replace(reported, comments=("A reward between 0 and 1 is no pass.",))
