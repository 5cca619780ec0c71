"""The base folder, read without following any link, and the changes that lie over it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

from repoassay.diffs.model import MAX_FILE_BYTES, MAX_FOLDERS, MAX_TOTAL_BYTES, PatchError
from repoassay.errors import InfraFault
from repoassay.types import FileEdit

__all__ = ["Overlay"]


class _Base:
    """A folder on disk, of which single files are read."""

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._bytes = 0

    def close(self) -> None:
        os.close(self._root)

    def read(self, path: str) -> FileEdit | None:
        """Return a file; None when nothing is there."""
        try:
            return self._read(path)
        except OSError as error:
            raise InfraFault(f"The base file {path!r} cannot be read: {error.strerror}.") from error

    def _read(self, path: str) -> FileEdit | None:
        parts = path.split("/")
        folder = os.dup(self._root)
        try:
            for depth, name in enumerate(parts[:-1], 1):
                if not self._is(stat.S_IFDIR, name, folder, "/".join(parts[:depth]), "a folder is needed"):
                    return None
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                inner = os.open(name, flags, dir_fd=folder)
                os.close(folder)
                folder = inner
            if not self._is(stat.S_IFREG, parts[-1], folder, path, "a file is needed"):
                return None
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(parts[-1], flags, dir_fd=folder), "rb") as stream:
                return self._content(os.fstat(stream.fileno()), stream.read(MAX_FILE_BYTES + 1))
        finally:
            os.close(folder)

    @staticmethod
    def _is(wanted: int, name: str, folder: int, shown: str, need: str) -> bool:
        try:
            kind = stat.S_IFMT(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.ENAMETOOLONG}:
                return False
            raise
        if kind == wanted:
            return True
        names = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder", stat.S_IFREG: "a file"}
        raise PatchError(f"{shown!r} is {names.get(kind, 'a special file')} in the base, where {need}")

    def _content(self, status: os.stat_result, content: bytes) -> FileEdit:
        self._bytes += len(content)
        if len(content) > MAX_FILE_BYTES:
            raise PatchError(f"the base file is larger than {MAX_FILE_BYTES:,} bytes")
        if self._bytes > MAX_TOTAL_BYTES:
            raise PatchError(f"the base files to be changed have more than {MAX_TOTAL_BYTES:,} bytes together")
        return FileEdit(content, bool(status.st_mode & stat.S_IXUSR))


class Overlay:
    """The tree while it is patched: the base, which is never written, under the changes made so far.

    Use as a context manager. Every file of the base is read at most once, and only when it is asked for.
    """

    def __init__(self, root: Path) -> None:
        self._base = _Base(root)
        self._before: dict[str, FileEdit | None] = {}
        self._now: dict[str, FileEdit | None] = {}
        self._below: dict[str, int] = {}
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()

    def read(self, path: str) -> FileEdit | None:
        """Return a file as it is now; None when there is none.

        Raises:
            PatchError: When something that is no file is in the way, or the file is too large.
        """
        if path in self._now:
            return self._now[path]
        if self._below.get(path):
            raise PatchError(f"{path!r} is a folder by now, where a file is needed")
        for parent in _parents(path):
            if parent in self._now:
                if self._now[parent] is not None:
                    raise PatchError(f"{parent!r} is a file by now, where a folder is needed")
                # A base file that was deleted: nothing of the base is below it.
                return None
        if path not in self._before:
            self._before[path] = self._base.read(path)
        return self._before[path]

    def write(self, path: str, file: FileEdit | None) -> None:
        """Put a file there, or delete it with None.

        Raises:
            PatchError: When something that is no file is in the way, or the sizes pass their limits.
        """
        if file is not None:
            self._bytes += len(file.content)
            if len(file.content) > MAX_FILE_BYTES:
                raise PatchError(f"the file would be larger than {MAX_FILE_BYTES:,} bytes")
            if self._bytes > MAX_TOTAL_BYTES:
                raise PatchError(f"the files that the patch writes have more than {MAX_TOTAL_BYTES:,} bytes together")
        change = (file is not None) - (self._now.get(path) is not None)
        if change:
            for parent in _parents(path):
                self._below[parent] = self._below.get(parent, 0) + change
            if len(self._below) > MAX_FOLDERS:
                raise PatchError(f"the files that the patch changes lie in more than {MAX_FOLDERS:,} folders")
        self._now[path] = file

    def edits(self) -> dict[str, FileEdit | None]:
        """Return what differs from the base, deletions first, so that a folder may take a deleted file's place."""
        changed = {path: file for path, file in self._now.items() if file != self._before.get(path)}
        return dict(sorted(changed.items(), key=lambda item: (item[1] is not None, item[0])))


def _parents(path: str) -> list[str]:
    found = []
    at = path.find("/")
    while at >= 0:
        found.append(path[:at])
        at = path.find("/", at + 1)
    return found
