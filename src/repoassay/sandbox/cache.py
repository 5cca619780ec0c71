"""The cache folder: checkouts and environments by content, built once under a lock, read-only afterwards."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from repoassay.errors import BadInput, InfraFault
from repoassay.records import cache_path

__all__ = ["SANDBOX_UID", "Cache", "EntryShare", "check_limit", "lock_limit", "scratch_beside"]

SANDBOX_UID = 63_917
"""Host account of sandboxed commands when we run as root: an unprivileged number that should own nothing else."""


_ELSEWHERE = "Set REPOASSAY_CACHE to a folder you may write to."
_LIMITS = threading.local()
_LOOK = 0.2
"""Seconds between two looks at a lock, where waits for it have a limit."""


@contextlib.contextmanager
def lock_limit(cancel: threading.Event) -> Iterator[None]:
    """Within the block, this thread's waits for locks of caches, and what looks by `check_limit`, end with `InfraFault`
    once the event is set."""
    before = getattr(_LIMITS, "cancel", None)
    _LIMITS.cancel = cancel
    try:
        yield
    finally:
        _LIMITS.cancel = before


def check_limit() -> None:
    """End work that no sandbox ends, such as copying what a build left, with `InfraFault` once its time is over."""
    cancel: threading.Event | None = getattr(_LIMITS, "cancel", None)
    if cancel is not None and cancel.is_set():
        raise InfraFault("The work was stopped.")


@contextlib.contextmanager
def scratch_beside(part: Path) -> Iterator[Path]:
    """An empty folder on the disk of an entry in the making; what a killed process left in it goes first."""
    place = part.with_name(f"{part.name}.scratch")
    remove_tree(place)
    place.mkdir(mode=0o700)
    try:
        yield place
    finally:
        remove_tree(place)


class EntryShare(Protocol):
    """Where caches of several machines have entries from, so that one of them builds and the others copy."""

    def fill(self, kind: str, key: str, part: Path, build: Callable[[Path], None]) -> None:
        """Fill an empty folder with an entry: as another machine built it, else by `build`, for the others as well."""


class Cache:
    """A folder of finished entries `<kind>/<key>/`; an entry that exists is whole.

    Args:
        path: The folder; `REPOASSAY_CACHE`, else `$XDG_CACHE_HOME/repoassay`, else `~/.cache/repoassay`.
        share: Other machines' entries; without, all are built here.
        makes: Whether to make the folder; who only looks at what is there needs none.

    Raises:
        BadInput: The folder cannot be made.
    """

    def __init__(self, path: Path | None = None, share: EntryShare | None = None, *, makes: bool = True) -> None:
        self._share = share
        self.path = (path or cache_path()).absolute()
        if not makes:
            return
        try:
            for folder in ("mount", "locks"):
                (self.path / folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"The cache folder {self.path} cannot be made: {error.strerror}.", _ELSEWHERE) from error

    @property
    def mountpoint(self) -> Path:
        """An empty folder every sandbox mounts its scratch space on, each in a namespace of its own."""
        return self.path / "mount"

    def entry(self, kind: str, key: str, build: Callable[[Path], None]) -> Path:
        """Return the folder of an entry, calling `build` on a fresh folder when it is not there yet.

        Other processes wait; what `build` leaves when it raises is removed, never cached.
        """
        final = self.path / kind / key
        if not final.exists():
            with self.lock(f"{kind}-{key}"):
                if not final.exists():
                    part = self.path / kind / f".{key}.part"
                    remove_tree(part)
                    part.mkdir(parents=True)
                    try:
                        if self._share is None:
                            build(part)
                        else:
                            self._share.fill(kind, key, part, build)
                        part.rename(final)
                    except BaseException:
                        remove_tree(part)
                        raise
        with contextlib.suppress(OSError):  # when it was last of use, for collection by age
            os.utime(final)
        return final

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold an exclusive lock between processes and threads; the kernel lets go of it should we die.

        Raises:
            BadInput: This account may not write to the folder.
        """
        try:
            descriptor = os.open(self.path / "locks" / name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            what = f"The cache folder {self.path} cannot be written to: {error.strerror}."
            raise BadInput(what, _ELSEWHERE) from error
        try:
            _wait_for(descriptor, name)
            yield
        finally:
            os.close(descriptor)


def _wait_for(descriptor: int, name: str) -> None:
    cancel: threading.Event | None = getattr(_LIMITS, "cancel", None)
    if cancel is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if cancel.is_set():
                raise InfraFault(f"Another process is still making {name} of the cache.") from None
            time.sleep(_LOOK)
        else:
            return


def remove_tree(path: Path) -> None:
    """Remove a tree whatever its modes say; do nothing when it is not there. Links are removed, never followed."""
    if path.is_symlink():
        path.unlink()
        return
    if not path.exists():
        return
    with contextlib.suppress(OSError, RecursionError):
        path.chmod(0o700)
        for folder, folders, _ in os.walk(path):
            for inner in (Path(folder, name) for name in folders):
                if not inner.is_symlink():
                    inner.chmod(0o700)  # before the walk goes there
        shutil.rmtree(path, ignore_errors=True)
    if path.exists():  # deeper than Python goes: what a build leaves is up to the build
        for program in (("chmod", "-R", "u+rwX"), ("rm", "-rf")):
            subprocess.run([*program, "--", str(path)], check=False, capture_output=True)


def settle(path: Path) -> None:
    """Give a tree plain modes and, as root, the sandbox's owner, so that a copy-on-write mount of it is writable."""
    for item in (path, *path.rglob("*")):
        mode = item.lstat().st_mode
        if not stat.S_ISLNK(mode):
            item.chmod(0o755 if stat.S_ISDIR(mode) or mode & 0o100 else 0o644)
        if os.geteuid() == 0:
            try:
                os.chown(item, SANDBOX_UID, SANDBOX_UID, follow_symlinks=False)
            except OSError as error:
                if error.errno != errno.EINVAL:  # root of a user namespace that has no such account
                    raise
