"""What work is worth and what it cost: market value, quality, alpha. Pure functions, standard library alone.

Knows nothing of run folders or reports: it is given tasks, truth values, qualities and dollars. Money is Decimal US
dollars throughout. What is unknown is None, stays out of every mean, and is named with the reason.
"""

from __future__ import annotations

from repoassay.economics.alpha import Alpha, AlphaRow, Group, LeftOut, Success, alpha, by, group, mean_of_groups, worth
from repoassay.economics.decisions import BreakEven, PerDollar, PerSolved, break_even, cost_per_solved, value_per_dollar
from repoassay.economics.pareto import ParetoCurve, ParetoPoint, pareto
from repoassay.economics.quality import LEVELS, Quality, QualitySource, Rule, by_result, from_ratings
from repoassay.economics.rates import alpha_from_rates
from repoassay.economics.uncertainty import (
    DollarInterval,
    ValueRange,
    bootstrap,
    quality_readings,
    range_of_alpha,
    value_range,
)
from repoassay.economics.value import Ceiling, ceiling, mean_value

__all__ = [
    "LEVELS",
    "Alpha",
    "AlphaRow",
    "BreakEven",
    "Ceiling",
    "DollarInterval",
    "Group",
    "LeftOut",
    "ParetoCurve",
    "ParetoPoint",
    "PerDollar",
    "PerSolved",
    "Quality",
    "QualitySource",
    "Rule",
    "Success",
    "ValueRange",
    "alpha",
    "alpha_from_rates",
    "bootstrap",
    "break_even",
    "by",
    "by_result",
    "ceiling",
    "cost_per_solved",
    "from_ratings",
    "group",
    "mean_of_groups",
    "mean_value",
    "pareto",
    "quality_readings",
    "range_of_alpha",
    "value_per_dollar",
    "value_range",
    "worth",
]
