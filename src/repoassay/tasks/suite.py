"""A suite with every task read, or every problem of every task at once."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from repoassay.errors import BadInput, BadTask, Problem
from repoassay.tasks import TaskFolder, digest_folder, read_task
from repoassay.tasks.suite_location import Located, locate
from repoassay.tasks.suite_manifest import Manifest, need_data
from repoassay.text import join_names, printable, quote, suggest
from repoassay.types import Suite

__all__ = ["SuiteFolder", "find_suite"]

_MOST = 200
"""Problems reported of one suite."""


@dataclass(frozen=True, slots=True)
class SuiteFolder:
    """A suite whose tasks were read and found sound.

    `tasks` are sorted by id and are those that were asked for. `repositories` is where bundled repositories lie.
    `digest` is a sha256 over name, version, tasks and the bundled repositories the tasks use. `manifest` says what data
    lies apart from the task folders; None where none does.
    """

    path: Path
    suite: Suite
    tasks: tuple[TaskFolder, ...]
    repositories: Path | None
    digest: str
    manifest: Manifest | None = None

    def need_data(self) -> None:
        """Raise `BadInput`, with the remedy, when the suite's data was never fetched."""
        need_data(self.manifest, self.suite.name)

    def live(self, ids: Collection[str] = ()) -> SuiteFolder:
        """The suite without its retired tasks, but for those of these ids.

        Raises:
            BadInput: When none is left.
        """
        tasks = tuple(each for each in self.tasks if each.task.status == "active" or each.task.id in ids)
        if not tasks:
            raise BadInput(
                f"Every task of {self.suite.name} is retired.", "Name one with --task ID to run it all the same."
            )
        return self if len(tasks) == len(self.tasks) else replace(self, tasks=tasks)

    def released(self) -> SuiteFolder:
        """The suite with every repository that names a release replaced by it; digests stay those of the folders."""
        return replace(self, tasks=tuple(_released(folder) for folder in self.tasks))


def _released(folder: TaskFolder) -> TaskFolder:
    repository = folder.task.repository.released()
    return replace(folder, task=folder.task.model_copy(update={"repository": repository}))


def find_suite(
    name_or_path: str | Path, *, metrics: Collection[str] | None = None, only: Sequence[str] = ()
) -> SuiteFolder:
    """Find a suite and read its tasks.

    Args:
        name_or_path: Name of a bundled suite or a plug-in's, a folder with `suite.toml`, a folder of task folders, or a
            task folder.
        metrics: Names of the known metrics; None to accept any name.
        only: Globs over task ids; empty for all.

    Raises:
        BadInput: When there is no such suite or no task matches.
        BadTask: With every problem of every task asked for, when there is one.
    """
    located = locate(name_or_path)
    tasks: list[TaskFolder] = []
    problems: list[Problem] = []
    for folder in _chosen(located, only):
        try:
            located.refuse_link(folder)
            elsewhere = located.manifest.elsewhere(folder.name) if located.manifest else None
            tasks.append(read_task(folder, repositories=located.repositories, metrics=metrics, elsewhere=elsewhere))
        except BadTask as error:
            problems += located.placed(folder, error.problems)
    if problems:
        raise _bad_suite(located, problems)
    tasks.sort(key=lambda task: task.task.id)
    digest = _digest(located, tasks)
    return SuiteFolder(located.path, located.suite, tuple(tasks), located.repositories, digest, located.manifest)


def _chosen(located: Located, only: Sequence[str]) -> list[Path]:
    """Task folders asked for; a task's id is its folder's name."""
    chosen = [path for path in located.folders if not only or any(fnmatchcase(path.name, glob) for glob in only)]
    if not chosen:
        globs = " or ".join(quote(glob) for glob in only)
        ids = [path.name for path in located.folders]
        near = suggest(only[0], [*ids, *_beginnings(ids)], list_known=False)
        near = "Name each task by itself." if "," in only[0] else near
        raise BadInput(
            f"No task of {located.suite.name} matches {globs}.",
            f"{near} Its tasks are: {join_names(ids, 200)}.".lstrip(),
        )
    return chosen


def _beginnings(ids: Sequence[str]) -> list[str]:
    """Globs that people write: the first word of an id, and anything."""
    return sorted({f"{name.partition('-')[0]}-*" for name in ids if "-" in name})


def _bad_suite(located: Located, problems: Sequence[Problem]) -> BadTask:
    listing = list(problems[:_MOST])
    if len(problems) > _MOST:
        listing.append(Problem(".", "", "has more problems than are listed here.", "Solve these first."))
    alone = located.folders == (located.path,)
    return BadTask(printable(str(located.path), 500), listing, noun="task folder" if alone else "suite")


def _digest(located: Located, tasks: Sequence[TaskFolder]) -> str:
    total = hashlib.sha256(f"{located.suite.name}\n{located.suite.version}\n".encode())
    sources = {task.task.repository.source for task in tasks}
    bundled = sorted(source.removeprefix("bundled:") for source in sources if source.startswith("bundled:"))
    for task in tasks:
        total.update(f"task {task.task.id} {task.digest}\n".encode())
    for name in bundled:
        assert located.repositories is not None  # reading the task made sure
        total.update(f"repository {name} {digest_folder(located.repositories / name)}\n".encode())
    return total.hexdigest()
