"""The identity of a folder: one sha256 over what is in it, wherever and whenever it is."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.text import printable

__all__ = ["digest_folder"]


def digest_folder(path: Path, skipped: Callable[[Path], bool] | None = None) -> str:
    """Return the sha256 (64 hexadecimal digits) of a folder.

    It covers path, x bit and content of every regular file, and path and target of every link, which is never
    followed. Times, owners, empty folders, `__pycache__` folders and `*.pyc` files do not count.

    Args:
        path: The folder.
        skipped: Says of a folder below whether it does not count either; None takes all.

    Raises:
        BadInput: When something in the folder cannot be read.
    """
    total = hashlib.sha256()
    try:
        for name, entry, is_link in sorted(_entries(path, skipped)):
            kind, content = _link(entry) if is_link else _file(entry)
            total.update(kind + len(name).to_bytes(8, "big") + name + content)
    except OSError as error:
        raise BadInput(
            f"The folder {printable(str(path), 500)} cannot be read: {error.strerror or error}.",
            "Check that it exists and that you may read it.",
        ) from error
    return total.hexdigest()


def _entries(root: Path, skipped: Callable[[Path], bool] | None) -> Iterator[tuple[bytes, bytes, bool]]:
    """Relative path, full path (as the file system's own bytes) and whether it is a link, of everything that counts."""
    top = os.fsencode(root)
    pending = [b""]
    while pending:
        below = pending.pop()
        with os.scandir(top + b"/" + below) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != b"__pycache__" and not (skipped and skipped(Path(os.fsdecode(entry.path)))):
                        pending.append(below + entry.name + b"/")
                elif entry.name.endswith(b".pyc"):
                    continue
                elif entry.is_symlink() or entry.is_file(follow_symlinks=False):  # a pipe or device has no content
                    yield below + entry.name, top + b"/" + below + entry.name, entry.is_symlink()


def _link(path: bytes) -> tuple[bytes, bytes]:
    return b"l", hashlib.sha256(os.fsencode(Path(os.fsdecode(path)).readlink())).digest()


def _file(path: bytes) -> tuple[bytes, bytes]:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        executable = os.fstat(handle).st_mode & stat.S_IXUSR
        return b"x" if executable else b"-", hashlib.file_digest(stream, "sha256").digest()
