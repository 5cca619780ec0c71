"""Runs as SWE-bench's harness and leaderboard keep them: predictions, a report each, and the summary of a run.

What is read, wherever it lies below a folder: predictions (`preds.json`, `all_preds.jsonl`, any JSON or JSONL file of
them at the top), the harness's `report.json` of one instance, and its summary `MODEL.RUN.json` with `resolved_ids`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.formats import read_submissions
from repoassay.interchange import ForeignAttempt, HarnessReports, json_object

__all__ = ["SweBenchRun"]

_PREDICTIONS = ("preds.json", "all_preds.jsonl", "predictions.jsonl", "predictions.json")
_BY = "SWE-bench's harness"


class SweBenchRun:
    """Predictions with what the harness said of them; one prediction an attempt."""

    title = "SWE-bench predictions, with the harness's reports where they lie beside them"
    gives = "run"
    within = ("mini-swe-agent", "swe-agent", "openhands")  # whose runs have predictions and reports beside trajectories
    version = "swebench 2 to 5 (summaries of schema_version 2)"
    lost = ("What tests printed.", "Trajectories in forms of their own: import those by the agent's format.")

    def recognizes(self, source: Path) -> bool:
        """Whether there is a file of predictions, by name in a folder, by its keys otherwise."""
        try:
            if source.is_dir():
                return any((source / name).is_file() for name in _PREDICTIONS)
            with source.open("rb") as stream:
                head = stream.read(1 << 16)
        except OSError:
            return False
        return source.suffix in (".json", ".jsonl") and b'"model_patch"' in head

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a prediction, in the order of the file."""
        folder = source if source.is_dir() else source.parent
        reports = HarnessReports.below(folder, _BY) if _has_reports(source) else HarnessReports(_BY)
        for submission in read_submissions(_predictions(source)):
            yield ForeignAttempt(
                task=submission.id,
                agent=submission.model or "unknown",
                model="",
                patch=submission.content,
                reported=reports.of(submission.id),
            )


def _has_reports(source: Path) -> bool:
    """Whether reports are looked for: everywhere in a folder, and beside a file only where a summary lies there."""
    return source.is_dir() or any(
        "resolved_ids" in json_object(path) for path in sorted(source.parent.glob("*.json"))[:50]
    )


def _predictions(source: Path) -> Path:
    if source.is_file():
        return source
    found = [source / name for name in _PREDICTIONS if (source / name).is_file()]
    if not found:
        raise BadInput(f"{source} holds no file of predictions.", f"It would be called {', '.join(_PREDICTIONS)}.")
    return found[0]
