"""Coefficients of correlation with their p-values, as cells."""

from __future__ import annotations

from collections.abc import Sequence

from repoassay.errors import MissingExtra
from repoassay.report.tables.value import Cell, ColumnUnit, TableColumn
from repoassay.stats import kendall, pearson, spearman

__all__ = ["COEFFICIENTS", "correlation_table"]

COEFFICIENTS = (
    TableColumn("pairs", "Pairs", ColumnUnit.COUNT),
    TableColumn("pearson", "Pearson r", ColumnUnit.NUMBER, 3),
    TableColumn("pearson_p", "p", ColumnUnit.P_VALUE),
    TableColumn("spearman", "Spearman rho", ColumnUnit.NUMBER, 3),
    TableColumn("spearman_p", "p of rho", ColumnUnit.P_VALUE),
    TableColumn("kendall", "Kendall tau-b", ColumnUnit.NUMBER, 3),
    TableColumn("kendall_p", "p of tau", ColumnUnit.P_VALUE),
    TableColumn("undefined", "Why there is none"),
)


def correlation_table(pairs: Sequence[tuple[float, float]]) -> tuple[Cell, ...]:
    """The cells of `COEFFICIENTS`; without scipy (extra `stats`) they are empty and say so."""
    first, second = [x for x, _ in pairs], [y for _, y in pairs]
    try:
        found = [test(first, second) for test in (pearson, spearman, kendall)]
    except MissingExtra as error:
        return (len(pairs), *[None] * 6, error.message)
    cells = [cell for test in found for cell in (test.statistic, test.p_value)]
    return (len(pairs), *cells, next((test.undefined for test in found if test.undefined), ""))
