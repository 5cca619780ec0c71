"""Tables of one or several runs as neutral values, one kind a module; nothing here knows how they are written."""

from __future__ import annotations

from repoassay.report.tables.value import Cell, ColumnUnit, Estimate, Table, TableColumn

__all__ = ["Cell", "ColumnUnit", "Estimate", "Table", "TableColumn"]
