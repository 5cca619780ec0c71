"""Files of JSON lines: one object a line, only ever added to, read back past what a crash tore.

The one writer and the one reader of every such file: journals, calls, labels, results, trials.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from repoassay.errors import BadInput
from repoassay.records.file_prefix import FilePrefix, longest_prefix
from repoassay.records.files import open_regular, reason
from repoassay.records.versions import NewerRecord, parse, parse_object, to_json, with_version

__all__ = ["OBJECTS", "Codec", "JsonLines", "LinesRead", "append_line", "numbered_lines", "record_codec"]

_T = TypeVar("_T")
_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Codec(Generic[_T]):
    """How one line is read and written.

    Attributes:
        read: Makes an item of a line; ValueError where it is none.
        write: Makes one line of an item, without its line end.
    """

    read: Callable[[bytes], _T]
    write: Callable[[_T], bytes]


def record_codec(kind: type[_Model]) -> Codec[_Model]:
    """Lines that hold records of one class, without the fields that have their default."""
    return Codec(partial(parse, kind), partial(to_json, exclude_defaults=True))


def _write_object(document: dict[str, Any]) -> bytes:
    return json.dumps(with_version(document), separators=(",", ":")).encode()


OBJECTS: Codec[dict[str, Any]] = Codec(parse_object, _write_object)
"""Lines that hold objects without a class of their own."""


@dataclass(frozen=True, slots=True)
class LinesRead(Generic[_T]):
    """Items in order, and the numbers (from 1) of the lines that could not be read."""

    items: tuple[_T, ...]
    torn: tuple[int, ...]


def append_line(
    path: Path | str, line: bytes, *, limit: int = 1 << 30, fsync: bool = True, follow: bool = False,
    folder: int | None = None,
) -> None:  # fmt: skip
    """Add a line to a file, made where there is none; writers at the same time do not tear each other's lines.

    Args:
        path: The file, relative to the open `folder` where one is given.
        line: Without its end.
        limit: Bytes the file may have.
        fsync: Whether it is on disk when this returns.
        follow: Whether the file may be a link.
        folder: Descriptor of a folder.

    Raises:
        OSError: When it cannot be written, is no regular file, or is full.
    """
    descriptor = _open(path, follow, folder)
    try:
        _lock(descriptor)
        size = os.fstat(descriptor).st_size
        if size + len(line) + 2 > limit:
            raise OSError(errno.EFBIG, f"it holds {size:,} bytes, and no more fit")
        # A torn last line must not swallow the one that follows it.
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        rest = (b"\n" if torn else b"") + line + b"\n"
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if fsync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def numbered_lines(
    path: Path, *, limit: int = 1 << 30, longest: int = 1 << 20, follow: bool = False, start: int = 0
) -> Iterator[tuple[int, bytes | None]]:
    """Iterate over number (from 1) and bytes of each line, its end with it; None in place of one that is too long.

    `start` is the offset at which the first of them begins.

    Raises:
        OSError: When the file is there and cannot be read, is no regular file, or is too large.
    """
    try:
        stream = os.fdopen(open_regular(path, follow=follow), "rb")
    except FileNotFoundError:
        return
    with stream:
        if os.fstat(stream.fileno()).st_size > limit:
            raise OSError(errno.EFBIG, f"it is larger than {limit >> 20} MiB")
        stream.seek(start)
        number = 0
        while line := stream.readline(longest):
            number += 1
            if len(line) < longest or line.endswith(b"\n"):
                yield number, line
                continue
            while line and not line.endswith(b"\n"):
                line = stream.readline(longest)
            yield number, None


class JsonLines(Generic[_T]):
    """A file of JSON lines.

    Args:
        path: The file; it need not exist.
        codec: How a line is read and written.
        limit: Bytes the file may have.
        longest: Bytes a line may have to be read.
        fsync: Whether a line is on disk when `append` returns; else a power cut may lose some.
        follow: Whether the file may be a link, as one that the user named may.
    """

    def __init__(
        self, path: Path, codec: Codec[_T], *, limit: int = 1 << 30, longest: int = 1 << 20, fsync: bool = True,
        follow: bool = False,
    ) -> None:  # fmt: skip
        self.path = path
        self._codec = codec
        self._limit = limit
        self._longest = longest
        self._fsync = fsync
        self._follow = follow

    def create(self) -> None:
        """Make the file, empty, where it is not there yet.

        Raises:
            BadInput: When it cannot be written, is a link or no regular file.
        """
        with _sentence(self.path, "written"):
            os.close(_open(self.path, self._follow))

    def append(self, item: _T) -> None:
        """Add one item, by one write.

        Raises:
            BadInput: When the file cannot be written, is a link or no regular file, or is full.
        """
        self.append_all([item])

    def append_all(self, items: Iterable[_T]) -> None:
        """Add items, by one write; none where there are none.

        Raises:
            BadInput: As `append` raises it.
        """
        if lines := b"\n".join(map(self._codec.write, items)):
            with _sentence(self.path, "written"):
                append_line(self.path, lines, limit=self._limit, fsync=self._fsync, follow=self._follow)

    def read(self) -> LinesRead[_T]:
        """Read every item and pass over lines that are none; a missing file has none.

        Raises:
            BadInput: When the file cannot be read, is no regular file or too large, or has a line of a newer RepoAssay.
        """
        items: list[_T] = []
        torn: list[int] = []
        for number, item in self.scan(FilePrefix()):
            if item is None:
                torn.append(number)
            else:
                items.append(item)
        return LinesRead(tuple(items), tuple(torn))

    def scan(self, after: FilePrefix) -> Iterator[tuple[int, _T | None]]:
        """Iterate over number and item of each line that is not empty; None in place of one that is no item.

        Args:
            after: The lines to pass over. It goes on with each line before its item is yielded, up to a line that is
                too long or has no end.

        Raises:
            BadInput: As `read` raises it.
        """
        whole = True
        for number, line in self._lines(after.size, after.lines):
            whole = whole and line is not None and line.endswith(b"\n")
            if whole:
                after.add(line or b"")
            if line is not None and not line.strip():
                continue
            try:
                yield number, None if line is None else self._codec.read(line)
            except NewerRecord as error:
                raise NewerRecord(f"{self.path}, line {number},", error.version) from error
            except ValueError:
                yield number, None

    def each(self, noun: str, after: FilePrefix | None = None) -> Iterator[_T]:
        """Iterate over every item; only a last line without its end, which a crash leaves, is passed over.

        Args:
            noun: What kind of item a line should be.
            after: The lines to pass over; it goes on with each line before its item is yielded.

        Raises:
            BadInput: When any other line is no item, or as `read` raises it.
        """
        read = after or FilePrefix()
        for number, line in self._lines(read.size, read.lines):
            if line is not None and not line.endswith(b"\n"):
                break
            try:
                item = self._codec.read(line or b"")  # one that is too long is none
            except NewerRecord as error:
                raise NewerRecord(f"{self.path}, line {number},", error.version) from error
            except ValueError as error:
                raise BadInput(f"{self.path}: line {number} is no {noun}.", "Name another file.") from error
            read.add(line or b"")
            yield item

    def read_all(self, noun: str) -> list[_T]:
        """Read every item; raises as `each` does."""
        return list(self.each(noun))

    def open_all(self, noun: str) -> list[_T]:
        """Make the file ready to go on, and read its items.

        Raises:
            BadInput: When it cannot be written, or as `read_all` raises it.
        """
        self.prepare()
        return self.read_all(noun)

    def prepare(self) -> None:
        """Make the file ready to go on: its folder and itself made, a torn last line cut off.

        Raises:
            BadInput: When it cannot be written.
        """
        with _sentence(self.path, "written"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        self.cut_torn_line()

    def unchanged(self, points: Iterable[tuple[int, int, str]]) -> FilePrefix | None:
        """The longest of what was read that the file still begins with; of each point its size, lines and sha256.

        Raises:
            BadInput: When it cannot be read, or is no regular file.
        """
        with (
            _sentence(self.path, "read"),
            suppress(FileNotFoundError),
            os.fdopen(open_regular(self.path, follow=self._follow), "rb") as stream,
        ):
            return longest_prefix(stream, points)
        return None

    def cut_torn_line(self) -> None:
        """Take off a last line without its end, as a crash leaves it; make the file where it is not there.

        Raises:
            BadInput: When the file cannot be written.
        """
        with _sentence(self.path, "written"):
            descriptor = _open(self.path, self._follow)
            try:
                _lock(descriptor)
                size = end = os.fstat(descriptor).st_size
                while end and (part := os.pread(descriptor, min(end, 1 << 16), max(0, end - (1 << 16)))):
                    found = part.rfind(b"\n")
                    if found >= 0:
                        end += found + 1 - len(part)
                        break
                    end -= len(part)
                if end != size:
                    os.ftruncate(descriptor, end)
            finally:
                os.close(descriptor)

    def _lines(self, start: int = 0, lines: int = 0) -> Iterator[tuple[int, bytes | None]]:
        with _sentence(self.path, "read"):
            for number, line in numbered_lines(
                self.path, limit=self._limit, longest=self._longest, follow=self._follow, start=start
            ):
                yield number + lines, line


@contextmanager
def _sentence(path: Path, verb: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        remedy = "It must be a plain file that you may read and write, and no link."
        raise BadInput(f"{path} cannot be {verb}: {reason(error)}.", remedy) from error


def _open(path: Path | str, follow: bool, folder: int | None = None) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags, 0o644, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return descriptor


def _lock(descriptor: int) -> None:
    """Keep other writers out until the file is closed, where the file system has locks."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
