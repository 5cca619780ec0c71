"""Published results as data: figures of the tables of GitTaskBench, RES-Q and METR, and checks that they hold together.

Facts only, each table with its reference, where its figures were read, and what is missing. Figures are as printed,
misprints included: the checks name those, nothing corrects them.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.benchmarks.papers.aggregates import (
        ModelAggregate as ModelAggregate,
        aggregate as aggregate,
        broken_ceilings as broken_ceilings,
        task_values as task_values,
    )
    from repoassay.benchmarks.papers.costs import (
        CostCheck as CostCheck,
        CostStatus as CostStatus,
        check_costs as check_costs,
        check_sweep_costs as check_sweep_costs,
        cost_of as cost_of,
    )
    from repoassay.benchmarks.papers.rates import (
        RateCheck as RateCheck,
        check_rates as check_rates,
        rates_of_runs as rates_of_runs,
        rates_of_sweep as rates_of_sweep,
    )
    from repoassay.benchmarks.papers.reader import TABLES as TABLES, parse as parse, read as read, read_all as read_all
    from repoassay.benchmarks.papers.rows import (
        AlphaFigures as AlphaFigures,
        AxisCount as AxisCount,
        AxisFigures as AxisFigures,
        ErrorShare as ErrorShare,
        Fact as Fact,
        Header as Header,
        MeanFigure as MeanFigure,
        ModelPrice as ModelPrice,
        PassRate as PassRate,
        PublishedFigures as PublishedFigures,
        RunFigures as RunFigures,
        SizeFigure as SizeFigure,
        Subdomain as Subdomain,
        SubdomainValue as SubdomainValue,
        SweepFigures as SweepFigures,
    )
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "aggregates": ("ModelAggregate", "aggregate", "broken_ceilings", "task_values"),
            "costs": ("CostCheck", "CostStatus", "check_costs", "check_sweep_costs", "cost_of"),
            "rates": ("RateCheck", "check_rates", "rates_of_runs", "rates_of_sweep"),
            "reader": ("TABLES", "parse", "read", "read_all"),
            "rows": (
                "AlphaFigures",
                "AxisCount",
                "AxisFigures",
                "ErrorShare",
                "Fact",
                "Header",
                "MeanFigure",
                "ModelPrice",
                "PassRate",
                "PublishedFigures",
                "RunFigures",
                "SizeFigure",
                "Subdomain",
                "SubdomainValue",
                "SweepFigures",
            ),
        },
    )
