"""Lines of a changed file that its diff leaves out: the gaps between hunks, and the whole file at the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from repoassay.diffs import DiffRow, FileDiff
from repoassay.server.review.blobs import Blobs
from repoassay.server.review.review_state import ShownItem
from repoassay.tasks import read_regular

__all__ = ["STEP", "ContextGap", "context_gaps", "gap_rows", "lines_before", "with_gaps_filled"]

STEP = 20
"""Lines that one press shows above or below a hunk."""
_MOST = 2**20


@dataclass(frozen=True, slots=True)
class ContextGap:
    """Lines between two hunks, before the first or after the last: the first one's numbers and how many there are."""

    old: int
    new: int
    count: int


def lines_before(blobs: Blobs, item: ShownItem, file: FileDiff) -> list[str] | None:
    """Return the lines of a file as it was; None where they are not kept, or are not what its diff changes."""
    kept = next((each.before for each in item.payload.versions if each.path == file.path), None)
    if kept is None or file.old is None or not file.rows:
        return None
    try:
        data = read_regular(blobs.path(kept), _MOST)
    except OSError:
        return None
    # A null character cannot be kept in PostgreSQL, so the diff has none either.
    lines = data.decode("utf-8", "replace").replace("\0", "\ufffd").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines if _fits(file, lines) else None


def _fits(file: FileDiff, lines: Sequence[str]) -> bool:
    """Whether the diff's old side is found in the lines, where it says, in order."""
    old = 0
    for row in file.rows:
        if row.sign == "@":
            if (row.old or 1) <= old:
                return False
        elif row.sign in (" ", "-"):
            if row.old is None or not old < row.old <= len(lines):
                return False
            old = row.old
            if lines[old - 1].rstrip("\r") != row.text.rstrip("\r"):
                return False
    return True


def context_gaps(file: FileDiff, lines: Sequence[str]) -> list[ContextGap]:
    """Return the gap before each hunk and the one after the last; `count` is 0 where nothing is left out.

    Args:
        file: Its diff.
        lines: What `lines_before` returned for it.
    """
    found: list[ContextGap] = []
    old = new = 1
    for row in file.rows:
        if row.sign == "@":
            count = max(0, min(row.old or old, len(lines) + 1) - old)
            found.append(ContextGap(old, new, count))
            old, new = old + count, new + count
        else:
            old += row.sign in (" ", "-")
            new += row.sign in (" ", "+")
    return [*found, ContextGap(old, new, max(0, len(lines) + 1 - old))]


def gap_rows(gap: ContextGap, lines: Sequence[str], hunk: int = 0) -> list[DiffRow]:
    """Return the lines of a gap as rows that nothing changed."""
    return [
        DiffRow(" ", gap.old + step, gap.new + step, lines[gap.old + step - 1], hunk)
        for step in range(max(0, min(gap.count, len(lines) + 1 - gap.old)))
    ]


def with_gaps_filled(file: FileDiff, lines: Sequence[str]) -> FileDiff:
    """Return the file with every gap filled; heads of hunks stay, so that places are found by the same names."""
    between = context_gaps(file, lines)
    rows: list[DiffRow] = []
    for row in file.rows:
        if row.sign == "@":
            rows += gap_rows(between[row.hunk], lines, row.hunk)
        rows.append(row)
    rows += gap_rows(between[-1], lines, max(0, file.hunks - 1))
    return replace(file, rows=rows)
