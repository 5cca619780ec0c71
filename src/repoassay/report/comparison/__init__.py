"""Two or more systems on the same tasks: what changed, whether it is more than chance, and what it costs.

Reads runs as rows and prints, writes JSON, Markdown and JUnit; decides whether a change is a regression.
"""

from __future__ import annotations

from repoassay.report.comparison.comparison_output import as_json, as_markdown, as_text
from repoassay.report.comparison.gate import Gate, Ruling, rule
from repoassay.report.comparison.junit import write_junit
from repoassay.report.comparison.pairs import Change, Measure, TaskPair
from repoassay.report.comparison.sides import Side, read_sides
from repoassay.report.comparison.versus import Comparison, Cost, Versus, compare_sides

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
