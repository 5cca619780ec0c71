"""A diff as a judge sees it: every line numbered on both sides, and cut file by file where it is too long.

Only what was shown may be cited, so that what the judge saw and what its evidence is checked against are one thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from repoassay.diffs import DiffRow, FileDiff, read
from repoassay.text import clip, escape_hidden

__all__ = ["MOST_READ", "DiffText", "number_lines"]

Side = Literal["old", "new"]

MOST_READ = 8_000_000
"""Characters of a diff that are read at all; the rest is said to be missing."""
_MOST_FILES = 2_000
_MOST_LINE = 2_000
_HEAD = 200
_LONGEST_PATH = 1_024
_TAB = "\t"


@dataclass(frozen=True, slots=True)
class DiffText:
    """Numbered text, its lines by (path as it is shown, side, number), and what was left out, a sentence a file."""

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
    files = read(diff[:MOST_READ])
    parts, lines, cut = [], dict[tuple[str, Side, int], str](), []
    if len(diff) > MOST_READ:
        cut.append(f"Only the first {MOST_READ:,} of {len(diff):,} characters of the diff were read.")
    if len(files) > _MOST_FILES:
        cut.append(f"{len(files) - _MOST_FILES} of {len(files)} files are not shown.")
    every = [(file, _shown_rows(file)) for file in files[:_MOST_FILES]]
    bodies = [[_row(row) for row in rows] for _, rows in every]
    sizes = [_HEAD + sum(len(line) + 1 for line in body) for body in bodies]
    for (file, rows), body, share in zip(every, bodies, _shares(sizes, most), strict=True):
        shown, left = 0, share - _HEAD
        for line in body:
            if (left := left - len(line) - 1) < 0:
                break
            shown += 1
        path = clip(escape_hidden(file.path, _TAB), _LONGEST_PATH)
        parts.append(f"FILE {path}{_note(file)}")
        parts += body[:shown]
        if shown < len(body):
            notice = f"{len(body) - shown} of {len(body)} lines of {path} are not shown."
            cut.append(notice)
            parts.append(f"CUT {notice}")
        for row in rows[:shown]:
            if row.old is not None and row.sign != "@":
                lines[path, "old", row.old] = row.text
            if row.new is not None and row.sign != "@":
                lines[path, "new", row.new] = row.text
    return DiffText("\n".join(parts), lines, tuple(cut), len(files))


def _note(file: FileDiff) -> str:
    if file.binary:
        return " (binary)"
    if file.status == "renamed":
        return f" (renamed from {clip(escape_hidden(file.old or '', _TAB), _LONGEST_PATH)})"
    return f" ({file.status})" if file.status in {"added", "deleted"} else ""


def _shown_rows(file: FileDiff) -> list[DiffRow]:
    """Return the file's lines, and the heads of its hunks but the first; a line has no carriage return at its end."""
    rows = (row for row in file.rows if row.sign in {" ", "+", "-"} or (row.sign == "@" and row.hunk))
    return [row._replace(text=row.text[:-1]) if row.text.endswith("\r") else row for row in rows]


def _row(row: DiffRow) -> str:
    """Write one row; every line begins with our own columns, so that no line of a patch can pass for one of ours."""
    sign, old, new, text, _ = row
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
