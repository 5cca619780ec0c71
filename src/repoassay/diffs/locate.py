"""Where hunks go in a file, and the file that results: no place that could also be another, and no fuzz unasked."""

from __future__ import annotations

from dataclasses import dataclass

from repoassay.diffs.model import MAX_FILE_BYTES, Hunk, PatchError

__all__ = ["LineSearch", "splice"]

MAX_SEARCHED_BYTES = 2**30


@dataclass(slots=True)
class LineSearch:
    """How much may still be searched for hunks that are not where they say (bytes), over a whole patch.

    `fuzz` is how many lines of context at either end of a hunk may be left out when it fits nowhere with them.
    """

    left: int = MAX_SEARCHED_BYTES
    fuzz: int = 0

    def spend(self, size: int) -> None:
        """Take a search through so many bytes from what is left.

        Raises:
            PatchError: When nothing is left.
        """
        self.left -= size
        if self.left < 0:
            raise PatchError("too many hunks are not at their stated lines")


def splice(base: bytes, hunks: tuple[Hunk, ...], path: str, search: LineSearch) -> tuple[bytes, list[str]]:
    """Return the file with all hunks applied, and a note for each that was not at its stated line.

    A hunk goes where it says, if its old lines are there. Else, if it has context, it goes to the one other place in
    the file where all its old lines are; more than one such place is refused. A hunk that ends without context belongs
    to the end of the file, and one that starts at line 1 to its start. When a hunk's two line numbers contradict each
    other, neither is believed.

    Raises:
        PatchError: When a hunk fits nowhere, at several places, or out of order; or the result is too large.
    """
    lines = _Lines(base)
    parts: list[bytes] = []
    notes: list[str] = []
    done = size = shift = 0
    for number, whole in enumerate(hunks, 1):
        stated = lines.offset(whole.old_index)
        trusted = whole.new_index == whole.old_index + shift
        hunk = whole
        try:
            at = _locate(base, hunk, stated if trusted else None, stated, done, search)
        except PatchError as error:
            fuzzy = _fuzzy(base, whole, stated if trusted else None, done, search)
            if fuzzy is None:
                raise PatchError(error.reason, path, number, whole.line) from None
            hunk, at, left_out = fuzzy
            notes.append(f"{path!r}: hunk {number} was applied without {left_out} of its lines of context.")
        if hunk is whole and at != stated:
            notes.append(_note(base, hunk, number, path, at))
        parts += (base[done:at], hunk.new)
        size += at - done + len(hunk.new)
        done = at + len(hunk.old)
        shift += hunk.new_count - hunk.old_count
        if size + len(base) - done > MAX_FILE_BYTES:
            raise PatchError(f"the file would be larger than {MAX_FILE_BYTES:,} bytes", path, number, hunk.line)
    parts.append(base[done:])
    return b"".join(parts), notes


