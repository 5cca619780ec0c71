"""The tables of RES-Q that ship as data files."""

from __future__ import annotations

from repoassay.report import FigureName, FigureTables, Percent, SizeFigure
from repoassay.types import Record

__all__ = ["PAPER", "PassRate"]


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
