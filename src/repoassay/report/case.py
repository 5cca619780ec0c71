"""The facts of an attempt that diagnosis wants: from the task where its folder still is, else from the plan.

`case_of` is the one way to build a `AttemptCase` of a run's attempt; tables and `repoassay diagnose` share it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from repoassay.diagnosis import AttemptCase, PackageRequest
from repoassay.errors import BadInput, RepoAssayError
from repoassay.records import OBJECTS, JsonLines, parse
from repoassay.tasks import Located, TaskFolder, locate, read_regular, read_task, step_folders
from repoassay.types import Attempt, Outcome, PlannedTask, Submission, TaskKind

__all__ = ["TaskFacts", "case_of", "read_attempt_file"]

_MOST_ATTEMPT = 64 * 2**20
_MOST_DIFF = 400_000
_MOST_NAMES = 2000
_DIFF = "changes.diff"
_NETWORK = "network.jsonl"
_TESTS = re.compile(r"(?:[\w.-]+/)*(?:test_[\w-]+|[\w-]+_test)\.\w+")
_TELLING = re.compile(r"(?:^|[._-])(?:gt|(?:ground[._-]?)?truth|gold(?:en)?)(?:[._-]|\d|$)", re.IGNORECASE)
"""Names of hidden files that no agent gives its own: of others, meeting one says nothing about where it came from."""


class TaskFacts:
    """What the tasks of a run's suite tell, each read once, as long as suite and task are still those of the plan.

    Args:
        suite: The suite's folder, or its name, as the plan has it.
    """

    def __init__(self, suite: str) -> None:
        self._suite = suite
        self._located: Located | None = None
        self._looked = False
        self._cases: dict[str, AttemptCase | None] = {}

    def of(self, planned: PlannedTask) -> AttemptCase | None:
        """The facts of one task; None where its folder is gone, cannot be read, or holds another task by now."""
        if planned.id not in self._cases:
            folder = self._folder(planned)
            self._cases[planned.id] = _task_case(folder, self._located) if folder is not None else None
        return self._cases[planned.id]

    def _folder(self, planned: PlannedTask) -> TaskFolder | None:
        located = self._place()
        if located is None:
            return None
        path = next((path for path in located.folders if path.name == planned.id), None)
        if path is None:
            return None
        try:
            located.refuse_link(path)
            elsewhere = located.manifest.elsewhere(path.name) if located.manifest else None
            folder = read_task(path, repositories=located.repositories, elsewhere=elsewhere)
        except (RepoAssayError, OSError):
            return None
        return folder if folder.digest == planned.digest else None

    def _place(self) -> Located | None:
        if not self._looked:
            self._looked = True
            try:
                self._located = locate(self._suite) if self._suite else None
            except (RepoAssayError, OSError):
                self._located = None
        return self._located


def case_of(
    planned: PlannedTask | None, folder: Path, outcome: Outcome | None, facts: TaskFacts | None = None,
    submission: Submission | None = None,
) -> AttemptCase:  # fmt: skip
    """The facts of one attempt.

    Args:
        planned: Its task as the plan has it; None where the plan does not hold it.
        folder: The attempt's folder.
        outcome: How it was judged, which the latest verdict says.
        facts: Tells more of the task where its suite is still there; one object serves a whole run.
        submission: What it left; read from `attempt.json` when None.
    """
    if submission is None:
        attempt = read_attempt_file(folder)
        submission = attempt.submission if attempt is not None else None
    known_case = facts.of(planned) if facts is not None and planned is not None else None
    case = known_case or (_planned_case(planned) if planned is not None else AttemptCase())
    left = tuple(item.path for item in submission.files[:_MOST_NAMES]) if submission is not None else None
    patch = _text(folder / "submission" / _DIFF) if case.edit else ""
    requests = tuple(_requests(folder / _NETWORK)) if case.edit else ()
    return replace(case, outcome=outcome, left=left, patch=patch, requests=requests)


def read_attempt_file(folder: Path) -> Attempt | None:
    """The attempt that `attempt.json` of a folder holds; None where it cannot be read."""
    try:
        return parse(Attempt, read_regular(folder / "attempt.json", _MOST_ATTEMPT), str(folder / "attempt.json"))
    except (OSError, ValidationError):
        return None


def _requests(journal: Path) -> Iterator[PackageRequest]:
    """Requests to the proxy and the index, in their order; nothing of a journal that cannot be read."""
    try:
        lines = JsonLines(journal, OBJECTS).read().items
    except BadInput:
        return
    for line in lines:
        project, file, host, rule = (str(line.get(key) or "")[:300] for key in ("project", "file", "host", "rule"))
        if project or file or host:
            yield PackageRequest(project, file, host, line.get("allowed") is True, rule)


def _planned_case(planned: PlannedTask) -> AttemptCase:
    return AttemptCase(
        repository=planned.repository, expected=planned.outputs, edit=planned.kind is not TaskKind.DELIVERABLE
    )


def _task_case(folder: TaskFolder, located: Located | None) -> AttemptCase:
    task = folder.task
    tree = _tree(folder, located)
    case = AttemptCase.of(task, packages=tuple(_packages(tree, task.environment.path)), instruction=folder.instruction)
    edit = task.kind.changes_repository
    return replace(
        case,
        ground_truth=tuple(_hidden(folder, tree)),
        reference=_text([folder, *step_folders(folder)][-1].solution / _DIFF) if edit else "",
        tests_named=tuple(dict.fromkeys(_TESTS.findall(folder.instruction[:50_000])))[:50] if edit else (),
    )


@dataclass(frozen=True, slots=True)
class _Tree:
    """A bundled repository: its files by their path in it."""

    root: Path
    files: tuple[PurePosixPath, ...]


def _tree(folder: TaskFolder, located: Located | None) -> _Tree | None:
    """The repository where it lies beside the tasks; those that are fetched are not looked for."""
    kind, _, name = folder.task.repository.source.partition(":")
    if kind != "bundled" or located is None or located.repositories is None:
        return None
    root = located.repositories / name
    return _Tree(root, tuple(_walk(root)))


def _walk(root: Path) -> Iterator[PurePosixPath]:
    seen = 0
    for place, _, names in os.walk(root, followlinks=False):
        for name in names:
            seen += 1
            if seen > 20_000:
                return
            yield PurePosixPath(Path(place, name).relative_to(root).as_posix())


def _packages(tree: _Tree | None, paths: tuple[str, ...]) -> Iterator[str]:
    """Import names: packages and modules at the top of each folder on the import path."""
    if tree is None:
        return
    for start in paths:
        base = PurePosixPath(start)
        for path in tree.files:
            try:
                parts = path.relative_to(base).parts
            except ValueError:
                continue
            if len(parts) == 2 and parts[1] == "__init__.py":
                yield parts[0]
            elif len(parts) == 1 and path.suffix == ".py" and path.stem not in ("setup", "conftest"):
                yield path.stem


def _hidden(folder: TaskFolder, tree: _Tree | None) -> Iterator[str]:
    """Telling names of hidden files that no file the agent may see or is to make has as well."""
    task = folder.task
    seen = {PurePosixPath(name).name for name in (*task.inputs.files, *task.outputs.files)}
    seen |= {path.name for path in tree.files} if tree is not None else set()
    walks = (_walk(each.tests) for each in (folder, *step_folders(folder)))
    for number, path in enumerate(chain.from_iterable(walks)):
        if number >= _MOST_NAMES:
            return
        if path.name not in seen and _TELLING.search(path.name):
            yield path.name


def _text(path: Path) -> str:
    try:
        return read_regular(path, 64 * 2**20)[:_MOST_DIFF].decode("utf-8", "replace")
    except OSError:
        return ""