class _Lines:
    """Offsets of lines in a text, asked for in ascending order."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._index = self._at = 0

    def offset(self, index: int) -> int | None:
        """Return where the line with `index` lines before it starts; None when there are fewer lines."""
        data = self._data
        # Blocks are counted whole, so that a far line costs no loop over those before it.
        for block in (65536, 4096, 256, 16):
            while index - self._index > block:
                feeds = data.count(b"\n", self._at, self._at + block)
                end = data.rfind(b"\n", self._at, self._at + block) + 1 if feeds else data.find(b"\n", self._at) + 1
                if not end:
                    return None
                self._index += feeds or 1
                self._at = end
        while self._index < index:
            end = data.find(b"\n", self._at) + 1
            if not end:
                # The end of a file without a last newline is the start of no line, but lines can be counted up to it.
                if self._at == len(data) or self._index + 1 < index:
                    return None
                end = len(data)
            self._index += 1
            self._at = end
        return self._at


def _locate(base: bytes, hunk: Hunk, believed: int | None, stated: int | None, done: int, search: LineSearch) -> int:
    at = believed
    if at is None or not _fits(base, hunk, at):
        at = _find(base, hunk, stated, search)
    if at < done:
        raise PatchError("the hunk overlaps the one before it or is out of order")
    end = at + len(hunk.old)
    # Two lines must not be joined into one where one of them has no newline.
    if hunk.new and not hunk.new.endswith(b"\n") and end != len(base):
        raise PatchError("it ends a file without a newline, but the file goes on")
    if hunk.new and not hunk.old and at and base[at - 1 : at] != b"\n":
        raise PatchError("it adds lines after one that has no newline")
    return at


def _fuzzy(base: bytes, whole: Hunk, stated: int | None, done: int, search: LineSearch) -> tuple[Hunk, int, int] | None:
    """Return the hunk with the least context left out that has a place, its place, and how many lines it lost.

    Lines are left out at both ends alike, as `patch` does, where there are so many of context.
    """
    for fuzz in range(1, search.fuzz + 1):
        first, last = min(fuzz, whole.leading), min(fuzz, whole.trailing)
        if not first + last:
            return None
        hunk = whole.without_context(first, last)
        at = stated
        for _ in range(first):
            at = None if at is None else base.find(b"\n", at) + 1 or None
        try:
            return hunk, _locate(base, hunk, at, at, done, search), first + last
        except PatchError:
            continue
    return None


def _fits(base: bytes, hunk: Hunk, at: int) -> bool:
    end = at + len(hunk.old)
    return base.startswith(hunk.old, at) and (not hunk.old or hunk.old.endswith(b"\n") or end == len(base))


def _find(base: bytes, hunk: Hunk, stated: int | None, search: LineSearch) -> int:
    if not hunk.leading and not hunk.trailing:
        raise PatchError(_mismatch(base, hunk, stated))
    search.spend(2 * len(base))
    at = _next(base, hunk.old, 0)
    if at is None:
        raise PatchError(_mismatch(base, hunk, stated))
    if _next(base, hunk.old, at + 1) is not None:
        raise PatchError(f"it does not match at line {hunk.old_start} of the file, and matches at several others")
    if (not hunk.trailing and at + len(hunk.old) != len(base)) or (hunk.old_start <= 1 and not hunk.leading and at):
        raise PatchError(f"it does not match at line {hunk.old_start} of the file, and lacks the context to move it")
    return at


def _next(base: bytes, old: bytes, start: int) -> int | None:
    """Return the first line start from `start` on where all of `old` is."""
    if not old.endswith(b"\n"):
        at = len(base) - len(old)
        whole = base.endswith(old) and (at == 0 or base[at - 1 : at] == b"\n")
        return at if whole and at >= start else None
    if start == 0 and base.startswith(old):
        return 0
    found = base.find(b"\n" + old, max(start - 1, 0))
    return None if found < 0 else found + 1


def _note(base: bytes, hunk: Hunk, number: int, path: str, at: int) -> str:
    line = base.count(b"\n", 0, at) + 1
    return f"{path!r}: hunk {number} was applied at line {line} of the file, not at line {hunk.old_start}."


def _mismatch(base: bytes, hunk: Hunk, stated: int | None) -> str:
    """Say which line is the first to differ from the file at the stated place."""
    if stated is None:
        return f"it starts at line {hunk.old_start}, after the end of the file"
    at = line = 0
    while at < len(hunk.old):
        expected, found = _line(hunk.old, at), _line(base, stated + at)
        if expected != found:
            there = f"is {_short(found)}" if found else "is not there"
            return f"line {hunk.old_index + line + 1} of the file {there}, not {_short(expected)}"
        at, line = at + len(expected), line + 1
    return "its two line numbers contradict each other, and it has no context to find it by"


def _line(text: bytes, at: int) -> bytes:
    end = text.find(b"\n", at) + 1
    return text[at : end or len(text)]


def _short(line: bytes) -> str:
    text = line.decode(errors="replace")
    return ascii(text if len(text) <= 80 else text[:77] + "...")
