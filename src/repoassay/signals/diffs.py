"""The diff of a change, line by line: what was added and removed where, and which base line is which head line.

Read leniently and within bounds, since nothing is applied: the worktrees hold what counts. Takes git's format without
renames, as `workspace.changes_between` writes it, and with them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from repoassay.diffs import DiffRow, FileDiff, walk

__all__ = ["MAX_DIFF", "Diff", "FileChange", "read_diff"]

MAX_DIFF = 16 * 2**20
"""Bytes of a diff that are read; a person would not review more either."""
_MAX_LINES = 200_000
_MAX_FILES = 5_000


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
    _shift: int = 0

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

    def take(self, row: DiffRow) -> bool:
        """Add one row of the diff; tell whether it changes a line."""
        if row.sign == "@":
            self._shift = (row.new or 0) - (row.old or 0)
        elif row.sign == "+" and row.new is not None:
            self.added[row.new] = _text(row.text)
            self._shift += 1
            self._steps.append((row.new + 1 - self._shift, self._shift))
        elif row.sign == "-" and row.old is not None:
            self.removed[row.old] = _text(row.text)
            self._shift -= 1
            self._steps.append((row.old + 1, self._shift))
        return row.sign in {"+", "-"}


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
    files: list[FileDiff] = []
    changes: list[FileChange] = []
    lines = 0
    for file, row in walk(data):
        if lines > _MAX_LINES or len(files) > _MAX_FILES:
            cut = f"The diff changes more than {_MAX_LINES} lines or {_MAX_FILES} files; only these are read."
            break
        if file is None:
            continue
        if file.number == len(files):
            files.append(file)
            changes.append(FileChange(None, None))
        lines += changes[-1].take(row)
    for file, change in zip(files, changes, strict=True):
        change.old, change.new, change.binary = file.old, file.new, file.binary
    return Diff(tuple(each for each in changes if each.old or each.new), cut)


def _text(line: str) -> str:
    return line if line.isascii() else line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Line numbers as runs `(first, last)`, in order."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
