"""Hunks: the ranges their headers state, and exactly the lines they promise."""

from __future__ import annotations

import re

from repoassay.diffs.cursor import Lines
from repoassay.diffs.model import MAX_HUNKS, Hunk, PatchError

__all__ = ["is_hunk_header", "read_hunks"]

_HEADER = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?", re.DOTALL)


def is_hunk_header(text: bytes | None) -> bool:
    """Tell whether a line opens a hunk."""
    return text is not None and text.startswith(b"@@ -")


def read_hunks(lines: Lines, path: str, already: int) -> tuple[Hunk, ...]:
    """Read the hunks that follow a file's header, in order; at least one is expected.

    Args:
        lines: The patch, at the line after `+++`.
        path: The file, for messages.
        already: How many hunks the patch had before, so that their number stays bounded.

    Raises:
        PatchError: When a hunk is malformed, has other counts than stated, or starts before the last one ends.
    """
    hunks: list[Hunk] = []
    end = 0
    while is_hunk_header(lines.text()):
        number = len(hunks) + 1
        if already + number > MAX_HUNKS:
            raise PatchError(f"the patch has more than {MAX_HUNKS:,} hunks", path, line=lines.number)
        hunk = _read_hunk(lines, path, number)
        if hunk.old_index < end:
            raise PatchError("the hunk overlaps the one before it or is out of order", path, number, hunk.line)
        end = hunk.old_index + hunk.old_count
        hunks.append(hunk)
    if not hunks:
        raise PatchError("no hunk follows the '---' and '+++' lines", path, line=lines.number)
    return tuple(hunks)


def _read_hunk(lines: Lines, path: str, number: int) -> Hunk:
    start = lines.number
    match = _HEADER.fullmatch(lines.text() or b"")
    if match is None:
        raise PatchError("the hunk header is not well formed", path, number, start)
    lines.take()
    old_start, old_count, new_start, new_count = (1 if part is None else int(part) for part in match.groups())
    if (old_count and not old_start) or (new_count and not new_start):
        raise PatchError("the hunk header counts lines from 0", path, number, start)
    body = _Body(lines, path, number, old_count, new_count)
    while body.old_left or body.new_left:
        body.read_run()
    return Hunk(
        old_start, old_count, new_start, new_count, bytes(body.old), bytes(body.new), body.leading, body.run, start
    )  # fmt: skip


class _Body:
    """The lines of one hunk while they are read."""

    def __init__(self, lines: Lines, path: str, number: int, old_count: int, new_count: int) -> None:
        self._lines = lines
        self._path = path
        self._number = number
        self.old_left = old_count
        self.new_left = new_count
        self.old = bytearray()
        self.new = bytearray()
        self._old_ended = self._new_ended = False
        self.leading = 0
        self.run = 0  # context lines since the last change
        self._changed = False

    def _error(self, reason: str) -> PatchError:
        return PatchError(reason, self._path, self._number, self._lines.number)

    def read_run(self) -> None:
        """Take the lines up to the next change of sign, and the mark that may follow them."""
        sign = self._lines.first()
        if not sign:
            raise self._error("the patch ends inside the hunk")
        # GNU diff can leave out the space of an empty context line.
        bare = sign == b"\n" or (sign == b"\r" and not self._lines.text())
        if not bare and sign not in {b" ", b"+", b"-"}:
            raise self._error("the hunk has fewer lines than its header states")
        in_old, in_new = bare or sign != b"+", bare or sign != b"-"
        if (in_old and not self.old_left) or (in_new and not self.new_left):
            raise self._error("the hunk has other counts of lines than its header states")
        if (in_old and self._old_ended) or (in_new and self._new_ended):
            raise self._error("a line follows the one marked as having no newline at the end of the file")
        limit = min(self.old_left if in_old else self.new_left, self.new_left if in_new else self.old_left)
        content, count = self._lines.run(limit)
        ended = self._lines.first() == b"\\"
        if ended:
            self._pass_mark()
            content = content[:-2] if self._lines.crlf else content[:-1]
            if not content or content.endswith(b"\n"):
                raise self._error("an empty line cannot lack its newline")
        self._add(content, count, in_old, in_new)
        self._old_ended |= ended and in_old
        self._new_ended |= ended and in_new

    def _pass_mark(self) -> None:
        # The words are translated; the backslash, the space and some text are not.
        if not re.fullmatch(rb"\\ .{10,200}", self._lines.text() or b"", re.DOTALL):
            raise self._error("a line starts with a backslash and does not say that a newline is missing")
        self._lines.take()

    def _add(self, content: bytes, count: int, in_old: bool, in_new: bool) -> None:
        if in_old:
            self.old += content
            self.old_left -= count
        if in_new:
            self.new += content
            self.new_left -= count
        if in_old and in_new:
            self.run += count
            self.leading += 0 if self._changed else count
        else:
            self.run = 0
            self._changed = True
