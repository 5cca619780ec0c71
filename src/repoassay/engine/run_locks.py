"""Locks of folders: one process works on a whole run, or the processes of its shares do, each on its own."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.records import RunFolder, WorkShare, share_lock_file

__all__ = ["FolderBusy", "folder_lock", "run_lock", "share_lock", "shares_at_work"]

_BRIEF = 20.0
"""Seconds that a share waits for who holds the run or its own lock for a moment."""


class FolderBusy(BadInput):
    """Another process holds what is to be held."""


@contextlib.contextmanager
def run_lock(run: RunFolder, *, with_others: bool = False, seconds: float = 0.0) -> Iterator[None]:
    """Hold the run, so that two processes never work on it at once; `with_others` beside those that do the same.

    Raises:
        FolderBusy: When another process still holds it after so many seconds.
    """
    with folder_lock(run.path, with_others=with_others, seconds=seconds):
        yield


@contextlib.contextmanager
def folder_lock(folder: Path, *, with_others: bool = False, seconds: float = 0.0) -> Iterator[None]:
    """Hold a folder, so that two processes never work on it at once.

    Raises:
        FolderBusy: When another process holds it.
    """
    with _hold_file(folder / ".lock", f"{folder} is", shared=with_others, seconds=seconds):
        yield


@contextlib.contextmanager
def share_lock(run: RunFolder, share: WorkShare) -> Iterator[None]:
    """Hold one share of a run, beside the processes of other shares.

    Raises:
        FolderBusy: When another process holds it, or the whole run.
    """
    path = share_lock_file(run.path, share)
    with run_lock(run, with_others=True, seconds=_BRIEF):
        path.parent.mkdir(exist_ok=True)
        with _hold_file(path, f"Share {share} of {run.path} is", seconds=_BRIEF):
            yield


def shares_at_work(run: RunFolder) -> int:
    """How many shares of a run are held by a process now."""
    count = 0
    for path in (run.path / "parts").glob("*-of-*.lock"):
        try:
            with _hold_file(path, "", shared=True):
                pass
        except FolderBusy:
            count += 1
    return count


@contextlib.contextmanager
def _hold_file(path: Path, what: str, *, shared: bool = False, seconds: float = 0.0) -> Iterator[None]:
    """Hold a file, which is made."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    end = time.monotonic() + seconds
    try:
        while True:
            try:
                fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    remedy = "Wait for it or stop it."
                    raise FolderBusy(f"{what} being worked on by another process.", remedy) from None
                time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)
