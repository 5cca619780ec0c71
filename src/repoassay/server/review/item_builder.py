"""What is shown of one attempt and of its task, read from their folders within bounds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from repoassay.errors import RepoAssayError
from repoassay.grading import DESCRIPTION_FILE, PULL_DIFF
from repoassay.grading.pull_request import DIFF
from repoassay.records import FinishedAttempt, RunFolder
from repoassay.report import AttemptTimeline
from repoassay.review import ItemPayload, Output
from repoassay.server.review.blobs import Blobs
from repoassay.server.review.outputs import media_of
from repoassay.tasks import locate, read_regular, scan
from repoassay.text import clip
from repoassay.types import TaskKind

__all__ = ["TaskSide", "evidence_for", "human_payload", "payload_for", "task_side"]

_MOST_DIFF = 16 * 2**20
_MOST_TEXT = 2**20
_MOST_OUTPUT = 64 * 2**20
_MOST_OUTPUTS = 200
_MOST_STEPS = 400
_MOST_STEP = 4000
_MOST_SIGNALS = 4 * 2**20


@dataclass(frozen=True, slots=True)
class TaskSide:
    """What a task gives to a review. `solution` is the human's change, empty where there is none."""

    title: str
    kind: TaskKind
    issue: str = ""
    rules: str = ""
    solution: str = ""
    description: str = ""
    tests: Path | None = None
    repository: str = ""


def task_side(run: RunFolder, task: str) -> TaskSide:
    """Read a task as the run's plan names it; what is not on this machine any more is empty."""
    planned = next(each for each in run.plan.tasks if each.id == task)
    folder = Path(planned.folder)
    return TaskSide(
        title=planned.title,
        kind=planned.kind,
        issue=_text(folder / "instruction.md"),
        rules=_text(folder / "contributing.md"),
        solution=_text(folder / "solution" / DIFF, _MOST_DIFF) if planned.kind.changes_repository else "",
        description=_text(folder / "solution" / DESCRIPTION_FILE),
        tests=_tests(run, folder, task),
        repository=planned.repository[:500],
    )


def payload_for(side: TaskSide, found: FinishedAttempt, blobs: Blobs) -> ItemPayload:
    """What raters see of an attempt, before it is blinded."""
    files = found.folder / "submission"
    if side.kind is TaskKind.DELIVERABLE:
        return ItemPayload(title=side.title, issue=side.issue, outputs=_outputs(files, side.tests, blobs))
    pull = side.kind is TaskKind.PULL_REQUEST
    return ItemPayload(
        title=side.title,
        issue=side.issue,
        rules=side.rules,
        description=_text(files / DESCRIPTION_FILE) if pull else "",
        diff=_text(files / (PULL_DIFF if pull else DIFF), _MOST_DIFF),
        reference=side.solution or None,
    )


def human_payload(side: TaskSide) -> ItemPayload:
    """The human's change in the place of an attempt's, so that nothing tells it apart."""
    return ItemPayload(
        title=side.title, issue=side.issue, rules=side.rules, description=side.description, diff=side.solution,
        reference=side.solution,
    )  # fmt: skip


def evidence_for(story: AttemptTimeline) -> dict[str, Any]:
    """What is revealed of an attempt: verdict, tests, signals and steps, as JSON values."""
    verdict = story.found.verdict
    return {
        "outcome": verdict.outcome.value,
        "comments": [_clipped(each, 1000) for each in verdict.comments[:50]],
        "tests": [
            {"id": _clipped(test.id, 500), "outcome": test.outcome, "message": _clipped(test.message, 500)}
            for test in verdict.tests[:500]
        ],
        "signals": _signals(story.found.folder),
        "steps": _steps(story),
    }


def _steps(story: AttemptTimeline) -> list[str]:
    lines = []
    for step in story.trajectory.steps[:_MOST_STEPS] if story.trajectory else ():
        parts = [f"{step.source.value}: {step.text}".rstrip()]
        parts += [f"$ {call.name} {_arguments(call.arguments)}" for call in step.calls]
        parts += [f"> {each.text}" for each in step.observations]
        lines.append(_clipped("\n".join(parts), _MOST_STEP))
    return lines


def _arguments(arguments: Mapping[str, Any]) -> str:
    return " ".join(value if isinstance(value, str) else json.dumps(value) for value in arguments.values())


def _signals(folder: Path) -> list[Any]:
    """Read `signals.json` where signals were measured: a list, or an object with one."""
    try:
        document = json.loads(read_regular(folder / "signals.json", _MOST_SIGNALS))
    except (OSError, ValueError, RecursionError):
        return []
    found = document.get("signals", []) if isinstance(document, dict) else document
    return found[:500] if isinstance(found, list) else []


def _outputs(files: Path, tests: Path | None, blobs: Blobs) -> tuple[Output, ...]:
    found = []
    truths = sorted(scan(tests).files) if tests is not None and tests.is_dir() else []
    for path in sorted(scan(files).files)[:_MOST_OUTPUTS]:
        try:
            data = read_regular(files / path, _MOST_OUTPUT)
        except OSError:
            continue
        truth = _counterpart(path, truths)
        digest = None
        if truth is not None and tests is not None:
            try:
                digest = blobs.put(read_regular(tests / truth, _MOST_OUTPUT))
            except OSError:
                digest = None
        shown = path.encode("utf-8", "replace").decode()[:1024]
        found.append(Output(path=shown, media=media_of(path), sha256=blobs.put(data), truth=digest))
    return tuple(found)


def _counterpart(path: str, truths: list[str]) -> str | None:
    """Return the human file to set beside a delivered one: of the same name, else the only one of the same kind."""
    name, ending = PurePosixPath(path).name, PurePosixPath(path).suffix.lower()
    same = [each for each in truths if PurePosixPath(each).name == name]
    if same:
        return same[0]
    alike = [each for each in truths if ending and ending != ".py" and PurePosixPath(each).suffix.lower() == ending]
    return alike[0] if len(alike) == 1 else None


def _tests(run: RunFolder, folder: Path, task: str) -> Path | None:
    try:
        located = locate(run.plan.suite_folder)
    except RepoAssayError:
        return folder / "tests"
    return located.manifest.elsewhere(task).tests if located.manifest else folder / "tests"


def _text(path: Path, most: int = _MOST_TEXT) -> str:
    try:
        # A null character cannot be kept in PostgreSQL.
        return read_regular(path, most).decode("utf-8", "replace").replace("\0", "\ufffd")
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"[This file cannot be shown: {error.strerror or type(error).__name__}.]"


def _clipped(text: str, most: int) -> str:
    return clip(text.encode("utf-8", "replace").decode().replace("\0", "\ufffd"), most)
