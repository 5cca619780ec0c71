"""Whether a run folder is what `repoassay run` leaves: plain files and folders, none of them a way out of it.

A folder may come from somebody else. A link in it would have us write elsewhere, a pipe wait for ever, a huge file
fill the memory; so nothing in it is opened before this has looked at it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

from repoassay.errors import BadInput

__all__ = ["LARGEST_PLAN", "check_attempt", "check_attempts", "check_plan_file", "check_run_files", "check_sound"]

LARGEST_PLAN = 64 << 20
_LARGEST = 1 << 30
_MOST_ENTRIES = 1_000_000
_ID = re.compile(r"[0-9A-Za-z]{1,64}")
_REMEDY = "Continue only runs that `repoassay run` left, copied as they are."


def check_plan_file(path: Path) -> None:
    """Look at a `run.json` before it is read.

    Raises:
        BadInput: It is no plain file, or too large.
    """
    _plain(path, LARGEST_PLAN)


def _is_plain(entry: os.DirEntry[str]) -> bool:
    """Whether something in an attempt's folder is a folder, or a plain file that is not too large."""
    return entry.is_dir(follow_symlinks=False) or (
        entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_size <= _LARGEST
    )


def check_sound(run: Path) -> None:
    """Look at everything in a run folder that is read or written when the run goes on.

    Raises:
        BadInput: Something is a link, no plain file, or too large; or an attempt has no name of ours.
    """
    check_run_files(run)
    check_attempts(run)


def check_run_files(run: Path) -> None:
    """Look at everything in a run folder but its attempts; raises BadInput as `check_sound` does."""
    for entry in _entries(run):
        if entry.name != "attempts":
            _plain(Path(entry.path), _LARGEST, folders=True)
    if (run / "parts").is_dir():
        for entry in _entries(run / "parts"):
            _plain(Path(entry.path), _LARGEST)
    attempts = run / "attempts"
    if attempts.is_symlink() or not attempts.is_dir():
        raise BadInput(f"{attempts} is not a folder.", _REMEDY)


def check_attempts(run: Path, checked_names: Container[str] = ()) -> list[str]:
    """Look at the folders of a run's attempts but those of `checked_names`; returns the names of what it looked at.

    Raises:
        BadInput: As `check_sound` raises it.
    """
    names = [entry.name for entry in _entries(run / "attempts") if entry.name not in checked_names]
    for name in names:
        check_attempt(run, name)
    return names


def check_attempt(run: Path, name: str) -> list[str]:
    """Look at the folder of one attempt; returns the names in it. Raises BadInput as `check_sound` does."""
    attempts = f"{run}/attempts"
    if not _ID.fullmatch(name) or not stat.S_ISDIR(os.lstat(f"{attempts}/{name}").st_mode):
        raise BadInput(f"{attempts} holds {name[:80]!r}, which is no attempt of a run.", _REMEDY)
    entries = _entries(f"{attempts}/{name}")
    for entry in entries:
        with suppress(FileNotFoundError):  # an attempt that is being made renames its files
            if not _is_plain(entry):
                _plain(Path(entry.path), _LARGEST, folders=True)  # says what it is
    return [entry.name for entry in entries]


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            found.append(entry)
            if len(found) > _MOST_ENTRIES:
                raise BadInput(f"{folder} holds more than {_MOST_ENTRIES} entries.", _REMEDY)
    return found


def _plain(path: Path, largest: int, *, folders: bool = False) -> None:
    state = path.lstat()
    if folders and stat.S_ISDIR(state.st_mode):
        return
    if not stat.S_ISREG(state.st_mode):
        what = "a link" if stat.S_ISLNK(state.st_mode) else "not a plain file"
        raise BadInput(f"{path} is {what}, which no run folder has.", _REMEDY)
    if state.st_size > largest:
        raise BadInput(f"{path} is larger than {largest >> 20} MiB.", _REMEDY)
