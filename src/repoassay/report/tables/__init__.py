"""Tables of one or several runs as neutral values, one kind a module; nothing here knows how they are written."""

from __future__ import annotations

from repoassay.report.tables.value import Cell, Column, Estimate, Table, Unit

__all__ = ["Cell", "Column", "Estimate", "Table", "Unit"]
