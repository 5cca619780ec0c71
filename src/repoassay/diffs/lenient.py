"""A diff as far as it can be read: hostile text becomes files and rows, never an error.

Nothing is applied from it. People, judges and signals see a diff through this one reader, so that they see the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

__all__ = ["DiffRow", "FileDiff", "read", "walk"]

_HUNK = re.compile(r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@")
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_LONGEST_NAME = 4096


class DiffRow(NamedTuple):
    r"""One line of a diff.

    `sign` is that of the line, `@` for the head of a hunk, `\` for a note and empty for all else. `old` and `new` are
    the line's numbers, None on the side where it is not; those of a head are the first its lines have. `hunk` counts
    from 0 within the file. The sign is no part of `text`, but for heads and for lines without a sign.
    """

    sign: Literal[" ", "+", "-", "@", "\\", ""]
    old: int | None
    new: int | None
    text: str
    hunk: int = 0


@dataclass(slots=True)
class FileDiff:
    """One file of a diff. `old` and `new` are its paths, None for one added or deleted; `rows` have a sign."""

    number: int
    old: str | None
    new: str | None
    binary: bool = False
    rows: list[DiffRow] = field(default_factory=list)
    additions: int = 0
    deletions: int = 0
    hunks: int = 0

    @property
    def path(self) -> str:
        """The path now, else the one before."""
        return self.new or self.old or "?"

    @property
    def status(self) -> Literal["added", "deleted", "renamed", "binary", "modified"]:
        """What became of the file, in one word."""
        if self.old is None or self.new is None:
            return "added" if self.old is None else "deleted"
        if self.old != self.new:
            return "renamed"
        return "binary" if self.binary else "modified"


def read(data: bytes | str, max_lines: int | None = None, max_files: int | None = None) -> tuple[FileDiff, ...]:
    """Read a diff.

    Args:
        data: Unified diff, git's or plain; only a newline ends a line. Of bytes that are no UTF-8, each becomes a
            lone surrogate in rows and names, as `surrogateescape` has it.
        max_lines: So many lines are read.
        max_files: So many files are returned.
    """
    files: list[FileDiff] = []
    for file, row in walk(data, max_lines):
        if file is None:
            continue
        if file.number == len(files):
            if file.number == max_files:
                break
            files.append(file)
        if row.sign:
            file.rows.append(row)
    return tuple(files)


def walk(data: bytes | str, max_lines: int | None = None) -> Iterator[tuple[FileDiff | None, DiffRow]]:
    """Yield every line of a diff with the file it belongs to, one row a line; the files' own `rows` stay empty."""
    lines = (data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")).split("\n")
    if not lines[-1]:
        lines.pop()  # the last line ends in a newline
    reader = _Reader("replace" if isinstance(data, str) else "surrogateescape")
    for number, line in enumerate(lines[:max_lines], 1):
        row = reader.take(line, lines[number] if number < len(lines) else "")
        yield reader.file, row


class _Reader:
    def __init__(self, errors: str) -> None:
        self.file: FileDiff | None = None
        self._errors = errors
        self._old = self._new = self._old_left = self._new_left = 0
        self._plain = False

    def take(self, line: str, follows: str) -> DiffRow:
        """Read one line; `follows` is the one after it."""
        if self.file is not None and (self._old_left > 0 or self._new_left > 0):
            if row := self._in_hunk(line, self.file):
                return row
            self._old_left = self._new_left = 0  # the hunk ends before its head says
        if line.startswith("diff --git "):
            self._plain = False
            name = self._git_name(line)
            self._open(name, name)
        elif line.startswith("--- ") and follows.startswith("+++ "):
            if self.file is None or self._plain or self.file.hunks:
                self._plain = True
                self.file = self._open(None, None)
            self.file.old = self._path(line[4:])
        elif self.file is not None and (found := _HUNK.match(line)):
            return self._head(line, found, self.file)
        elif self.file is not None and self.file.hunks and line.startswith("\\"):
            return DiffRow("\\", None, None, line[1:].strip(), self.file.hunks - 1)
        elif self.file is not None and not self.file.hunks:
            self._header(line, self.file)
        return DiffRow("", None, None, line)

    def _open(self, old: str | None, new: str | None) -> FileDiff:
        self.file = FileDiff(0 if self.file is None else self.file.number + 1, old, new)
        return self.file

    def _header(self, line: str, file: FileDiff) -> None:
        if line.startswith("+++ "):
            file.new = self._path(line[4:])
        elif line.startswith("new file mode"):
            file.old = None
        elif line.startswith("deleted file mode"):
            file.new = None
        elif line.startswith("rename from "):
            file.old = self._path(line[12:], bare=True)
        elif line.startswith("rename to "):
            file.new = self._path(line[10:], bare=True)
        elif line.startswith(("GIT binary patch", "Binary files ")):
            file.binary = True

    def _head(self, line: str, found: re.Match[str], file: FileDiff) -> DiffRow:
        self._old_left, self._new_left = (int(found[place] or 1) for place in (2, 4))
        # A side of no lines is stated as the line before it.
        self._old = int(found[1]) + (self._old_left == 0)
        self._new = int(found[3]) + (self._new_left == 0)
        file.hunks += 1
        return DiffRow("@", self._old, self._new, line, file.hunks - 1)

    def _in_hunk(self, line: str, file: FileDiff) -> DiffRow | None:
        sign, hunk = " " if line in {"", "\r"} else line[:1], file.hunks - 1
        if sign == "+":
            row = DiffRow("+", None, self._new, line[1:], hunk)
            file.additions += 1
        elif sign == "-":
            row = DiffRow("-", self._old, None, line[1:], hunk)
            file.deletions += 1
        elif sign == " ":
            row = DiffRow(" ", self._old, self._new, line[1:], hunk)
        else:
            return DiffRow("\\", None, None, line[1:].strip(), hunk) if sign == "\\" else None
        if sign != "+":
            self._old += 1
            self._old_left -= 1
        if sign != "-":
            self._new += 1
            self._new_left -= 1
        return row

    def _git_name(self, line: str) -> str:
        """Return the path of `diff --git a/X b/X`; exact where both are the same, else replaced by later lines."""
        rest = line.removeprefix("diff --git ").rstrip("\r")
        at = rest.rfind(' "') if rest.endswith('"') else len(rest) // 2
        return self._path(rest[at + 1 :]) or "?"

    def _path(self, name: str, *, bare: bool = False) -> str | None:
        name = name.split("\t", 1)[0].rstrip("\r")[:_LONGEST_NAME]
        if len(name) > 1 and name[0] == name[-1] == '"':
            name = self._unquoted(name[1:-1])
        if name == "/dev/null":
            return None
        return (name if bare or name[:2] not in {"a/", "b/"} else name[2:]) or None

    def _unquoted(self, name: str) -> str:
        raw = name.encode("utf-8", "surrogatepass" if self._errors == "replace" else self._errors)
        return _ESCAPE.sub(_letter, raw).decode("utf-8", self._errors)


def _letter(found: re.Match[bytes]) -> bytes:
    part = found[1]
    return bytes([int(part, 8) & 255]) if len(part) == 3 else _LETTERS.get(part, part)
