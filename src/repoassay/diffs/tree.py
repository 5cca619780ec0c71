"""The base folder, read without following any link, and the changes that lie over it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from repoassay.diffs.model import MAX_FILE_BYTES, MAX_FOLDERS, MAX_TOTAL_BYTES, PatchError
from repoassay.errors import InfraFault
from repoassay.types import FileEdit

__all__ = ["Overlay"]


@dataclass(frozen=True, slots=True)
class _Link(FileEdit):
    """A symbolic link of the base, its content being where it leads to, as in git; equal to no file."""


class _Base:
    """A folder on disk, of which single files are read."""

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._bytes = 0

    def close(self) -> None:
        os.close(self._root)

    def read(self, path: str, *, link: bool) -> FileEdit | None:
        """Return a file, or a link; None when nothing is there."""
        try:
            return self._read(path, link)
        except OSError as error:
            raise InfraFault(f"The base file {path!r} cannot be read: {error.strerror}.") from error

    def names(self, path: str) -> list[str] | None:
        """Return what a folder holds; None when nothing is there, or a file."""
        try:
            with self._folder(path.split("/")) as folder:
                return None if folder is None else os.listdir(folder)  # noqa: PTH208 - a descriptor
        except PatchError:
            return None
        except OSError as error:
            raise InfraFault(f"The base folder {path!r} cannot be read: {error.strerror}.") from error

    def _read(self, path: str, link: bool) -> FileEdit | None:
        *above, name = path.split("/")
        wanted = (stat.S_IFLNK, "a symbolic link is needed") if link else (stat.S_IFREG, "a file is needed")
        with self._folder(above) as folder:
            if folder is None or not self._is(wanted[0], name, folder, path, wanted[1]):
                return None
            if link:
                return _Link(os.fsencode(os.readlink(name, dir_fd=folder)))
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with os.fdopen(os.open(name, flags, dir_fd=folder), "rb") as stream:
                return self._content(os.fstat(stream.fileno()), stream.read(MAX_FILE_BYTES + 1))

    @contextmanager
    def _folder(self, parts: Sequence[str]) -> Iterator[int | None]:
        folder = os.dup(self._root)
        try:
            for depth, name in enumerate(parts, 1):
                if not self._is(stat.S_IFDIR, name, folder, "/".join(parts[:depth]), "a folder is needed"):
                    yield None
                    return
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                inner = os.open(name, flags, dir_fd=folder)
                os.close(folder)
                folder = inner
            yield folder
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
        self._folders: set[str] = set()
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()

    def read(self, path: str, *, link: bool = False) -> FileEdit | None:
        """Return a file as it is now, or a symbolic link of the base; None when there is none.

        Raises:
            PatchError: When something else is in the way, or the file is too large.
        """
        if path in self._now:
            return self._now[path]
        if self._below.get(path):
            raise PatchError(f"{path!r} is a folder by now, where a file is needed")
        for parent in _parents(path):
            if parent in self._now and parent not in self._folders:
                if self._now[parent] is not None:
                    raise PatchError(f"{parent!r} is a file by now, where a folder is needed")
                # A base file that was deleted: nothing of the base is below it.
                return None
        if path not in self._before:
            self._before[path] = self._base.read(path, link=link)
        return self._before[path]

    def is_free(self, path: str) -> bool:
        """Whether a file may be made there: there is none, or a folder of the base whose files must all go, as in git.

        Raises:
            PatchError: As `read` does.
        """
        if path not in self._now and self._base.names(path) is not None:
            self._folders.add(path)
            self._before[path] = None
        return self.read(path) is None

    def write(self, path: str, file: FileEdit | None) -> None:
        """Put a file there, or delete it with None.

        Raises:
            PatchError: When something that is no file is in the way, or the sizes pass their limits.
        """
        if file is not None:
            if path in self._folders and self._below.get(path):
                raise PatchError(f"{path!r} is a folder by now, where a file is needed")
            if above := next((each for each in _parents(path) if self._now.get(each) is not None), None):
                raise PatchError(f"{above!r} is a file by now, where a folder is needed")
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

    def edits(self) -> tuple[dict[str, FileEdit | None], frozenset[str]]:
        """Return what differs from the base, and those of it that are folders which lost all they had.

        What is deleted comes first, a folder after what it had, so that a file may take its place and the reverse.

        Raises:
            PatchError: When a file is made where a folder of the base keeps something.
        """
        changed = {path: file for path, file in self._now.items() if file != self._before.get(path)}
        gone = self._emptied(changed)
        for path in sorted(self._folders - gone):
            if self._now.get(path) is not None:
                raise PatchError(f"{path!r} is a folder in the base, where a file is needed", path)
        deleted = {path for path, file in changed.items() if file is None} | (gone - changed.keys())
        files = {path: changed[path] for path in sorted(changed.keys() - deleted)}
        return {**dict.fromkeys(sorted(deleted, reverse=True)), **files}, gone

    def _emptied(self, changed: Mapping[str, FileEdit | None]) -> frozenset[str]:
        """Folders of the base that have nothing left; git removes them with their last file."""
        lost = {path for path, file in changed.items() if file is None}
        gone = set()
        for folder in sorted({above for path in lost for above in _parents(path)}, reverse=True):
            held = None if self._below.get(folder) else self._base.names(folder)
            if held and all(f"{folder}/{name}" in lost for name in held):
                gone.add(folder)
                lost.add(folder)
        return frozenset(gone)


def _parents(path: str) -> list[str]:
    found = []
    at = path.find("/")
    while at >= 0:
        found.append(path[:at])
        at = path.find("/", at + 1)
    return found
