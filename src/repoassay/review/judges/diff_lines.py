"""A diff as a judge sees it: every line numbered on both sides, and cut file by file where it is too long.

Only what was shown may be cited, so that what the judge saw and what its evidence is checked against are one thing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from repoassay.text import escape_hidden

__all__ = ["MOST_READ", "DiffText", "FileLines", "number_lines", "parse_files"]

Side = Literal["old", "new"]

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
MOST_READ = 8_000_000
"""Characters of a diff that are read at all; the rest is said to be missing."""
_MOST_FILES = 2_000
_MOST_LINE = 2_000
_HEAD = 200
_TAB = "\t"


@dataclass(slots=True)
class FileLines:
    """One file: `rows` are (sign, old number, new number, text); a row of sign `@` is a gap between hunks."""

    path: str
    old: str | None
    new: str | None
    note: str = ""
    rows: list[tuple[str, int | None, int | None, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DiffText:
    """Numbered text, the lines in it by (path, side, number), and what was left out, a sentence a file."""

    text: str
    lines: dict[tuple[str, Side, int], str]
    cut: tuple[str, ...]
    files: int

    def find(self, path: str, side: Side, line: int) -> str | None:
        """Return what stands there, None where no such line was shown."""
        return self.lines.get((path, side, line))


def number_lines(diff: str, most: int) -> DiffText:
    """Number a unified diff.

    Args:
        diff: As git writes it; headers and what is no diff are passed over.
        most: Characters to show. Where the files need more, each gets an equal part, and what short ones leave goes to
            the long ones; a file is cut at the end of a line.
    """
    files = parse_files(diff[:MOST_READ])
    parts, lines, cut = [], dict[tuple[str, Side, int], str](), []
    if len(diff) > MOST_READ:
        cut.append(f"Only the first {MOST_READ:,} of {len(diff):,} characters of the diff were read.")
    every = files[:_MOST_FILES]
    if len(files) > len(every):
        cut.append(f"{len(files) - len(every)} of {len(files)} files are not shown.")
    bodies = [[_row(row) for row in file.rows] for file in every]
    sizes = [_HEAD + sum(len(line) + 1 for line in body) for body in bodies]
    for file, body, share in zip(every, bodies, _shares(sizes, most), strict=True):
        shown, left = 0, share - _HEAD
        for line in body:
            if (left := left - len(line) - 1) < 0:
                break
            shown += 1
        parts.append(f"FILE {escape_hidden(file.path, _TAB)}{f' ({file.note})' if file.note else ''}")
        parts += body[:shown]
        if shown < len(body):
            said = f"{len(body) - shown} of {len(body)} lines of {escape_hidden(file.path, _TAB)} are not shown."
            cut.append(said)
            parts.append(f"CUT {said}")
        for sign, old, new, text in file.rows[:shown]:
            if old is not None:
                lines[file.path, "old", old] = text
            if new is not None:
                lines[file.path, "new", new] = text
            del sign
    return DiffText("\n".join(parts), lines, tuple(cut), len(files))


def parse_files(diff: str) -> list[FileLines]:
    """Read a diff leniently; lines are counted by the hunks' own heads, so that no line passes for a header."""
    files: list[FileLines] = []
    current: FileLines | None = None
    before: str | None = None
    old = new = left_old = left_new = 0
    for raw in diff.split("\n"):
        line = raw.removesuffix("\r")
        if current is not None and (left_old > 0 or left_new > 0):
            sign, text = line[:1] or " ", line[1:]
            if sign in " -+":
                at = (None if sign == "+" else old, None if sign == "-" else new)
                current.rows.append((sign, *at, text))
                old, left_old = (old, left_old) if sign == "+" else (old + 1, left_old - 1)
                new, left_new = (new, left_new) if sign == "-" else (new + 1, left_new - 1)
                continue
            if sign == "\\":
                continue
            left_old = left_new = 0  # the hunk ends before its head says
        if line.startswith("diff --git "):
            current, before = _started(line), None
            files.append(current)
        elif line.startswith("--- "):
            before = _path(line[4:])
            if current is None or current.rows:
                current = FileLines(before or "?", before, None)
                files.append(current)
        elif line.startswith("+++ ") and current is not None and not current.rows:
            current.old, current.new = before, _path(line[4:])
            current.path = current.new or before or current.path
            current.note = "deleted" if current.new is None else "added" if before is None else current.note
        elif (found := _HUNK.match(line)) and current is not None:
            old, new = int(found[1]), int(found[3])
            left_old, left_new = (int(found[place]) if found[place] is not None else 1 for place in (2, 4))
            if current.rows:
                current.rows.append(("@", None, None, ""))
        elif current is not None and not current.rows:
            _extended(current, line)
    return files


def _started(line: str) -> FileLines:
    """Return the file a `diff --git` line names; its `---` and `+++` lines say it better, where there are any."""
    both = line.removeprefix("diff --git ")
    path = _path(both.rpartition(" b/")[2] and f"b/{both.rpartition(' b/')[2]}") or "?"
    return FileLines(path, path, path)


def _extended(file: FileLines, line: str) -> None:
    if line.startswith("rename from "):
        file.note = f"renamed from {escape_hidden(line[12:], _TAB)}"
    elif line.startswith("new file mode"):
        file.note = "added"
    elif line.startswith("deleted file mode"):
        file.note = "deleted"
    elif line.startswith(("Binary files ", "GIT binary patch")):
        file.note = "binary"


def _path(text: str) -> str | None:
    name = text.split("\t", 1)[0].strip()
    if name == "/dev/null":
        return None
    name = name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name
    return (name[2:] if name[:2] in {"a/", "b/"} else name)[:1024] or "?"


def _row(row: tuple[str, int | None, int | None, str]) -> str:
    """Write one row; every line begins with our own columns, so that no line of a patch can pass for one of ours."""
    sign, old, new, text = row
    if sign == "@":
        return "     ...      ... |"
    cut = f" [{len(text) - _MOST_LINE} more characters]" if len(text) > _MOST_LINE else ""
    left = "" if old is None else str(old)
    right = "" if new is None else str(new)
    return f"{left:>8} {right:>8} |{sign}{escape_hidden(text[:_MOST_LINE], _TAB)}{cut}"


def _shares(sizes: list[int], most: int) -> list[int]:
    """Part `most` among files: the short ones whole, the long ones alike."""
    if sum(sizes) <= most:
        return sizes
    shares, left = [0] * len(sizes), most
    order = sorted(range(len(sizes)), key=lambda number: sizes[number])
    for done, number in enumerate(order):
        shares[number] = min(sizes[number], left // (len(order) - done))
        left -= shares[number]
    return shares
