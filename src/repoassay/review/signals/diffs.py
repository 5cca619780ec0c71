"""The diff of a change, line by line: what was added and removed where, and which base line is which head line.

Read leniently and within bounds, since nothing is applied: the worktrees hold what counts. Takes git's format without
renames, as `workspace.changes_between` writes it, and with them.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["MAX_DIFF", "Diff", "FileChange", "read_diff"]

MAX_DIFF = 16 * 2**20
"""Bytes of a diff that are read; a person would not review more either."""
_MAX_LINES = 200_000
_MAX_FILES = 5_000
_HUNK = re.compile(rb"@@ -(\d{1,8})(?:,(\d{1,8}))? \+(\d{1,8})(?:,(\d{1,8}))? @@")


@dataclass(slots=True)
class FileChange:
    """One file of a diff: `added` and `removed` lines by number (from 1) in head and in base.

    `old` and `new` are its paths; one of them is None for a file that was added or deleted.
    """

    old: str | None
    new: str | None
    added: dict[int, str] = field(default_factory=dict)
    removed: dict[int, str] = field(default_factory=dict)
    binary: bool = False
    _steps: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])

    @property
    def path(self) -> str:
        """The head's path, else the base's."""
        return self.new or self.old or "?"

    @property
    def first(self) -> int | None:
        """The first added line that is not blank; None where no line was added."""
        return min((line for line, text in self.added.items() if text.strip()), default=min(self.added, default=None))

    def mapped(self, line: int) -> int | None:
        """The head's number of a base line; None where it was removed."""
        if line in self.removed:
            return None
        at = bisect_right(self._steps, (line, 2**40)) - 1
        return line + self._steps[at][1]

    def from_here(self, line: int, shift: int) -> None:
        """Note that base lines from `line` on are `shift` lines further down in the head."""
        self._steps.append((line, shift))


@dataclass(frozen=True, slots=True)
class Diff:
    """All files of a diff. `cut` says why it was not read to its end, empty when it was."""

    files: tuple[FileChange, ...]
    cut: str = ""

    def by_new(self) -> dict[str, FileChange]:
        """Changes by the head's path; deleted files left out."""
        return {each.new: each for each in self.files if each.new is not None}

    def by_old(self) -> dict[str, FileChange]:
        """Changes by the base's path; added files left out."""
        return {each.old: each for each in self.files if each.old is not None}

    def lines(self) -> int:
        """Lines added and removed."""
        return sum(len(each.added) + len(each.removed) for each in self.files)


def read_diff(data: bytes) -> Diff:
    """Read a diff as far as it goes; what is not understood is skipped."""
    cut = ""
    if len(data) > MAX_DIFF:
        cut = f"The diff has {len(data)} bytes; {MAX_DIFF} are read."
        data = data[:MAX_DIFF]
    reader = _Reader()
    for line in data.split(b"\n"):
        if reader.lines > _MAX_LINES or len(reader.files) > _MAX_FILES:
            cut = f"The diff changes more than {_MAX_LINES} lines or {_MAX_FILES} files; only these are read."
            break
        reader.take(line)
    return Diff(tuple(each for each in reader.files if each.old or each.new), cut)


class _Reader:
    def __init__(self) -> None:
        self.files: list[FileChange] = []
        self.lines = 0
        self._old = self._new = self._old_left = self._new_left = 0

    def take(self, line: bytes) -> None:
        if self._old_left > 0 or self._new_left > 0:
            self._in_hunk(line)
        elif line.startswith(b"diff --git "):
            self.files.append(_named(line))
        elif not self.files or (line.startswith(b"--- ") and self.files[-1].added | self.files[-1].removed):
            if line.startswith(b"--- "):  # a diff without git's headers
                self.files.append(FileChange(_path(line[4:]), None))
        elif line.startswith(b"@@ "):
            self._hunk(line)
        else:
            self._header(line, self.files[-1])

    @staticmethod
    def _header(line: bytes, change: FileChange) -> None:
        if line.startswith(b"--- "):
            change.old = _path(line[4:])
        elif line.startswith(b"+++ "):
            change.new = _path(line[4:])
        elif line.startswith(b"new file mode"):
            change.old = None
        elif line.startswith(b"deleted file mode"):
            change.new = None
        elif line.startswith(b"rename from "):
            change.old = _path(line[12:], bare=True)
        elif line.startswith(b"rename to "):
            change.new = _path(line[10:], bare=True)
        elif line.startswith((b"GIT binary patch", b"Binary files ")):
            change.binary = True

    def _hunk(self, line: bytes) -> None:
        found = _HUNK.match(line)
        if not found:
            return
        first, count, new, new_count = found.groups()
        self._old_left, self._new_left = int(count or b"1"), int(new_count or b"1")
        # A side of no lines is given as the line before it.
        self._old = int(first) + (self._old_left == 0)
        self._new = int(new) + (self._new_left == 0)

    def _in_hunk(self, line: bytes) -> None:
        change, kind = self.files[-1], line[:1]
        if kind == b"\\":
            return
        if kind == b"+":
            change.added[self._new] = line[1:].decode("utf-8", "replace")
        elif kind == b"-":
            change.removed[self._old] = line[1:].decode("utf-8", "replace")
        elif kind not in (b" ", b"", b"\r"):
            self._old_left = self._new_left = 0  # no hunk goes on like this
            return
        self.lines += kind in (b"+", b"-")
        if kind != b"+":
            self._old += 1
            self._old_left -= 1
        if kind != b"-":
            self._new += 1
            self._new_left -= 1
        if kind in (b"+", b"-"):
            change.from_here(self._old, self._new - self._old)


def _named(line: bytes) -> FileChange:
    """Paths from `diff --git a/X b/X`, for what has no further headers; exact when both names are the same."""
    rest = line[len(b"diff --git ") :].rstrip(b"\r")
    name = _path(rest[rest.rfind(b' "') + 1 :] if rest.endswith(b'"') else rest[len(rest) // 2 + 1 :])
    return FileChange(name, name)


def _path(name: bytes, *, bare: bool = False) -> str | None:
    name = name.split(b"\t")[0].rstrip(b"\r")
    if len(name) > 4096:
        name = name[:4096]
    if name.startswith(b'"') and name.endswith(b'"') and len(name) > 1:
        name = _unquoted(name)
    if name == b"/dev/null":
        return None
    if not bare and name[:2] in (b"a/", b"b/"):
        name = name[2:]
    return name.decode("utf-8", "surrogateescape") or None


def _unquoted(name: bytes) -> bytes:
    try:
        value = ast.literal_eval("b" + name.decode("ascii"))
    except (ValueError, SyntaxError):
        return name[1:-1]
    return value if isinstance(value, bytes) else name[1:-1]


def ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Line numbers as runs `(first, last)`, in order."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
