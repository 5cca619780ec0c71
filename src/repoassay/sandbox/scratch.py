"""Temporary folders: those of a process lie in one, which the next process removes when its own was killed.

A lock on a file in that folder says that its process lives; the kernel lets go of it, whatever ended the process. A
process id would say nothing to another container that shares the place of temporary files.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import tempfile
import threading
from pathlib import Path

from repoassay.errors import Unavailable
from repoassay.sandbox.cache import remove_tree

__all__ = ["make_temporary", "temporary_folder"]

_PREFIX, _NEW, _LOCK = "repoassay-", "new-repoassay-", ".repoassay-process"
_own: dict[tuple[int, str], Path] = {}
"""The folder of a process, by its id and by where temporary files are."""
_making = threading.Lock()


def temporary_folder(kind: str) -> tempfile.TemporaryDirectory[str]:
    """A new folder that goes with the context it is used as; what cannot be removed of it stays until a later start.

    Raises:
        Unavailable: Temporary files cannot be written here.
    """
    return tempfile.TemporaryDirectory(prefix=f"{kind}-", dir=_home(), ignore_cleanup_errors=True)


def make_temporary(kind: str) -> Path:
    """A new folder for which the caller cares, at the latest until the process ends.

    Raises:
        Unavailable: Temporary files cannot be written here.
    """
    return Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=_home()))


def _home() -> Path:
    """This process's own folder, made when it is first asked for."""
    try:
        key = (os.getpid(), tempfile.gettempdir())
        with _making:
            if key not in _own or not _own[key].exists():
                _sweep(Path(key[1]))
                _own[key] = _make_home()
            return _own[key]
    except OSError as error:  # no place that tempfile knows may be written to
        where = f" ({error.strerror}: {error.filename})" if error.filename else ""
        raise Unavailable(
            f"Temporary files cannot be written here{where}.",
            "Free some space, or name a folder that this account may write to in TMPDIR.",
        ) from error


def _make_home() -> Path:
    folder = Path(tempfile.mkdtemp(prefix=_NEW))
    folder.chmod(0o711)  # some of what is in it is mounted for the account of commands
    held = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    home = folder.rename(folder.with_name(folder.name.removeprefix("new-")))  # by this name it never lacked its lock
    atexit.register(_remove_own, home, os.getpid())
    return home


def _remove_own(home: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not a fork of it
        remove_tree(home)


def _sweep(place: Path) -> None:
    """Remove the folders of processes that were killed: ours by account, with our kind of lock, which nobody holds."""
    for home in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # another account's, of a living process, or removed meanwhile
            if home.is_symlink() or home.stat().st_uid != os.geteuid():
                continue
            held = os.open(home / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(home)
            finally:
                os.close(held)
