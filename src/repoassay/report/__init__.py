"""What a run came to, for people and programs: a summary, and it as terminal table, JSON and one HTML page.

Reads run folders through the store alone; knows nothing of how attempts were made or graded. Names are imported on
demand, since a command that shows one attempt needs neither tables nor pages.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from repoassay.report.document import SCHEMA, dumps
    from repoassay.report.page import render, write_html
    from repoassay.report.summary import Summary, summarise
    from repoassay.report.table import print_table

_HOMES = {
    "SCHEMA": "document",
    "Summary": "summary",
    "dumps": "document",
    "print_table": "table",
    "render": "page",
    "summarise": "summary",
    "write_html": "page",
}

__all__ = ["SCHEMA", "Summary", "dumps", "print_table", "render", "summarise", "write_html"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
