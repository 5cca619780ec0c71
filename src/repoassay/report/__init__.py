"""What a run came to, for people and programs: a summary, and it as terminal table, JSON and one HTML page.

Reads run folders through the store alone; knows nothing of how attempts were made or graded.
"""

from __future__ import annotations

from repoassay.report.document import SCHEMA, document, dumps
from repoassay.report.page import render, write_html
from repoassay.report.summary import AgentSummary, DomainRow, Row, Summary, Unfinished, WallTime, summarise
from repoassay.report.table import print_table

__all__ = [
    "SCHEMA",
    "AgentSummary",
    "DomainRow",
    "Row",
    "Summary",
    "Unfinished",
    "WallTime",
    "document",
    "dumps",
    "print_table",
    "render",
    "summarise",
    "write_html",
]
