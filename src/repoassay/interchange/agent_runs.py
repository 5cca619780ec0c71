"""Runs as agents' own batch runners leave them: below a folder, a trajectory file for each task."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.agents import mapping
from repoassay.interchange.agent_files import json_object, json_value, plain_files, steps_of, trajectory_from
from repoassay.interchange.foreign_run import ForeignAttempt
from repoassay.interchange.harness_reports import HarnessReports

__all__ = ["MiniSweAgentRun", "SweAgentRun"]


class _TrajectoryFiles:
    """What the formats share: each file of a suffix an attempt, with the patch that it submitted."""

    gives = "run"
    lost: tuple[str, ...] = (
        "Settings of the run that no message shows.",
        "Results, where no report of an evaluation harness lies in the folder: it judges nothing itself.",
    )
    _agent, _suffix, _mark = "", "", b""

    def recognizes(self, source: Path) -> bool:
        """Whether the first file of that suffix says what it is."""
        try:
            first = next(plain_files(source, self._suffix), None)
            return first is not None and self._says(first)
        except Exception:  # noqa: BLE001 - an odd file is somebody else's
            return False

    def _says(self, file: Path) -> bool:
        return self._mark in file.read_bytes()

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a file, with what a harness said of it where its reports lie in the folder."""
        reports = HarnessReports.below(source) if source.is_dir() else HarnessReports()
        for path in plain_files(source, self._suffix):
            files = {f"files/{path.name}": path}
            whole = json_object(path)
            trajectory = trajectory_from(self._agent, files, agent=self._agent, model=self._model(whole))
            patch = mapping(whole, "info").get("submission")
            started, ended = steps_of(trajectory)
            task = str(whole.get("instance_id") or path.name.removesuffix(self._suffix))
            yield ForeignAttempt(
                task=task,
                agent=f"{self._agent} @ {trajectory.model}" if trajectory.model else self._agent,
                model=trajectory.model,
                patch=patch.encode("utf-8", "surrogatepass") if isinstance(patch, str) else None,
                trajectory=trajectory,
                reported=reports.of(task),
                started=started,
                ended=ended,
                files=files,
                problems=trajectory.problems,
            )

    def _model(self, whole: dict[str, Any]) -> str:
        """The model that a file names as a whole; its messages may name it, too."""
        named = mapping(whole, "info", "config", "model").get("model_name")
        return named if isinstance(named, str) else ""


class MiniSweAgentRun(_TrajectoryFiles):
    """mini-swe-agent's trajectories, `INSTANCE/INSTANCE.traj.json`."""

    title = "trajectories of mini-swe-agent, a file each"
    version = "mini-swe-agent-1, mini-swe-agent-1.1"
    _agent, _suffix, _mark = "mini-swe-agent", ".traj.json", b'"mini-swe-agent-1'

    def _says(self, file: Path) -> bool:
        """Before its files had a format they were the messages alone, by the same name."""
        messages = json_value(file)
        bare = isinstance(messages, list) and bool(messages) and all("role" in mapping(each) for each in messages)
        return bare or super()._says(file)


class SweAgentRun(_TrajectoryFiles):
    """SWE-agent's trajectories, `INSTANCE/INSTANCE.traj`."""

    title = "trajectories of SWE-agent, a file each"
    version = "SWE-agent 0.6 to 1.1"
    lost = (*_TrajectoryFiles.lost, "Tokens of single steps: it estimates those of the whole.")
    _agent, _suffix, _mark = "swe-agent", ".traj", b'"trajectory"'

    def _model(self, whole: dict[str, Any]) -> str:
        config = whole.get("replay_config")
        try:
            config = json.loads(config) if isinstance(config, str) else config
        except (ValueError, RecursionError):
            return ""
        named = mapping(config, "agent", "model").get("name")
        return named if isinstance(named, str) else ""
