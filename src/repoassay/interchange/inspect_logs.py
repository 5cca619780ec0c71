"""Evaluation logs of Inspect as runs: `.eval` files (a zip of JSON files) and logs in one JSON file."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.agents import EvalFile, mapping, moment
from repoassay.errors import BadInput
from repoassay.interchange.agent_files import (
    json_object,
    plain_files,
    steps_of,
    trajectory_from,
)
from repoassay.interchange.foreign_run import ForeignAttempt, ReportedResult
from repoassay.interchange.verdict_scores import told_result, told_verdict
from repoassay.sandbox import temporary_folder
from repoassay.text import printable
from repoassay.types import Outcome

__all__ = ["InspectLogs"]

_MARKS = (b'"eval_id"', b'"inspect_ai"')
_GRADES = {"C": True, "I": False, "P": False}
"""Letters of Inspect's scorers: correct, incorrect, partially correct."""


class InspectLogs:
    """Each sample in each epoch an attempt; what its first scorer says is reported."""

    title = "evaluation logs of Inspect: .eval, or JSON"
    gives = "run"
    version = "log format 2 (inspect_ai 0.3)"
    lost = (
        "Scores after the first, events other than model calls, stores and attachments.",
        "What an agent handed in, where no sample keeps it as a patch.",
    )  # fmt: skip

    def recognizes(self, source: Path) -> bool:
        """Whether the file, or one in the folder itself, is such a log."""
        try:
            files = (
                [source]
                if source.is_file()
                else [*sorted(source.glob("*.eval"))[:3], *sorted(source.glob("*.json"))[:20]]
            )
            return any(_is_log(path) for path in files)
        except OSError:
            return False

    def attempts(self, source: Path) -> Iterator[ForeignAttempt]:
        """One attempt a sample and epoch."""
        for path in [*plain_files(source, ".eval"), *plain_files(source, ".json")]:
            if _is_log(path):
                yield from _attempts(path)


def _is_log(path: Path) -> bool:
    if path.suffix == ".eval":
        return zipfile.is_zipfile(path)
    with path.open("rb") as stream:
        head = stream.read(1 << 16)
    return any(mark in head for mark in _MARKS) and b'"eval"' in head


def _attempts(path: Path) -> Iterator[ForeignAttempt]:
    if path.suffix == ".eval":
        yield from _zipped(path)
        return
    log = json_object(path)
    samples = log.get("samples")
    for sample in samples if isinstance(samples, list) else ():
        if isinstance(sample, dict):
            yield _attempt(log, sample)


def _zipped(path: Path) -> Iterator[ForeignAttempt]:
    """The samples of a zip, one in memory at a time."""
    try:
        with EvalFile(path) as log:
            for name, sample in log.samples():
                yield _attempt(log.header, sample) if sample else _unreadable(name)
    except zipfile.BadZipFile as error:
        raise BadInput(
            f"{printable(str(path), 500)} cannot be read: {printable(str(error), 200)}.",
            "Write it again with `inspect log convert`, or copy it whole.",
        ) from error


def _unreadable(name: str) -> ForeignAttempt:
    task = Path(name).stem.rpartition("_epoch_")[0] or Path(name).stem
    return ForeignAttempt(task, "unknown", problems=("Its sample is no JSON object, or larger than 64 MiB.",))


def _attempt(log: dict[str, Any], sample: dict[str, Any]) -> ForeignAttempt:
    evaluation, own = mapping(log, "eval"), mapping(sample, "metadata", "repoassay")
    model = _model(str(evaluation.get("model") or ""), sample)
    solver = str(evaluation.get("solver") or evaluation.get("task") or "inspect")
    agent = str(own.get("agent") or "") or (f"{solver} @ {model}" if model else solver)
    # Of a log with one sample alone, what the whole spent is what the sample did.
    document = {"eval": evaluation, "status": log.get("status"), "samples": [sample]}
    with temporary_folder("import") as place:
        part = Path(place, "log.json")
        part.write_text(json.dumps(document), "utf-8")
        trajectory = trajectory_from("inspect", {"files/log.json": part}, agent=solver, model=model)
    first, last = steps_of(trajectory)
    return ForeignAttempt(
        task=str(sample.get("id") or ""),
        agent=agent,
        model=model,
        patch=_patch(sample),
        trajectory=trajectory,
        reported=_reported(sample, str(mapping(evaluation, "packages").get("inspect_ai") or "")),
        started=moment(sample.get("started_at")) or first,
        ended=moment(sample.get("completed_at")) or last,
        problems=trajectory.problems,
    )


def _model(model: str, sample: dict[str, Any]) -> str:
    """The model of the evaluation; where that asked none, the one that the sample has figures of."""
    if model not in ("", "none", "none/none"):
        return model
    used = [name for name in mapping(sample, "model_usage") if name != "none"]
    return used[0] if len(used) == 1 else ""


def _patch(sample: dict[str, Any]) -> bytes | None:
    """A diff, where the sample keeps one: in a store or in metadata of its score or its own."""
    places = [mapping(sample, "store"), mapping(sample, "metadata")]
    scores = sample.get("scores")
    scores = [mapping(score) for score in scores.values()] if isinstance(scores, dict) else []
    places += [mapping(score, "metadata") for score in scores]
    for place in places:
        for key in ("model_patch", "diff", "submission"):  # never `patch`, under which data sets keep the solution
            text = place.get(key)
            if isinstance(text, str) and ("\n+++ " in text or text.startswith("diff --git ")):
                return text.encode("utf-8", "surrogatepass")
    nothing = any(told_verdict(score).get("outcome") == Outcome.NO_OUTPUT.value for score in scores)
    return b"" if nothing else None


def _reported(sample: dict[str, Any], version: str) -> ReportedResult | None:
    scores = sample.get("scores")
    by = f"inspect_ai {version}".rstrip()
    error = mapping(sample, "error").get("message")
    if not isinstance(scores, dict) or not scores:
        return ReportedResult(None, by, comments=(f"It ended with an error: {str(error)[:300]}",)) if error else None
    name, score = next(iter(scores.items()))
    if own := told_result(mapping(score)):
        return own
    value = mapping(score).get("value")
    passed = _GRADES.get(value) if isinstance(value, str) else value if isinstance(value, bool) else None
    share = None
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):  # NaN is unscored
        share, passed = float(value), value >= 1
    explanation = mapping(score).get("explanation")
    comments = (str(explanation)[:2000],) if isinstance(explanation, str) and explanation.strip() else ()
    return ReportedResult(passed, f"{by} ({name})", score=share, comments=comments)
