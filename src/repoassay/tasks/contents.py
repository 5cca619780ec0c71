"""What lies in a folder, looked at without following links and read without trusting sizes."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repoassay.errors import Problem
from repoassay.records import read_regular
from repoassay.text import printable

__all__ = ["MAX_FOLDER", "Contents", "is_cache", "read_regular", "real_folder", "scan", "unreadable"]

MAX_FOLDER = 512 * 2**20
"""Bytes a task folder may hold."""
_MAX_ENTRIES = 100_000
_DEEPEST = 200
"""Folders within one another: who walks through them calls himself once for each."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Regular files of a folder (relative path with forward slashes -> bytes), its folders, and what must not be."""

    files: dict[str, int]
    folders: frozenset[str]
    problems: tuple[Problem, ...]

    def below(self, folder: str) -> dict[str, int]:
        """Files of one subfolder, by their path relative to it."""
        start = f"{folder}/"
        return {path.removeprefix(start): size for path, size in self.files.items() if path.startswith(start)}


def scan(folder: Path) -> Contents:
    """List a folder; links, devices, pipes and sockets are problems and are not among the files."""
    files: dict[str, int] = {}
    folders: set[str] = set()
    problems: list[Problem] = []
    pending = [""]
    while pending and len(files) + len(folders) <= _MAX_ENTRIES:
        below = pending.pop()
        try:
            with os.scandir(folder / below) as entries:
                for entry in entries:
                    path = f"{below}{entry.name}"
                    if entry.is_symlink():
                        problems.append(
                            Problem(printable(path), "", "is a link.", "Put a copy of the file in its place.")
                        )
                    elif entry.is_dir(follow_symlinks=False):
                        folders.add(path)
                        if path.count("/") < _DEEPEST:
                            pending.append(f"{path}/")
                        else:
                            message = f"is within more than {_DEEPEST} folders."
                            problems.append(Problem(printable(path, 500), "", message, "Move it up."))
                    elif entry.is_file(follow_symlinks=False):
                        files[path] = entry.stat(follow_symlinks=False).st_size
                    else:
                        problems.append(Problem(printable(path), "", "is neither a file nor a folder.", "Remove it."))
                    if len(files) + len(folders) + len(problems) > _MAX_ENTRIES:
                        break
        except OSError as error:
            problems.append(unreadable(below or ".", error))
    return Contents(files, frozenset(folders), (*problems, *_too_large(files, folders)))


def _too_large(files: dict[str, int], folders: set[str]) -> list[Problem]:
    problems: list[Problem] = []
    if len(files) + len(folders) > _MAX_ENTRIES:
        problems.append(Problem(".", "", f"holds more than {_MAX_ENTRIES} files and folders.", "Remove some."))
    total = sum(files.values())
    if total > MAX_FOLDER:
        largest = max(files, key=lambda path: files[path])
        problems.append(
            Problem(
                ".", "", f"holds {total / 2**20:.0f} MiB, more than {MAX_FOLDER // 2**20} MiB.",
                f"Make it smaller; its largest file is {printable(largest)}.",
            )
        )  # fmt: skip
    return problems


def unreadable(file: str, error: OSError) -> Problem:
    """The problem of a file that could not be read."""
    reason = "it is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
    remedy = "Put a plain file there that you may read." if error.errno != errno.EFBIG else "Make it smaller."
    return Problem(printable(file), "", f"cannot be read: {printable(reason)}.", remedy)


def real_folder(path: Path) -> bool:
    """Whether a path is a folder itself, not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def is_cache(path: str) -> bool:
    """Whether a file is Python's compiled code, which appears by itself and is no part of a task."""
    return path.endswith(".pyc") or "__pycache__" in PurePosixPath(path).parts[:-1]
