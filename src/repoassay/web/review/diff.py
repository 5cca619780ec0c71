"""A unified diff as files, hunks and numbered rows, read leniently: hostile text becomes rows, never an error."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

__all__ = ["Entry", "FileDiff", "Row", "parse_diff"]

_HUNK = re.compile(r"@@ -(\d{1,8})(?:,(\d{1,8}))? \+(\d{1,8})(?:,(\d{1,8}))? @@(.*)", re.DOTALL)
_ESCAPE = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_MAX_FILES = 20_000
_MAX_LINES = 300_000
"""A row takes a hundred bytes, however short its line: a diff of empty lines would take forty times its size."""
_GENERATED = re.compile(
    r"(^|/)(package-lock\.json|yarn\.lock|pnpm-lock\.yaml|poetry\.lock|uv\.lock|Cargo\.lock|go\.sum)$|\.min\.(js|css)$"
    r"|\.(map|snap|svg)$|(^|/)(dist|vendor|node_modules|__snapshots__)/"
)
_LARGE = 600


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the diff; `old` and `new` are its numbers, None on the side where it is not."""

    kind: Literal["same", "add", "del", "note"]
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """The head of a hunk (`row` is None), or one of its rows. `hunk` counts from 0 within the file."""

    hunk: int
    head: str
    row: Row | None = None


@dataclass(slots=True)
class FileDiff:
    """One file of a diff. `old` and `new` are its paths, None for one added or deleted."""

    number: int
    old: str | None
    new: str | None
    binary: bool = False
    entries: list[Entry] = field(default_factory=list)
    additions: int = 0
    deletions: int = 0
    hunks: int = 0

    @property
    def path(self) -> str:
        """The path now, else the one before."""
        return self.new or self.old or "?"

    @property
    def status(self) -> str:
        """What became of the file, in one word."""
        if self.old is None or self.new is None:
            return "added" if self.old is None else "deleted"
        if self.old != self.new:
            return "renamed"
        return "binary" if self.binary else "modified"

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name or self.path

    @property
    def collapsed(self) -> bool:
        """Whether the file waits to be asked for: generated, or large."""
        return self.additions + self.deletions > _LARGE or bool(_GENERATED.search(self.path))

    def lines(self, side: str, first: int, last: int) -> list[str]:
        """The texts of those lines of a side (`old` or `new`) that the diff shows between two numbers, in order."""
        rows = [entry.row for entry in self.entries if entry.row is not None]
        return [row.text for row in rows if first <= ((row.old if side == "old" else row.new) or 0) <= last]


def parse_diff(text: str) -> tuple[FileDiff, ...]:
    """Read a diff as far as it goes.

    Args:
        text: Unified diff, git's or plain. Only a newline ends a line.

    Returns:
        At most 20,000 files, numbered from 0, of the first 300,000 lines; a note says where it was cut.
    """
    reader = _Reader()
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines[:_MAX_LINES]):
        reader.take(line, lines[number + 1] if number + 1 < len(lines) else "")
        if len(reader.files) > _MAX_FILES:
            break
    if len(lines) > _MAX_LINES and reader.files:
        said = f"The rest of the change, {len(lines) - _MAX_LINES:,} lines, is not shown."
        reader.files[-1].entries.append(Entry(max(0, reader.files[-1].hunks - 1), "", Row("note", None, None, said)))
    return tuple(reader.files[:_MAX_FILES])


class _Reader:
    def __init__(self) -> None:
        self.files: list[FileDiff] = []
        self._old = self._new = self._old_left = self._new_left = 0
        self._plain = False

    def take(self, line: str, follows: str) -> None:
        if self._old_left > 0 or self._new_left > 0:
            if self._in_hunk(line):
                return
            self._old_left = self._new_left = 0
        if line.startswith("diff --git "):
            self._plain = False
            name = _git_name(line)
            self.files.append(FileDiff(len(self.files), name, name))
        elif line.startswith("--- ") and follows.startswith("+++ "):
            if not self.files or self._plain or self.files[-1].entries:
                self._plain = True
                self.files.append(FileDiff(len(self.files), None, None))
            self.files[-1].old = _path(line[4:])
        elif self.files:
            self._header(line, self.files[-1])

    def _header(self, line: str, file: FileDiff) -> None:
        if line.startswith("+++ ") and not file.entries:
            file.new = _path(line[4:])
        elif found := _HUNK.match(line):
            self._old_left = int(found[2] if found[2] is not None else 1)
            self._new_left = int(found[4] if found[4] is not None else 1)
            self._old, self._new = int(found[1]), int(found[3])
            file.entries.append(Entry(file.hunks, line))
            file.hunks += 1
        elif line.startswith("\\"):
            if file.entries:
                file.entries.append(Entry(file.hunks - 1, "", Row("note", None, None, line[1:].strip())))
        elif line.startswith("new file mode"):
            file.old = None
        elif line.startswith("deleted file mode"):
            file.new = None
        elif line.startswith("rename from "):
            file.old = _path(line[12:], bare=True)
        elif line.startswith("rename to "):
            file.new = _path(line[10:], bare=True)
        elif line.startswith(("GIT binary patch", "Binary files ")):
            file.binary = True

    def _in_hunk(self, line: str) -> bool:
        file, kind, text = self.files[-1], line[:1], line[1:]
        if kind == "\\":
            row = Row("note", None, None, text.strip())
        elif kind == "+":
            row = Row("add", None, self._new, text)
            file.additions += 1
        elif kind == "-":
            row = Row("del", self._old, None, text)
            file.deletions += 1
        elif kind in {" ", ""} or line == "\r":
            row = Row("same", self._old, self._new, text)
        else:
            return False
        file.entries.append(Entry(file.hunks - 1, "", row))
        if row.old is not None:
            self._old += 1
            self._old_left -= 1
        if row.new is not None:
            self._new += 1
            self._new_left -= 1
        return True


def _git_name(line: str) -> str:
    """Return the path of `diff --git a/X b/X`; exact where both are the same, and replaced by later lines elsewhere."""
    rest = line[len("diff --git ") :].rstrip("\r")
    if rest.endswith('"'):
        return _path(rest[rest.rfind(' "') + 1 :]) or "?"
    return _path(rest[len(rest) // 2 + 1 :]) or "?"


def _path(name: str, *, bare: bool = False) -> str | None:
    name = name.split("\t", 1)[0].rstrip("\r")[:4096]
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = _unquoted(name[1:-1])
    if name == "/dev/null":
        return None
    return (name if bare or name[:2] not in {"a/", "b/"} else name[2:]) or None


def _unquoted(name: str) -> str:
    def letter(found: re.Match[bytes]) -> bytes:
        part = found[1]
        return bytes([int(part, 8) & 255]) if len(part) == 3 else _LETTERS.get(part, part)

    return _ESCAPE.sub(letter, name.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
