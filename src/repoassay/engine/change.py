"""What crosses of an agent's work, and what becomes of it as a submission.

A deliverable task leaves its output folder, an edit leaves `changes.diff`, a state task the same of the folders it
names, and a pull request leaves `submission.diff`, `commits.json` and `description.md`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from repoassay.grading import COMMITS, DESCRIPTION_FILE, PULL_DIFF
from repoassay.grading.pull_request import DIFF
from repoassay.sandbox import ExportSpec, Sandbox, temporary_folder
from repoassay.text import printable
from repoassay.types import SkippedFile, TaskKind
from repoassay.workspace import (
    DESCRIPTION,
    PreparedTask,
    changes_between,
    collect_git,
    drop_environments,
    links_of,
    read_left,
)

__all__ = ["Crossing", "crossing"]

_MAX_TREE = 2 * 2**30
"""Bytes of a repository with an agent's changes that may cross for the diff to be taken."""
_MAX_ENTRIES = 200_000
"""Its files and folders, with all that is no part of the change: an environment that the agent made has 10,000."""
_NAMED = 200
_TOO_LARGE = "an environment of packages, without which the change is small enough to be taken"
_MAX_DESCRIPTION = 256 * 2**10


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where an agent's work lands before it is a submission."""

    layout: PreparedTask
    files: Path
    place: Path
    collect: tuple[ExportSpec, ...]

    def submit(self, sandbox: Sandbox, cancel: threading.Event | None = None) -> tuple[SkippedFile, ...]:
        """Write the submission's files, as far as they are not there yet; return what is left out of them.

        Raises:
            InfraFault: When our own git or the sandbox fails.
        """
        files, tree = self.files, self.place / "tree"
        if self.layout.folder.task.kind is TaskKind.DELIVERABLE:
            return ()
        if self.layout.folder.task.kind in (TaskKind.EDIT, TaskKind.STATE):
            everything = self.layout.folder.task.state is not None
            dropped = drop_environments(self.layout.base, tree) if everything else ()
            (files / DIFF).write_bytes(changes_between(self.layout.base, tree, everything=everything))
            return tuple(SkippedFile(path=printable(path, 500), reason=_TOO_LARGE) for path in dropped[:_NAMED])
        left = read_left(self.layout.base, tree, self.place / "git", sandbox, cancel)
        (files / PULL_DIFF).write_bytes(left.diff)
        (files / COMMITS).write_text(left.commits.model_dump_json(indent=1) + "\n", encoding="utf-8")
        file = self.place / "output" / DESCRIPTION
        if file.is_file():
            (files / DESCRIPTION_FILE).write_bytes(file.read_bytes().decode("utf-8", "replace").encode())
        return ()


@contextmanager
def crossing(layout: PreparedTask, files: Path) -> Iterator[Crossing]:
    """Folders for what crosses, gone afterwards but for the submission's own, `files`, which is made if need be."""
    files.mkdir(parents=True, exist_ok=True)
    task = layout.folder.task
    if task.kind is TaskKind.DELIVERABLE:
        whole = ExportSpec("/workspace/output", files, max_bytes=task.outputs.max_bytes, skip=(".git",), links=())
        yield Crossing(layout, files, files, (whole,))
        return
    with temporary_folder("tree") as scratch:
        place = Path(scratch)
        for name in ("tree", "git", "output"):
            (place / name).mkdir()
        if task.state:
            links = links_of(layout.base)
            yield Crossing(
                layout, files, place, tuple(_place_export(name, place / "tree", links) for name in task.state.places)
            )
            return
        # What npm installed is no part of any change, and more files than may cross.
        skip = (".git", "node_modules") if task.environment.node else (".git",)
        collect = [ExportSpec(layout.repository, place / "tree", _MAX_TREE, _MAX_ENTRIES, skip)]
        if task.kind is TaskKind.PULL_REQUEST:
            output = ExportSpec("/workspace/output", place / "output", max_bytes=_MAX_DESCRIPTION, max_files=100)
            collect += [collect_git(place / "git"), output]
        yield Crossing(layout, files, place, tuple(collect))


def _place_export(name: str, tree: Path, links: Sequence[str]) -> ExportSpec:
    """A folder of a state task, laid below `tree` at the same path; caches that tools leave at home stay behind.

    A link that the agent has left crosses as what it leads to; those in `links`, of the task's own files, stay links.
    """
    top = name.lstrip("/")
    into = tree / top
    into.mkdir(parents=True)
    kept = tuple(link.removeprefix(f"{top}/") for link in links if link.startswith(f"{top}/"))
    return ExportSpec(name, into, _MAX_TREE, _MAX_ENTRIES, skip=(".cache", ".npm"), links=kept)
