"""Sheets of workbooks printed as text, such as data frames print, against the workbooks themselves."""

from __future__ import annotations

import re
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.decoding import decode_text
from repoassay.benchmarks.gittaskbench.metrics.values import place_of, plain_value
from repoassay.errors import InfraFault
from repoassay.grading import Measurement, metric, reference, workbook

__all__ = ["frames_printed"]

_MOST_LINES = 5000
_LONGEST = 2000
Row = tuple[str, ...]


def _rows(path: Path) -> list[Row]:
    """Rows of all sheets of a workbook, cells as tokens of print."""
    found: list[Row] = []
    for sheet in workbook(path).values():
        grid: dict[int, dict[int, str]] = {}
        for coordinate, value in sheet.items():
            row, column = place_of(coordinate) or (0, 0)
            grid.setdefault(row, {})[column] = plain_value(value)
        printed = ([cells[column] for column in sorted(cells)] for _, cells in sorted(grid.items()))
        found += (tuple(" ".join(cells).split()) for cells in printed)
    return found


def _tokens(line: str) -> Row:
    """Cells of a printed line without borders and labels; dates without midnight."""
    line = re.sub(r"^\W*(?:sheet|工作表|表)\w*\s*[:\uff1a]", " ", line, flags=re.IGNORECASE)
    line = re.sub(r"(\d{4}[-/]\d{1,2}[-/]\d{1,2})[ T]00:00:00(?:\.0+)?", r"\1", line)
    words = re.split(r"[\s|│║┃┆,;]+", re.sub(r"(?<!\w)[-=+─━═┼+:]{2,}(?!\w)", " ", line))
    return tuple(plain_value(word.strip("'\"")) for word in words if word.strip("'\""))


def _alike(line: Row, row: Row) -> float:
    """Share of a row's tokens in their places; a row number may stand before them."""
    surplus = len(line) - len(row)
    if surplus not in (0, 1) or (surplus == 1 and not line[0].isdecimal()):
        return 0.0
    return sum(one == two for one, two in zip(line[surplus:], row, strict=True)) / len(row)


def _heads(line: Row) -> bool:
    """Whether a line is the numbers that head columns without names; a row of data may look the same."""
    return list(line) == [str(number) for number in range(len(line))]


def _aligned(lines: list[Row], rows: list[Row]) -> float:
    best = [0.0] * (len(rows) + 1)
    for line in lines:
        now = [0.0]
        for place, row in enumerate(rows):
            now.append(max(best[place] + _alike(line, row), best[place + 1], now[place]))
        best = now
    return best[-1]


def _blocks(text: str, names: list[str]) -> dict[str, list[str]]:
    """Lines after each workbook's name, until the next name."""
    blocks: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in (line[:_LONGEST] for line in text.splitlines()[:_MOST_LINES]):
        named = [name for name in names if name.casefold() in line.casefold()]
        if len(named) == 1:
            current = blocks.setdefault(named[0], [])
        elif current is not None:
            current.append(line)
    return blocks


@metric(
    "frames_printed",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="F1 of rows under an order-keeping alignment, the lowest of all workbooks",
    packages=("openpyxl",),
)
def frames_printed(of: Path, against: Path) -> Measurement:
    """How well a text lists the rows of the workbooks below a folder, each below a line with its name.

    Of each workbook the F1 of rows, each line counting with the share of its cells that are right, aligned in order;
    the lowest is measured. Row numbers, numbers that head columns, borders, labels of sheets and how dates and whole
    numbers are printed do not count. A line as wide as a row that matches none lowers precision.
    """
    books = {path.name: reference(_rows, path) for path in sorted(against.rglob("*.xlsx"))}
    if not books:
        raise InfraFault(f"There is no workbook below {against.name}, which was to be the reference.")
    blocks = _blocks(decode_text(of, chinese=True), list(books))
    scores = {}
    for name, rows in books.items():
        lines = [_tokens(line) for line in blocks.get(name, [])]
        widths = {width + extra for width in map(len, rows) for extra in (0, 1)}
        lines = [line for line in lines if len(line) in widths]
        shared = _aligned(lines, rows)
        without = [line for line in lines if not _heads(line)]
        if _aligned(without, rows) == shared:
            lines = without
        scores[name] = 2 * shared / (len(lines) + len(rows)) if lines or rows else 1.0
    return Measurement(min(scores.values()), ", ".join(f"{name} {score:.3f}" for name, score in scores.items()))
