"""Runs as SWE-bench's harness and leaderboard keep them: predictions, a report each, and the summary of a run.

What is read, wherever it lies below a folder: predictions (`preds.json`, `all_preds.jsonl`, any JSON or JSONL file of
them at the top), the harness's `report.json` of one instance, and its summary `MODEL.RUN.json` with `resolved_ids`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repoassay.errors import BadInput
from repoassay.formats import PatchSubmission, read_submissions
from repoassay.interchange import ForeignAttempt, ReportedResult, json_object, plain_files
from repoassay.text import printable
from repoassay.types import TestResult

__all__ = ["SweBenchRun"]

_PREDICTIONS = ("preds.json", "all_preds.jsonl", "predictions.jsonl", "predictions.json")
_BY = "SWE-bench's harness"
_LISTS = ("resolved_ids", "unresolved_ids", "error_ids", "empty_patch_ids")


class SweBenchRun:
    """Predictions with what the harness said of them; one prediction an attempt."""

    title = "SWE-bench predictions, with the harness's reports where they lie beside them"
    gives = "run"
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
        reports = _Reports()
        for path in plain_files(source if source.is_dir() else source.parent, ".json") if _has_reports(source) else ():
            reports.look(path)
        for submission in read_submissions(_predictions(source)):
            yield ForeignAttempt(
                task=submission.id,
                agent=submission.model or "unknown",
                model="",
                patch=submission.content,
                reported=reports.of(submission),
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


@dataclass(slots=True)
class _Reports:
    """What the harness said: summaries by instance, what its machine spoiled, reports of single instances."""

    listed: dict[str, str] = field(default_factory=dict)
    doubted: dict[str, str] = field(default_factory=dict)
    single: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def look(self, path: Path) -> None:
        """Take a file in, if it is a report."""
        if path.name == "report.json":
            for name, one in json_object(path).items():
                if isinstance(one, dict) and "resolved" in one:
                    self.single[name] = one
            return
        if path.name in _PREDICTIONS or path.stat().st_size > 32 * 2**20:
            return
        summary = json_object(path)
        for kind in _LISTS if "resolved_ids" in summary else ():
            names = summary.get(kind)
            for name in names if isinstance(names, list) else ():
                self.listed.setdefault(str(name), kind)
        failed, reasons = summary.get("infra_failure_ids"), summary.get("failure_reasons")
        for name in failed if isinstance(failed, list) else ():
            self.doubted[str(name)] = str(reasons.get(name, "")) if isinstance(reasons, dict) else ""

    def of(self, submission: PatchSubmission) -> ReportedResult | None:
        """What was said of a prediction; the report of its own instance goes before a list, a fault before both.

        The harness counts what its own machine spoiled as unresolved; here nobody is blamed for that.
        """
        if submission.id in self.doubted:
            why = printable(self.doubted[submission.id], 200)
            return ReportedResult(None, _BY, comments=(f"The harness says that its machine failed: {why}.",))
        single = self.single.get(submission.id)
        if single is not None and isinstance(single.get("resolved"), bool):
            applied = single.get("patch_successfully_applied")
            comments = ("The patch did not apply.",) if applied is False else ()
            return ReportedResult(bool(single["resolved"]), _BY, tests=tuple(_tests(single)), comments=comments)
        kind = self.listed.get(submission.id)
        if kind in ("resolved_ids", "unresolved_ids"):
            return ReportedResult(kind == "resolved_ids", _BY)
        return ReportedResult(None, _BY, comments=(f"Listed among {kind}.",)) if kind else None


def _tests(single: Mapping[str, Any]) -> Iterator[TestResult]:
    status = single.get("tests_status")
    for group in status.values() if isinstance(status, dict) else ():
        for word, outcome in (("success", "passed"), ("failure", "failed")):
            names = group.get(word) if isinstance(group, dict) else None
            for name in names if isinstance(names, list) else ():
                yield TestResult.model_validate({"id": str(name)[:1000], "outcome": outcome})
