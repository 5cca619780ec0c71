"""Published pass@1 of RES-Q, which ships as data files, beside that of these runs."""

from __future__ import annotations

from collections.abc import Mapping

from repoassay.report import (
    THESE_RUNS,
    Cell,
    ColumnUnit,
    FigureName,
    FigureTables,
    OfferedTables,
    Percent,
    SizeFigure,
    Table,
    TableColumn,
    cells_by_key,
    share_of,
)
from repoassay.types import Record

__all__ = ["PAPER", "RESQ", "PassRate"]


def _resq(tables: Mapping[str, Table]) -> list[Table]:
    own = tables["pass_at_1"]
    rows: list[tuple[Cell, ...]] = [
        (THESE_RUNS, *cells_by_key(own, index, "framework", "model", "pass_at_1")) for index in range(len(own.rows))
    ]
    table = PAPER.read("resq-table-02", PassRate)
    rows += [(table.table.cited, "QurrentOS coder", row.model, share_of(row.pass_at_1)) for row in table.row]
    return [Table(
        "published_pass_at_1", "Beside the published pass@1", "RES-Q Table 2",
        (TableColumn("source", "Source"), TableColumn("framework", "Framework"), TableColumn("model", "Model"),
         TableColumn("pass_at_1", "pass@1", ColumnUnit.SHARE, 1)),
        tuple(rows), (table.table.origin,),
    )]  # fmt: skip


RESQ = OfferedTables("resq", _resq)


class PassRate(Record):
    """pass@1 of one model in percent (RES-Q, Table 2)."""

    model: FigureName
    pass_at_1: Percent
    note: str = ""


PAPER = FigureTables(
    "repoassay.benchmarks.resq.papers",
    {
        "resq-table-01": SizeFigure,
        "resq-table-02": PassRate,
    },
)
