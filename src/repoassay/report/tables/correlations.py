"""Coefficients of correlation with their p-values, as cells."""

from __future__ import annotations

from collections.abc import Sequence

from repoassay.errors import MissingExtra
from repoassay.report.tables.value import Cell, Column, Unit
from repoassay.stats import kendall, pearson, spearman

__all__ = ["COEFFICIENTS", "correlated"]

COEFFICIENTS = (
    Column("pairs", "Pairs", Unit.COUNT),
    Column("pearson", "Pearson r", Unit.NUMBER, 3),
    Column("pearson_p", "p", Unit.P_VALUE),
    Column("spearman", "Spearman rho", Unit.NUMBER, 3),
    Column("spearman_p", "p of rho", Unit.P_VALUE),
    Column("kendall", "Kendall tau-b", Unit.NUMBER, 3),
    Column("kendall_p", "p of tau", Unit.P_VALUE),
    Column("undefined", "Why there is none"),
)


def correlated(pairs: Sequence[tuple[float, float]]) -> tuple[Cell, ...]:
    """The cells of `COEFFICIENTS`; without scipy (extra `stats`) they are empty and say so."""
    first, second = [x for x, _ in pairs], [y for _, y in pairs]
    try:
        found = [test(first, second) for test in (pearson, spearman, kendall)]
    except MissingExtra as error:
        return (len(pairs), *[None] * 6, error.message)
    cells = [cell for test in found for cell in (test.statistic, test.p_value)]
    return (len(pairs), *cells, next((test.undefined for test in found if test.undefined), ""))
