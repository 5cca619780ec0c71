"""The folders that a state task names, in its checkout and in a sandbox."""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath

from repoassay.errors import InfraFault
from repoassay.sandbox import Access, Mount
from repoassay.types import Task, WorkspaceState

__all__ = ["check_interpreter", "make_folder", "state_mounts"]


def state_mounts(state: WorkspaceState, base: Path, access: Access = Access.COPY_ON_WRITE) -> tuple[Mount, ...]:
    """The folders of a state task, as they are in its checkout, at their own places."""
    return tuple(Mount(base / place.lstrip("/"), place, access) for place in state.places)


def make_folder(part: Path, name: str) -> None:
    """Make a folder of a state task by its absolute path, through folders alone."""
    place = part
    for inner in PurePosixPath(name).parts[1:]:
        place /= inner
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise InfraFault(f"The task's files have {place.relative_to(part)}, which must be a folder.")
        place.mkdir(exist_ok=True)


def check_interpreter(task: Task) -> None:
    """Raise `InfraFault` where a folder of a task would cover the interpreter that its environment leads to."""
    if task.state is None or task.environment.release_line:
        return
    for place in task.state.places:
        if Path(sys.base_prefix).is_relative_to(place):
            raise InfraFault(
                f"The task {task.id} has the folder {place}, below which this machine's Python lies.",
                "Write environment.python as one release line, such as '3.11': it is then an installation of its own.",
            )
