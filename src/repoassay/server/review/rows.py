"""Rows of a file's diff as HTML: numbered, coloured, escaped, with what changed within a line marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from repoassay.diffs import DiffRow, FileDiff
from repoassay.server.review.colour import Token, coloured
from repoassay.server.review.context_lines import ContextGap
from repoassay.server.review.markup import visible

__all__ = ["PAGE", "Cell", "DiffLine", "lines_of", "page_of", "pages"]

PAGE = 400
"""Rows of a file that are sent at once."""
_MAX_SHOWN = 2000
_MAX_MARKED = 400
_KINDS = {" ": "same", "+": "add", "-": "del"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One side of a line: its number and HTML. `key` names it in the page, `n12` for line 12 of the new side."""

    kind: str
    key: str
    number: int
    side: str
    html: Markup


@dataclass(frozen=True, slots=True)
class DiffLine:
    """What stands in one line of the table: a hunk's head, a note, or cells (in unified view `left` alone).

    `old` and `new` are line numbers shown in unified view. `gap` is what the diff leaves out before a head, or at the
    end of the file.
    """

    head: str = ""
    hunk: int = 0
    note: str = ""
    left: Cell | None = None
    right: Cell | None = None
    old: int | None = None
    new: int | None = None
    gap: ContextGap | None = None


def pages(file: FileDiff) -> int:
    """How many pages a file's rows fill, at least 1."""
    return max(1, -(-len(file.rows) // PAGE))


def page_of(file: FileDiff, page: int, *, split: bool, between: Sequence[ContextGap] = ()) -> list[DiffLine]:
    """Return one page of a file's diff.

    Args:
        file: The file.
        page: From 0; one that is not there is empty.
        split: Both sides beside each other, instead of one below the other.
        between: What the diff leaves out, as `context_gaps` returns it; empty where that cannot be shown.
    """
    rows = file.rows[page * PAGE : (page + 1) * PAGE]
    found = lines_of(file.path, rows, split=split, between=between)
    if between and between[-1].count and page == pages(file) - 1:
        found.append(DiffLine(hunk=max(0, file.hunks - 1), gap=between[-1]))
    return found


def lines_of(path: str, rows: Sequence[DiffRow], *, split: bool, between: Sequence[ContextGap] = ()) -> list[DiffLine]:
    """Return rows of a file as lines of the table; see `page_of`."""
    html = _html(path, rows)
    lines: list[DiffLine] = []
    run: list[DiffRow] = []

    def flush() -> None:
        lines.extend(_paired(run, html) if split else _stacked(run, html))
        run.clear()

    for row in rows:
        if row.sign == "@":
            flush()
            gap = between[row.hunk] if between else None
            lines.append(DiffLine(head=row.text[:300], hunk=row.hunk, gap=gap if gap and gap.count else None))
        else:
            run.append(row)
    flush()
    return lines


def _stacked(rows: Iterable[DiffRow], html: Mapping[int, Markup]) -> list[DiffLine]:
    lines = []
    for row in rows:
        if row.sign == "\\":
            lines.append(DiffLine(note=row.text, hunk=row.hunk))
            continue
        cell = _cell(row, "old" if row.sign == "-" else "new", html)
        lines.append(DiffLine(left=cell, hunk=row.hunk, old=row.old, new=row.new))
    return lines


def _paired(rows: Sequence[DiffRow], html: Mapping[int, Markup]) -> list[DiffLine]:
    lines: list[DiffLine] = []
    gone: list[DiffRow] = []
    come: list[DiffRow] = []
    hunk = rows[0].hunk if rows else 0

    def flush() -> None:
        for number in range(max(len(gone), len(come))):
            left = _cell(gone[number], "old", html) if number < len(gone) else None
            right = _cell(come[number], "new", html) if number < len(come) else None
            lines.append(DiffLine(left=left, right=right, hunk=hunk))
        gone.clear()
        come.clear()

    for row in rows:
        if row.sign == "-":
            if come:
                flush()
            gone.append(row)
        elif row.sign == "+":
            come.append(row)
        else:
            flush()
            if row.sign == "\\":
                lines.append(DiffLine(note=row.text, hunk=hunk))
            else:
                lines.append(DiffLine(left=_cell(row, "old", html), right=_cell(row, "new", html), hunk=hunk))
    flush()
    return lines


def _cell(row: DiffRow, side: str, html: Mapping[int, Markup]) -> Cell:
    number = (row.old if side == "old" else row.new) or 0
    return Cell(_KINDS[row.sign], f"{side[0]}{number}", number, side, html[id(row)])


def _html(path: str, rows: Sequence[DiffRow]) -> dict[int, Markup]:
    """Return each row's HTML by the row's identity; each side is coloured on its own, so that both are whole code."""
    rows = [row for row in rows if row.sign != "@"]
    tokens: dict[int, list[Token]] = {}
    sides = ({" ", "+"}, {" ", "-"})
    for signs in sides if any(row.sign == "-" for row in rows) else sides[:1]:
        side = [row for row in rows if row.sign in signs]
        tokens |= {id(row): line for row, line in zip(side, coloured(path, [row.text for row in side]), strict=True)}
    marks = _marks(rows)
    return {id(row): _line(tokens.get(id(row), [("", row.text)]), marks.get(id(row))) for row in rows}


def _marks(rows: Sequence[DiffRow]) -> dict[int, tuple[int, int]]:
    """Return, for lines replaced one by one, where they differ: from a start to an end."""
    found: dict[int, tuple[int, int]] = {}
    at = 0
    while at < len(rows):
        gone = at
        while gone < len(rows) and rows[gone].sign == "-":
            gone += 1
        come = gone
        while come < len(rows) and rows[come].sign == "+":
            come += 1
        if 0 < gone - at == come - gone:
            for old, new in zip(rows[at:gone], rows[gone:come], strict=True):
                if marked := _differ(old.text, new.text):
                    found[id(old)], found[id(new)] = marked
        at = max(come, at + 1)
    return found


def _differ(old: str, new: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the spans between what two lines have in common at both ends; None where they have little in common."""
    if max(len(old), len(new)) > _MAX_MARKED or old == new:
        return None
    least = min(len(old), len(new))
    start = next((n for n in range(least) if old[n] != new[n]), least)
    end = next((n for n in range(least - start) if old[-1 - n] != new[-1 - n]), least - start)
    if len(old[:start].strip()) + len(old[len(old) - end :].strip()) < 0.4 * max(len(old.strip()), len(new.strip())):
        return None
    return (start, len(old) - end), (start, len(new) - end)


def _line(tokens: Sequence[Token], mark: tuple[int, int] | None) -> Markup:
    parts: list[str] = []
    at = 0
    for style, whole in tokens:
        text = whole[: _MAX_SHOWN - at]
        for begin, end, marked in _split(at, at + len(text), mark):
            piece = visible(text[begin - at : end - at])
            names = " ".join(name for name in (style, "chg" if marked else "") if name)
            parts.append(f'<span class="{names}">{piece}</span>' if names else piece)
        at += len(text)
        if len(text) < len(whole):
            parts.append('<span class="odd">line cut here</span>')
            break
    # Every part is escaped, or a class of our own.
    return Markup("".join(parts))  # noqa: S704


def _split(start: int, stop: int, mark: tuple[int, int] | None) -> list[tuple[int, int, bool]]:
    if mark is None or mark[1] <= start or stop <= mark[0]:
        return [(start, stop, False)] if stop > start else []
    low, high = max(start, mark[0]), min(stop, mark[1])
    spans = [(start, low, False), (low, high, True), (high, stop, False)]
    return [span for span in spans if span[1] > span[0]]
