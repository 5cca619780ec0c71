"""Figures of METR's post on algorithmic against holistic evaluation, which ship as data files."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from repoassay.report import Count, FigureName, FigureTables, NotNegative, Percent
from repoassay.types import Record

__all__ = ["POST", "AxisCount", "AxisFigures", "Fact"]


class Fact(Record):
    """One figure of the METR post; `half_width` is half its printed interval, `k` of `n` the count behind it."""

    id: FigureName
    fact: FigureName
    value: Decimal
    half_width: NotNegative | None = None
    k: Count | None = None
    n: Count | None = None


class AxisCount(Record):
    """`k` of `n` runs have the problem; `percent` is as printed."""

    percent: Percent
    k: Count
    n: Annotated[int, Field(ge=1)]


class AxisFigures(Record):
    """One axis of the METR failure table, over runs that fail the tests and runs that pass them."""

    axis: FigureName
    failing: AxisCount
    passing: AxisCount


POST = FigureTables(
    "repoassay.benchmarks.metr",
    {
        "metr-results": Fact,
        "metr-axes": AxisFigures,
    },
)
