"""Two or more systems on the same tasks: what changed, whether it is more than chance, and what it costs.

Reads runs as rows and prints, writes JSON, Markdown and JUnit; decides whether a change is a regression.
"""

from __future__ import annotations

from repoassay.report.compare.gate import Gate, Ruling, rule
from repoassay.report.compare.junit import write_junit
from repoassay.report.compare.pairs import Change, Measure, TaskPair
from repoassay.report.compare.sides import Side, read_sides
from repoassay.report.compare.versus import Comparison, Cost, Versus, compare_sides
from repoassay.report.compare.written import as_json, as_markdown, as_text

__all__ = [
    "Change",
    "Comparison",
    "Cost",
    "Gate",
    "Measure",
    "Ruling",
    "Side",
    "TaskPair",
    "Versus",
    "as_json",
    "as_markdown",
    "as_text",
    "compare_sides",
    "read_sides",
    "rule",
    "write_junit",
]
