"""Tables as files and on a terminal, a format a module; none of them works a figure out."""

from __future__ import annotations

from repoassay.report.writers.csv_file import csv_text
from repoassay.report.writers.json_file import json_text, table_document
from repoassay.report.writers.latex import latex
from repoassay.report.writers.markdown import markdown

__all__ = ["csv_text", "json_text", "latex", "markdown", "table_document"]
