"""How much of a file was read, and whether it still begins with that: what indexes of files that only grow rest on.

Times of files are not asked: the bytes are. Reading a gigabyte again takes a second.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import IO

__all__ = ["FilePrefix", "longest_prefix"]

_PART = 1 << 16


@dataclass(slots=True)
class FilePrefix:
    """The beginning of a file: its size in bytes, how many whole lines it has, and its sha256 so far."""

    size: int = 0
    lines: int = 0
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def add(self, line: bytes) -> None:
        """Go on by a line, or a part of one."""
        self.size += len(line)
        self.lines += line.endswith(b"\n")
        self.digest.update(line)


def longest_prefix(stream: IO[bytes], points: Iterable[tuple[int, int, str]]) -> FilePrefix | None:
    """The longest beginning of a file that is as it was, out of several, by one pass over it; None where none is.

    Args:
        stream: The file, at its start.
        points: Of each its size, how many whole lines it has, and its sha256; it ended at the end of a line.
    """
    found, read, end = None, FilePrefix(), b""
    for size, lines, digest in sorted(points):
        while read.size < size and (part := stream.read(min(size - read.size, _PART))):
            read.digest.update(part)
            read.size += len(part)
            end = part[-1:]
        if read.size < size or read.digest.hexdigest() != digest:
            break  # so are all that are longer
        if end != b"\n" and size:
            after = stream.read(1)
            stream.seek(-len(after), os.SEEK_CUR)
            if after not in (b"", b"\n"):
                continue
        found = FilePrefix(size, lines, read.digest.copy())
    return found
