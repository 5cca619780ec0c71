"""Published results as data: figures of GitTaskBench's tables, and checks that they hold together.

Facts only, each table with its reference, where its figures were read, and what is missing. Figures are as printed,
misprints included: the checks name those, nothing corrects them.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.benchmarks.gittaskbench.papers.aggregates import (
        aggregate as aggregate,
        broken_ceilings as broken_ceilings,
        check_rates as check_rates,
        rates_of_runs as rates_of_runs,
        rates_of_sweep as rates_of_sweep,
        task_values as task_values,
    )
    from repoassay.benchmarks.gittaskbench.papers.costs import (
        CostStatus as CostStatus,
        check_costs as check_costs,
        check_sweep_costs as check_sweep_costs,
    )
    from repoassay.benchmarks.gittaskbench.papers.rows import (
        AlphaFigures as AlphaFigures,
        ErrorShare as ErrorShare,
        MeanFigure as MeanFigure,
        ModelPrice as ModelPrice,
        RunFigures as RunFigures,
        Subdomain as Subdomain,
        SubdomainValue as SubdomainValue,
        SweepFigures as SweepFigures,
    )
    from repoassay.benchmarks.gittaskbench.papers.tables import PAPER as PAPER
else:
    __getattr__, __dir__ = attach(__name__)
