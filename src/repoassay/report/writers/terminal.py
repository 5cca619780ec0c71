"""Tables for a terminal; plain text wherever it is not one. One that is too wide is printed in several parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from repoassay.report.cells import shown_rows
from repoassay.report.tables.value import ColumnUnit, Table, TableColumn
from repoassay.text import one_line

__all__ = ["MOST_LINES", "print_tables", "rendered"]

MOST_LINES = 40
"""Rows of a table that are printed; files have all of them."""
_NAME = 44
_SHORTEST = 8
_GAP = 2


def print_tables(tables: Sequence[Table], console: Console) -> None:
    """Print tables that have rows, one under the other."""
    for table in tables:
        if not table.rows:
            continue
        if console.encoding.lower().startswith("utf"):
            console.print(rendered(table, console.width))
            continue
        with console.capture() as captured:
            console.print(rendered(table, console.width))
        console.file.write(captured.get().encode(console.encoding, "backslashreplace").decode(console.encoding))


def rendered(table: Table, width: int) -> RenderableType:
    """One table with its title and notes, in as many parts as it takes; texts are passed as `Text`, never as markup."""
    names, rest = _heads(table)
    cells = [[one_line(row[index], 60) for index in rest] for row in shown_rows(table)[:MOST_LINES]]
    labels = [_label([row[index] for index in names]) for row in table.rows[:MOST_LINES]]
    columns = [table.columns[index] for index in rest]
    after = f" (after {table.after})" if table.after else ""
    left_out = len(table.rows) - MOST_LINES
    more = [Text(f"{left_out} more rows are not shown; --out writes all.", style="dim")] if left_out > 0 else []
    title = ", ".join(table.columns[index].title for index in names)
    widest = max(map(cell_len, (*labels, title)))
    parts = _parts(columns, cells, width - widest - _GAP)
    return Group(
        Text(f"\n{one_line(table.title + after)}", style="bold"),
        *(_grid(title, labels, columns, cells, part) for part in parts),
        *more,
        *(Text(one_line(note, 2000), style="dim") for note in table.notes),
    )


def _heads(table: Table) -> tuple[list[int], list[int]]:
    """Columns that name a row, which are those of text before the first figure; and the others."""
    count = next(
        (n for n, column in enumerate(table.columns) if column.unit is not ColumnUnit.TEXT), len(table.columns)
    )
    return list(range(count)), list(range(count, len(table.columns)))


def _label(cells: Sequence[object]) -> str:
    """At most so long; the longest parts are cut in the middle: names of one family differ at their ends."""
    parts = [one_line(str(cell), 200) for cell in cells if cell not in (None, "")]
    while sum(map(len, parts)) + 2 * (len(parts) - 1) > _NAME and max(map(len, parts)) > _SHORTEST:
        index = max(range(len(parts)), key=lambda place: len(parts[place]))
        text = parts[index].replace("…", "", 1)
        middle = (len(text) - 1) // 2
        parts[index] = f"{text[: middle - 1]}…{text[middle + 1 :]}"
    return ", ".join(parts)


def _parts(columns: Sequence[TableColumn], cells: Sequence[Sequence[str]], room: int) -> Iterator[list[int]]:
    part: list[int] = []
    used = 0
    for index, column in enumerate(columns):
        needs = max(cell_len(column.title), *(cell_len(row[index]) for row in cells)) + _GAP
        if part and used + needs > room:
            yield part
            part, used = [], 0
        part.append(index)
        used += needs
    yield part


def _grid(
    title: str,
    labels: Sequence[str],
    columns: Sequence[TableColumn],
    cells: Sequence[Sequence[str]],
    part: Sequence[int],
) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    grid.add_column(Text(title), overflow="fold")
    for index in part:
        grid.add_column(
            Text(columns[index].title), justify="right" if columns[index].unit.numeric else "left", overflow="fold"
        )
    for label, row in zip(labels, cells, strict=True):
        grid.add_row(Text(label), *(Text(row[index]) for index in part))
    return grid
