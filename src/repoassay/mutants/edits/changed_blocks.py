"""What a solution changes of a file: blocks of adjacent lines, which can be put back one at a time."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

__all__ = ["ChangedBlock", "changed_blocks", "changed_lines", "put_back"]

_MOST_LINES = 5_000
"""Lines between the first and the last change that are compared exactly; beyond, they are one block."""


@dataclass(frozen=True, slots=True)
class ChangedBlock:
    """Lines `start` to `end` (from 0, end excluded) of the solution's file, which were `was` on the base."""

    start: int
    end: int
    was: tuple[bytes, ...]


def changed_blocks(before: bytes, after: bytes) -> list[ChangedBlock]:
    """The blocks in which two versions of a file differ; lines that are blank on both sides make none."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(inner_old), len(inner_new)) > _MOST_LINES:
        return [ChangedBlock(head, len(new) - tail, tuple(inner_old))]
    found = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_opcodes():
        if tag != "equal" and any(line.strip() for line in (*inner_old[a:b], *inner_new[c:d])):
            start, end = _settled(new, head + c, head + d) if tag == "insert" else (head + c, head + d)
            found.append(ChangedBlock(start, end, tuple(inner_old[a:b])))
    return found


def _settled(lines: list[bytes], start: int, end: int) -> tuple[int, int]:
    """Where lines that were inserted stand most naturally, if the same insertion can be told in several ways.

    As in git: where they begin at the least depth, after a blank line if there is one.
    """

    def unnatural(place: int) -> tuple[int, bool]:
        first = next((line for line in lines[place : place + end - start] if line.strip()), b"")
        return len(first) - len(first.lstrip()), bool(place and lines[place - 1].strip())

    places = [start]
    while places[0] > 0 and lines[places[0] - 1] == lines[places[0] - 1 + end - start]:
        places.insert(0, places[0] - 1)
    while places[-1] + end - start < len(lines) and lines[places[-1]] == lines[places[-1] + end - start]:
        places.append(places[-1] + 1)
    best = min(places, key=unnatural)
    return best, best + end - start


def changed_lines(before: bytes, after: bytes) -> frozenset[int]:
    """Numbers, from 1, of the lines that `after` adds or changes."""
    return frozenset(line + 1 for hunk in changed_blocks(before, after) for line in range(hunk.start, hunk.end))


def put_back(after: bytes, hunk: ChangedBlock) -> bytes:
    """The solution's file with one block as it was on the base."""
    lines = after.splitlines(keepends=True)
    return b"".join((*lines[: hunk.start], *hunk.was, *lines[hunk.end :]))
