"""A report table: what verdicts say most often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from repoassay.report.results import ResultRow
from repoassay.report.tables.value import ColumnUnit, Table, TableColumn


def tables(rows: Sequence[ResultRow], made: Sequence[Table]) -> list[Table]:
    """Return one table: comments of verdicts, and how many attempts have each."""
    counts = Counter(row.comment for row in rows if row.comment)
    columns = (TableColumn("comment", "Comment"), TableColumn("attempts", "Attempts", ColumnUnit.COUNT))
    return [Table("comments", "What verdicts say", "", columns, tuple(counts.most_common(20)))]
