"""Two or more systems on the same tasks: what changed, whether it is more than chance, and what it costs.

Reads runs as rows and prints, writes JSON, Markdown and JUnit; decides whether a change is a regression.
"""

from __future__ import annotations

from repoassay.report.comparison.comparison_output import as_markdown, as_text, comparison_document
from repoassay.report.comparison.gate import RegressionGate, Ruling, rule
from repoassay.report.comparison.junit import write_junit
from repoassay.report.comparison.pairs import Measure, OutcomeChange, TaskPair
from repoassay.report.comparison.sides import ComparedSide, read_sides
from repoassay.report.comparison.versus import Comparison, CostDifference, Versus, compare_sides

__all__ = [
    "ComparedSide",
    "Comparison",
    "CostDifference",
    "Measure",
    "OutcomeChange",
    "RegressionGate",
    "Ruling",
    "TaskPair",
    "Versus",
    "as_markdown",
    "as_text",
    "compare_sides",
    "comparison_document",
    "read_sides",
    "rule",
    "write_junit",
]
