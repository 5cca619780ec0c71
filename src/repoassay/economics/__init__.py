"""What work is worth and what it cost: market value, quality, alpha. Pure functions, standard library alone.

Knows nothing of run folders or reports: it is given tasks, truth values, qualities and dollars. Money is Decimal US
dollars throughout. What is unknown is None, stays out of every mean, and is named with the reason.
"""

from __future__ import annotations

from repoassay.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repoassay.economics.decisions import (
        BreakEven as BreakEven,
        PerDollar as PerDollar,
        PerSolved as PerSolved,
        break_even as break_even,
        cost_per_solved as cost_per_solved,
        value_per_dollar as value_per_dollar,
    )
    from repoassay.economics.net_benefit import (
        Alpha as Alpha,
        AlphaRow as AlphaRow,
        ExcludedRow as ExcludedRow,
        Group as Group,
        Success as Success,
        alpha as alpha,
        group as group,
        group_by as group_by,
        mean_of_groups as mean_of_groups,
        worth as worth,
    )
    from repoassay.economics.pareto_curve import (
        ParetoCurve as ParetoCurve,
        ParetoPoint as ParetoPoint,
        pareto as pareto,
    )
    from repoassay.economics.quality import (
        LEVELS as LEVELS,
        Quality as Quality,
        QualityRule as QualityRule,
        QualitySource as QualitySource,
        by_result as by_result,
        from_ratings as from_ratings,
    )
    from repoassay.economics.uncertainty import (
        DollarInterval as DollarInterval,
        ValueRange as ValueRange,
        bootstrap as bootstrap,
        quality_readings as quality_readings,
        range_of_alpha as range_of_alpha,
        value_range as value_range,
    )
    from repoassay.economics.value import (
        Ceiling as Ceiling,
        alpha_from_rates as alpha_from_rates,
        ceiling as ceiling,
        mean_value as mean_value,
    )
else:
    __getattr__, __dir__ = attach(__name__)
