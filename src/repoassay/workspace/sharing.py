"""One copy on disk of what two entries of the cache hold alike: hard links, made once nothing alive can write to it."""

from __future__ import annotations

import contextlib
import filecmp
import os
import stat
from pathlib import Path

__all__ = ["share_files"]


def share_files(tree: Path, original: Path, *, times: bool = True) -> None:
    """Replace every file of a tree by a link to the original's at the same place, where they are equal.

    Args:
        tree: A dead build's tree.
        original: A tree that nobody may change.
        times: Whether the time of the last change must be equal too, by which Python trusts its byte code.
    """
    if tree.is_symlink():  # a build may have put one in a folder's place
        return
    for folder, _, files in os.walk(tree):
        other = original / os.path.relpath(folder, tree)
        if other.is_symlink() or not other.is_dir():
            continue
        for name in files:
            if _alike(Path(folder, name), other / name, times=times):
                _link(other / name, Path(folder, name))


def _alike(file: Path, other: Path, *, times: bool) -> bool:
    try:
        first, second = file.lstat(), other.lstat()
    except OSError:
        return False
    plain = stat.S_ISREG(first.st_mode) and stat.S_ISREG(second.st_mode) and first.st_ino != second.st_ino
    run = bool(first.st_mode & 0o100) == bool(second.st_mode & 0o100)
    if not plain or not run or first.st_size != second.st_size:
        return False
    return (not times or first.st_mtime_ns == second.st_mtime_ns) and filecmp.cmp(file, other, shallow=False)


def _link(original: Path, file: Path) -> None:
    spare = file.with_name(f".{os.getpid()}.shared")
    with contextlib.suppress(OSError):  # too many links, or a file system without any: the copy stays
        os.link(original, spare, follow_symlinks=False)
        spare.replace(file)
