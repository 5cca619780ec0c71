"""Outputs of OpenHands' benchmarks: `output.jsonl`, a row a task; and trajectories it saves, a JSON list of events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.agents import mapping
from repoassay.interchange.agent_files import json_value, plain_files, steps_of, text_lines, trajectory_from
from repoassay.interchange.foreign_run import ForeignAttempt, ReportedResult
from repoassay.interchange.harness_reports import HarnessReports
from repoassay.sandbox import temporary_folder

__all__ = ["OpenHandsOutput"]

_NAME = "output.jsonl"
_AGENT = "openhands"
_REPORTS = ("output.report.json", "report.json")
_BY = "its evaluation"


class OpenHandsOutput:
    """Each row an attempt; results stand in the row, or in the report that its evaluation wrote beside it."""

    title = "outputs of OpenHands' benchmarks (output.jsonl), and trajectories that it saves (JSON)"
    gives = "run"
    version = "OpenHands 0.9 to 1.x (history of events), and its SDK's events"
    lost = (
        "Dollars where its price list has not the model.",
        "Outputs of single attempts of a critic: import those files by name.",
        "What was recalled from memory or microagents.",
    )  # fmt: skip

    def recognizes(self, source: Path) -> bool:
        """Whether the first row says what it is."""
        try:
            first = next((row for path in _files(source) for row in _rows(path)), {})
            history = first.get("history")
            return isinstance(history, list) and (
                "test_result" in first or "git_patch" in first or _are_events(history)
            )
        except Exception:  # noqa: BLE001 - an odd file is somebody else's
            return False

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a row."""
        for path in _files(source):
            reports = _summary(path)
            for number, row in enumerate(_rows(path), 1):
                with temporary_folder("import") as place:
                    kept = Path(place, "row.json")
                    kept.write_text(json.dumps(row), "utf-8")
                    yield _attempt(row, kept, f"{path.stem}-{number}", reports)


def _files(source: Path) -> Iterator[Path]:
    """The file itself, whatever its name, or every `output.jsonl` and saved trajectory below a folder."""
    for path in plain_files(source, ".jsonl"):
        if source.is_file() or path.name == _NAME:
            yield path
    for path in plain_files(source, ".json"):
        if _are_events(json_value(path)):
            yield path


def _are_events(history: Any) -> bool:
    """Whether a value is the events of a session: numbered, each an action or an observation, the first of somebody."""
    events = [one if isinstance(one, dict) else {} for one in history] if isinstance(history, list) else []
    typed = all(isinstance(one.get("action") or one.get("observation"), str) for one in events)
    return bool(events) and typed and "source" in events[0] and all(isinstance(one.get("id"), int) for one in events)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix == ".json":
        yield {"history": json_value(path), "instance_id": path.stem}
        return
    for line in text_lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = {}
        yield row if isinstance(row, dict) else {}


def _attempt(row: dict[str, Any], kept: Path, name: str, reports: HarnessReports) -> ForeignAttempt:
    files = {"files/row.json": kept}
    trajectory = trajectory_from(_AGENT, files, agent=_AGENT)
    issue, result = mapping(row, "issue"), mapping(row, "test_result")
    task = row.get("instance_id") or (
        f"{issue.get('owner')}__{issue.get('repo')}-{issue.get('number')}" if issue else name
    )
    patch = next((text for text in (result.get("git_patch"), row.get("git_patch")) if isinstance(text, str)), None)
    started, ended = steps_of(trajectory)
    error = row.get("error")
    return ForeignAttempt(
        task=str(task),
        agent=f"{_AGENT} @ {trajectory.model}" if trajectory.model else _AGENT,
        model=trajectory.model,
        patch=patch.encode("utf-8", "surrogatepass") if patch is not None else None,
        trajectory=trajectory,
        reported=_reported(result, reports.of(str(task))),
        started=started,
        ended=ended,
        files=files,
        problems=((f"It ended with an error: {error[:300]}",) if isinstance(error, str) and error else ())
        + trajectory.problems,
    )


def _reported(result: dict[str, Any], before: ReportedResult | None) -> ReportedResult | None:
    """What its evaluation wrote into the row, or beside it; a share below all points is no pass."""
    resolved = mapping(result, "report").get("resolved")
    if isinstance(resolved, bool) or before is not None:
        return ReportedResult(resolved, _BY) if isinstance(resolved, bool) else before
    score = mapping(result, "final_score")
    points, total = score.get("result"), score.get("total")
    if isinstance(points, int | float) and isinstance(total, int | float) and total > 0:
        return ReportedResult(points >= total, _BY, score=max(0.0, min(1.0, points / total)))
    return None


def _summary(path: Path) -> HarnessReports:
    """What is said in the reports that lie beside an output."""
    found = HarnessReports(_BY)
    for report in map(path.with_name, _REPORTS):
        if report.is_file():
            found.look(report)
    return found
