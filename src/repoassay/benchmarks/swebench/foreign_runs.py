"""Runs as SWE-bench's harness and leaderboard keep them: predictions, a report each, and the summary of a run.

What is read: predictions (`preds.json`, `all_preds.jsonl` at the top of a folder, else the one JSON or JSONL file of
them below it), and wherever they lie, the harness's `report.json` of one instance and its summary with `resolved_ids`.
Of a summary that is named by itself (MODEL.RUN.json) each instance that it lists is an attempt without a submission.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.formats import read_submissions
from repoassay.interchange import ForeignAttempt, HarnessReports, json_object, plain_files
from repoassay.text import join_names, printable

__all__ = ["SweBenchRun"]

_PREDICTIONS = ("preds.json", "all_preds.jsonl", "predictions.jsonl", "predictions.json")
_LOOKED_AT = 500
_BY = "SWE-bench's harness"


class SweBenchRun:
    """Predictions with what the harness said of them; one prediction an attempt."""

    title = "SWE-bench predictions, with the harness's reports where they lie beside them, or a summary of it alone"
    gives = "run"
    contains = ("aider", "claude-code", "codex", "gemini-cli", "trae-agent")  # sessions, with nothing of the outcome
    within = ("mini-swe-agent", "swe-agent", "openhands")  # whose runs have predictions and reports beside trajectories
    version = "swebench 2 to 5 (summaries of schema_version 2)"
    lost = ("What tests printed.", "Trajectories in forms of their own: import those by the agent's format.")

    def recognizes(self, source: Path) -> bool:
        """Whether there is a file of predictions, by name in a folder, by its keys otherwise."""
        try:
            return bool(_files_of_predictions(source)) or _is_summary(source)
        except (OSError, BadInput):
            return False

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a prediction, in the order of the file; of a summary alone, one an instance that it lists."""
        if _is_summary(source):
            yield from _listed(source)
            return
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


def _is_summary(source: Path) -> bool:
    return source.is_file() and isinstance(json_object(source).get("resolved_ids"), list)


def _listed(summary: Path) -> Iterator[ForeignAttempt]:
    reports = HarnessReports(_BY)
    reports.look(summary)
    empty = json_object(summary).get("empty_patch_ids")
    for name in reports.listed:
        none = isinstance(empty, list) and name in empty
        yield ForeignAttempt(
            task=name, agent=summary.stem, model="", patch=b"" if none else None, reported=reports.of(name)
        )


def _has_reports(source: Path) -> bool:
    """Whether reports are looked for: everywhere in a folder, and beside a file only where a summary lies there."""
    return source.is_dir() or any(
        "resolved_ids" in json_object(path) for path in sorted(source.parent.glob("*.json"))[:50]
    )


def _predictions(source: Path) -> Path:
    found = [source] if source.is_file() else _files_of_predictions(source)
    if not found:
        raise BadInput(f"{source} holds no file of predictions.", "Each has instance_id and model_patch.")
    if len(found) > 1:
        listed = join_names(printable(str(path.relative_to(source)), 200) for path in found[:9])
        raise BadInput(f"{source} holds several files of predictions: {listed}.", "Name one of them.")
    return found[0]


def _files_of_predictions(source: Path) -> list[Path]:
    """The first with a usual name in a folder, else those below, or the file itself, that begin with predictions."""
    named = [source / name for name in _PREDICTIONS if (source / name).is_file()]
    below = chain(plain_files(source, ".jsonl"), plain_files(source, ".json"))
    return named[:1] or [path for path in islice(below, _LOOKED_AT) if _holds_predictions(path)]


def _holds_predictions(path: Path) -> bool:
    with path.open("rb") as stream:
        return b'"model_patch"' in stream.read(1 << 16)
