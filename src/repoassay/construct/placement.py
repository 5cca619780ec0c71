"""Where a task is made, and where it goes: a folder beside its final place, the bundled tree, the name it gets."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from repoassay.construct.history import History
from repoassay.construct.submodules import fill_submodules, submodules_of
from repoassay.construct.task_draft import TaskDraft
from repoassay.errors import BadInput, DiskFull
from repoassay.sandbox import remove_tree
from repoassay.tasks import digest_folder
from repoassay.text import printable, quote
from repoassay.workspace import fetch_commit

__all__ = ["bundle_base", "check_free", "part_folder", "place_task", "remove_parts", "tasks_folder", "write_task_draft"]

_PART = ".part-"
_NO_MIRRORS: Mapping[str, str] = MappingProxyType({})


def tasks_folder(folder: Path) -> Path:
    """The folder of tasks: a suite's `tasks`, or the folder itself."""
    return folder / "tasks" if (folder / "suite.toml").exists() else folder


def check_free(place: Path) -> None:
    """Refuse a place that is taken.

    Raises:
        BadInput: When something is there.
    """
    if os.path.lexists(place):
        raise BadInput(
            f"The folder {printable(str(place), 500)} exists.", "Remove it, or choose another --id or --out."
        )


@contextlib.contextmanager
def part_folder(folder: Path) -> Iterator[Path]:
    """A folder below it that is gone afterwards, with the folder itself if that is then empty and was made."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    part: Path | None = None
    try:
        with _writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            part = Path(tempfile.mkdtemp(prefix=_PART, dir=folder))
            part.chmod(0o755)
        yield part
    finally:
        if part is not None:
            remove_tree(part)
        for each in made:
            with contextlib.suppress(OSError):  # not empty: the task is in it
                each.rmdir()


def remove_parts(folder: Path) -> None:
    """Remove folders that processes left which were killed; nobody may be working there."""
    for part in folder.glob(f"{_PART}*"):
        remove_tree(part)


@contextlib.contextmanager
def _writing(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        name = f"the folder {printable(str(place), 500)}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(name) from error
        raise BadInput(
            f"T{name[1:]} cannot be written: {error.strerror or error}.", "Choose another with --out."
        ) from error


def write_task_draft(draft: TaskDraft, part: Path) -> Path:
    """Write a draft's files below a folder, and return the task's own."""
    with _writing(part):
        for path, content in draft.files.items():
            file = part / draft.task.id / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    return part / draft.task.id


def bundle_base(
    draft: TaskDraft, history: History, part: Path, folder: Path, mirrors: Mapping[str, str] = _NO_MIRRORS
) -> Path:
    """Lay out the base tree that is stored with a task; its final place must be free or hold the same.

    Args:
        draft: The task.
        history: Its repository.
        part: Folder in which the task is made.
        folder: Of the suite.
        mirrors: Where repositories of its submodules lie, by URL.

    Raises:
        BadInput: When something else is there, or a submodule cannot be had.
    """
    tree = part / "repositories" / draft.task.repository.source.removeprefix("bundled:")
    tree.mkdir(parents=True)
    fetch_commit(str(history.place), draft.base, tree)
    if mirrors:
        fill_submodules(submodules_of(history, draft.base), mirrors, tree)
    _is_home(folder / "repositories" / tree.name, tree)  # before the proofs, which take time
    return tree


def _is_home(home: Path, tree: Path) -> bool:
    """Whether a tree has its place already; raises `BadInput` when something else is there."""
    if not os.path.lexists(home):
        return False
    if home.is_symlink() or digest_folder(home) != digest_folder(tree):
        raise BadInput(
            f"The folder {printable(str(home), 500)} exists and holds other files.",
            f"Remove {quote(home.name)} there.",
        )
    return True


def place_task(task: Path, tree: Path | None, folder: Path) -> Path:
    """Give the task its name, and its repository too, unless the same tree is there already."""
    place = tasks_folder(folder) / task.name
    check_free(place)
    with _writing(folder):
        place.parent.mkdir(exist_ok=True)
        if tree is not None:
            home = folder / "repositories" / tree.name
            home.parent.mkdir(exist_ok=True)
            if not _is_home(home, tree):
                tree.rename(home)
        task.rename(place)
    return place
