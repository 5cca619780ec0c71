"""One copy on disk of what two entries of the cache hold alike: hard links, made once nothing alive can write to it."""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from repoassay.sandbox import check_limit

__all__ = ["FileState", "copy_tree", "file_states", "share_files"]

FileState = tuple[int, int, int, int, int]
"""Inode, mode, bytes, and the times of the last change of content and of anything, in nanoseconds."""


def file_states(tree: Path) -> dict[str, FileState]:
    """The state of every file of a tree by its path, before strangers may write to it.

    Nobody can set the time at which the kernel saw the last change, so a file in the same state later was not touched.
    """
    found: dict[str, FileState] = {}
    for folder, _, files in os.walk(tree):
        for name in files:
            path = Path(folder, name)
            found[os.path.relpath(path, tree)] = _state(path.lstat())
    return found


def _state(status: os.stat_result) -> FileState:
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def copy_tree(source: Path, target: Path) -> None:
    """Copy a tree, links as links, to a folder that may be there; ends early as `check_limit` says."""

    def copy(file: str, place: str) -> str:
        check_limit()
        return str(shutil.copy2(file, place, follow_symlinks=False))

    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, copy_function=copy)


def share_files(
    tree: Path, original: Path, *, times: bool = True, copied: Mapping[str, FileState] | None = None
) -> None:
    """Replace every file of a tree by a link to the original's at the same place, where they are equal.

    Args:
        tree: A dead build's tree.
        original: A tree that nobody may change.
        times: Whether the time of the last change must be equal too, by which Python trusts its byte code.
        copied: States of the tree's files when they had just been copied from the original: those still in them are
            taken for equal without being read.
    """
    states = copied or {}
    if tree.is_symlink():  # a build may have put one in a folder's place
        return
    for folder, _, files in os.walk(tree):
        check_limit()
        other = original / os.path.relpath(folder, tree)
        if other.is_symlink() or not other.is_dir():
            continue
        for name in files:
            known = states.get(os.path.relpath(f"{folder}/{name}", tree))
            if _alike(Path(folder, name), other / name, known, times=times):
                _link(other / name, Path(folder, name))


def _alike(file: Path, other: Path, known: FileState | None, *, times: bool) -> bool:
    try:
        first, second = file.lstat(), other.lstat()
    except OSError:
        return False
    plain = stat.S_ISREG(first.st_mode) and stat.S_ISREG(second.st_mode) and first.st_ino != second.st_ino
    run = bool(first.st_mode & 0o100) == bool(second.st_mode & 0o100)
    if not plain or not run or first.st_size != second.st_size:
        return False
    if times and first.st_mtime_ns != second.st_mtime_ns:
        return False
    return _state(first) == known or filecmp.cmp(file, other, shallow=False)


def _link(original: Path, file: Path) -> None:
    spare = file.with_name(f".{os.getpid()}.shared")
    with contextlib.suppress(OSError):  # too many links, or a file system without any: the copy stays
        os.link(original, spare, follow_symlinks=False)
        spare.replace(file)
