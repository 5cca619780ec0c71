"""The tables of GitTaskBench that ship as data files."""

from __future__ import annotations

from repoassay.benchmarks.gittaskbench.papers import rows as kinds
from repoassay.report import FigureTables, SizeFigure

__all__ = ["PAPER"]

PAPER = FigureTables(
    "repoassay.benchmarks.gittaskbench.papers",
    {
        "gittaskbench-table-02": kinds.MeanFigure,
        "gittaskbench-table-03": kinds.RunFigures,
        "gittaskbench-table-04": kinds.Subdomain,
        "gittaskbench-table-05": SizeFigure,
        "gittaskbench-table-07": kinds.SweepFigures,
        "gittaskbench-table-09": kinds.SubdomainValue,
        "gittaskbench-table-10": kinds.AlphaFigures,
        "gittaskbench-table-11": kinds.ModelPrice,
        "gittaskbench-figure-07": kinds.ErrorShare,
        "gittaskbench-leaderboard": kinds.RunFigures,
    },
)
