"""Tables as Markdown."""

from __future__ import annotations

import re

from repoassay.report.cells import shown_rows
from repoassay.report.tables.value import Table
from repoassay.text import one_line

__all__ = ["markdown"]

# What begins a link, emphasis, code, an HTML tag or a cell in some dialect of Markdown.
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~#&$]")


def markdown(table: Table) -> str:
    """A heading, a table of pipes, and the notes as a list."""
    heads = [_escaped(column.title) for column in table.columns]
    marks = ["---:" if column.unit.numeric else "---" for column in table.columns]
    after = f" (after {_escaped(table.after)})" if table.after else ""
    lines = [f"## {_escaped(table.title)}{after}", ""]
    lines += [_line(heads), _line(marks)] if table.rows else ["Nothing to show."]
    lines += [_line([_escaped(cell) for cell in row]) for row in shown_rows(table)]
    lines += ["", *(f"- {_escaped(note)}" for note in table.notes)] if table.notes else []
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), one_line(text, 2000))


_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
