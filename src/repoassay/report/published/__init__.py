"""Published results as data: figures of the tables of GitTaskBench, RES-Q and METR, and checks that they hold together.

Facts only, each table with its reference, where its figures were read, and what is missing. Figures are as printed,
misprints included: the checks name those, nothing corrects them.
"""

from __future__ import annotations

from repoassay.report.published.aggregates import ModelAggregate, aggregate, broken_ceilings, task_values
from repoassay.report.published.costs import CostCheck, CostStatus, check_costs, check_sweep_costs, cost_of
from repoassay.report.published.rates import RateCheck, check_rates, rates_of_runs, rates_of_sweep
from repoassay.report.published.read import TABLES, parse, read, read_all
from repoassay.report.published.rows import (
    AlphaFigures,
    AxisCount,
    AxisFigures,
    ErrorShare,
    Fact,
    Header,
    MeanFigure,
    ModelPrice,
    PassRate,
    Published,
    RunFigures,
    SizeFigure,
    Subdomain,
    SubdomainValue,
    SweepFigures,
)

__all__ = [
    "TABLES",
    "AlphaFigures",
    "AxisCount",
    "AxisFigures",
    "CostCheck",
    "CostStatus",
    "ErrorShare",
    "Fact",
    "Header",
    "MeanFigure",
    "ModelAggregate",
    "ModelPrice",
    "PassRate",
    "Published",
    "RateCheck",
    "RunFigures",
    "SizeFigure",
    "Subdomain",
    "SubdomainValue",
    "SweepFigures",
    "aggregate",
    "broken_ceilings",
    "check_costs",
    "check_rates",
    "check_sweep_costs",
    "cost_of",
    "parse",
    "rates_of_runs",
    "rates_of_sweep",
    "read",
    "read_all",
    "task_values",
]
