"""Tables as grids, as they stand on a page: rows in order, cells by place, white space left out."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from repoassay.benchmarks.gittaskbench.metrics.decoding import decode_text
from repoassay.grading import Measurement, UnreadableOutput, metric, normal, reference

__all__ = ["grid_header", "grid_precision", "grid_recall", "read_grid"]

_MOST_ROWS = 3000
_MOST_CELLS = 64
Row = tuple[str, ...]


def read_grid(path: Path) -> list[Row]:
    """Rows of a CSV file that hold anything, white space removed; without empty columns and a column of row numbers."""
    csv.field_size_limit(2**20)
    text = decode_text(path)
    first = text.lstrip().partition("\n")[0]
    delimiter = next((sign for sign in ",;\t" if sign in first), ",")
    try:
        read = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise UnreadableOutput(f"it is not CSV: {error}") from error
    rows = [[re.sub(r"\s", "", normal(cell)) for cell in row[:_MOST_CELLS]] for row in read]
    rows = [row for row in rows if any(row)][:_MOST_ROWS]
    width = max(map(len, rows), default=0)
    rows = [[*row, *[""] * (width - len(row))] for row in rows]
    kept = [place for place in range(width) if any(row[place] for row in rows)]
    if len(kept) > 1 and len(rows) > 1 and _numbers(rows, kept[0]):
        kept = kept[1:]
    return [tuple(row[place] for place in kept) for row in rows]


def _numbers(rows: list[list[str]], place: int) -> bool:
    """Whether a column is nothing but the rows' numbers under an empty header."""
    numbers = [row[place] for row in rows[1:]]
    return not rows[0][place] and any(
        numbers == [str(number) for number in range(start, start + len(numbers))] for start in (0, 1)
    )


def _cells(rows: list[Row]) -> int:
    return sum(map(len, rows))


def _alike(one: Row, other: Row) -> int:
    return sum(mine == theirs for mine, theirs in zip(one, other, strict=False))


def _table(ours: list[Row], theirs: list[Row]) -> list[list[int]]:
    """Most cells alike, by place in their rows, of the first rows of both under a matching that keeps their order."""
    table = [[0] * (len(theirs) + 1)]
    for mine in ours:
        row = [0]
        for place, other in enumerate(theirs):
            row.append(max(table[-1][place] + _alike(mine, other), table[-1][place + 1], row[place]))
        table.append(row)
    return table


def _pairs(ours: list[Row], theirs: list[Row]) -> list[tuple[Row, Row]]:
    """The rows that the best matching puts side by side."""
    table, found = _table(ours, theirs), []
    i, j = len(ours), len(theirs)
    while i and j:
        if table[i][j] == table[i - 1][j]:
            i -= 1
        elif table[i][j] == table[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            found.append((ours[i], theirs[j]))
    return found


def _share(of: Path, against: Path) -> tuple[int, int, int, str]:
    ours, theirs = read_grid(of), reference(read_grid, against)
    shared = _table(ours, theirs)[-1][-1]
    note = f"{shared} cells alike of {_cells(ours)} in {len(ours)} rows, {_cells(theirs)} in {len(theirs)} expected"
    return shared, _cells(ours), _cells(theirs), note


def _weakest(of: Path, against: Path) -> Measurement:
    ours, theirs = read_grid(of), reference(read_grid, against)
    pairs = _pairs(ours, theirs)
    shares = [
        sum(place < len(mine) and mine[place] == other[place] for mine, other in pairs) / len(theirs)
        for place in range(len(theirs[0]) if theirs else 0)
    ]
    if not shares:
        return Measurement(1.0)
    worst = shares.index(min(shares))
    return Measurement(shares[worst], f"in column {worst + 1}, {theirs[0][worst]!r}")


@metric(
    "grid_recall",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="recall of cells under the best order-keeping alignment of rows",
)
def grid_recall(of: Path, against: Path, *, weakest: bool = False) -> Measurement:
    """Share of the reference table's cells that the output has in their row and column.

    Rows are aligned in their order (dynamic programming), blank rows and white space within cells left out, so that a
    row too many or too few costs itself and no other. With `weakest` the share of the column that has fewest, under the
    same matching.
    """
    if weakest:
        return _weakest(of, against)
    shared, _, wanted, note = _share(of, against)
    return Measurement(shared / wanted if wanted else 1.0, note)


@metric(
    "grid_precision",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="precision of cells under the best order-keeping alignment of rows",
)
def grid_precision(of: Path, against: Path) -> Measurement:
    """Share of the output's cells that the reference table has in that row and column, aligned as for `grid_recall`."""
    shared, have, _, note = _share(of, against)
    return Measurement(shared / have if have else 0.0, note)


@metric(
    "grid_header",
    unit="ratio",
    span="[0, 1]",
    better="higher",
    needs_reference=True,
    source="share of column names in their places",
)
def grid_header(of: Path, against: Path) -> Measurement:
    """Share of the reference's column names that head the same column, case folded.

    A name may go on, as where a second line of it was cut off in the reference, and may stand in any of the first
    three rows, below titles.
    """
    theirs = reference(read_grid, against)[0]
    best = 0
    for row in read_grid(of)[:3]:
        pairs = zip(theirs, row, strict=False)
        best = max(best, sum(bool(name) and mine.casefold().startswith(name.casefold()) for name, mine in pairs))
    return Measurement(best / len(theirs), f"{best} of {len(theirs)} names")
