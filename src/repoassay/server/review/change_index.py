"""Where things stand in a change: a line by its number, as signals and comments name it, and every line with a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from repoassay.diffs import FileDiff
from repoassay.server.review.blobs import Blobs
from repoassay.server.review.context_lines import lines_before, with_gaps_filled
from repoassay.server.review.markup import visible
from repoassay.server.review.review_state import ShownItem
from repoassay.server.review.rows import PAGE

__all__ = ["MOST_FOUND", "ChangeIndex", "FoundLine", "LinePlace", "search_change"]

MOST_FOUND = 200
_AROUND = 60


@dataclass(frozen=True, slots=True)
class LinePlace:
    """A place that the page can go to: file by number and place in the list, row by key, and the page it is on.

    `whole` says that only the whole file has the line. An empty key is the file itself.
    """

    number: int
    place: int
    key: str = ""
    page: int = 0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class FoundLine:
    """A line that holds what was looked for: `sign` and `line` are empty and 0 where the path does."""

    at: LinePlace
    path: str
    sign: str
    line: int
    html: Markup


class ChangeIndex:
    """Finds lines by number in one item; each file is gone through once, when it is first asked for."""

    def __init__(self, blobs: Blobs, shown: ShownItem) -> None:
        self._blobs = blobs
        self._shown = shown
        self._files = {file.path: file for file in shown.files}
        self._pages: dict[tuple[str, bool], dict[str, tuple[str, int]]] = {}

    def line(self, path: str, line: str | int, side: str = "new") -> LinePlace | None:
        """Return the place of a line; of its file where no such line can be shown, and None where no file is."""
        file = self._files.get(path)
        if file is None:
            return None
        place = self._shown.order.index(file.number)
        key = f"{side[:1]}{line}"
        for whole in (False, True):
            if (found := self._keys(file, whole).get(key)) is not None:
                return LinePlace(file.number, place, found[0], found[1], whole)
        return LinePlace(file.number, place)

    def _keys(self, file: FileDiff, whole: bool) -> dict[str, tuple[str, int]]:
        known = self._pages.get((file.path, whole))
        if known is None:
            full: FileDiff | None = file
            if whole:
                lines = lines_before(self._blobs, self._shown, file)
                full = None if lines is None else with_gaps_filled(file, lines)
            known = {} if full is None else dict(_keys_of(full))
            self._pages[file.path, whole] = known
        return known


def search_change(item: ShownItem, wanted: str) -> tuple[list[FoundLine], bool]:
    """Return the first 200 paths and lines that hold a text, in whatever case, and whether there are more."""
    pattern = re.compile(re.escape(wanted), re.IGNORECASE)
    found: list[FoundLine] = []
    for each in _matching_lines(item, pattern):
        if len(found) == MOST_FOUND:
            return found, True
        found.append(each)
    return found, False


def _matching_lines(shown: ShownItem, pattern: re.Pattern[str]) -> Iterator[FoundLine]:
    for place, number in enumerate(shown.order):
        if number >= len(shown.files):
            continue
        file = shown.files[number]
        if hit := pattern.search(file.path):
            yield FoundLine(LinePlace(number, place), file.path, "", 0, _cut(file.path, hit))
        for row_number, row in enumerate(file.rows):
            if row.sign not in (" ", "+", "-") or (hit := pattern.search(row.text)) is None:
                continue
            side, line = ("o", row.old) if row.sign == "-" else ("n", row.new)
            at = LinePlace(number, place, f"{side}{line}", row_number // PAGE)
            yield FoundLine(at, file.path, row.sign.strip(), line or 0, _cut(row.text, hit))


def _cut(text: str, hit: re.Match[str]) -> Markup:
    start, end = max(0, hit.start() - _AROUND), hit.end() + _AROUND
    parts = text[start : hit.start()].lstrip(), text[hit.start() : hit.end()], text[hit.end() : end]
    before, marked, after = map(visible, parts)
    return Markup("{}{}<mark>{}</mark>{}{}").format(
        "…" if start else "", before, marked, after, "…" if end < len(text) else ""
    )  # fmt: skip


def _keys_of(file: FileDiff) -> Iterator[tuple[str, tuple[str, int]]]:
    """Give, for each side and number of a line, the key of its row and its page; a line that stays has one row."""
    for number, row in enumerate(file.rows):
        if row.sign in (" ", "+", "-"):
            at = (f"o{row.old}" if row.new is None else f"n{row.new}"), number // PAGE
            for side, line in (("n", row.new), ("o", row.old)):
                if line is not None:
                    yield f"{side}{line}", at
