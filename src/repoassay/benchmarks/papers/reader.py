"""The published tables, read from the data files beside this one."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import TypeVar

from pydantic import ValidationError

from repoassay.benchmarks.papers import rows as kinds
from repoassay.benchmarks.papers.rows import PublishedFigures
from repoassay.types import Record

__all__ = ["TABLES", "parse", "read", "read_all"]

RowT = TypeVar("RowT", bound=Record)

TABLES: dict[str, type[Record]] = {
    "gittaskbench-table-02": kinds.MeanFigure,
    "gittaskbench-table-03": kinds.RunFigures,
    "gittaskbench-table-04": kinds.Subdomain,
    "gittaskbench-table-05": kinds.SizeFigure,
    "gittaskbench-table-07": kinds.SweepFigures,
    "gittaskbench-table-09": kinds.SubdomainValue,
    "gittaskbench-table-10": kinds.AlphaFigures,
    "gittaskbench-table-11": kinds.ModelPrice,
    "gittaskbench-figure-07": kinds.ErrorShare,
    "gittaskbench-leaderboard": kinds.RunFigures,
    "metr-results": kinds.Fact,
    "metr-axes": kinds.AxisFigures,
    "resq-table-01": kinds.SizeFigure,
    "resq-table-02": kinds.PassRate,
}
"""Name of each data file (without `.toml`) -> what its rows are."""


@cache
def read(name: str, kind: type[RowT]) -> PublishedFigures[RowT]:
    """Read one of the tables that come with the package.

    Args:
        name: One of `TABLES`.
        kind: What its rows are, as `TABLES` says.

    Raises:
        KeyError: When there is no such table.
        ValueError: When its rows are something else, or its file does not hold what it should.
    """
    if TABLES[name] is not kind:
        raise ValueError(f"the rows of {name} are {TABLES[name].__name__}, not {kind.__name__}")
    return parse(files(__package__).joinpath(f"{name}.toml").read_text("utf-8"), kind, name)


def read_all() -> dict[str, PublishedFigures[Record]]:
    """Every table by name; its rows are of the kind that `TABLES` has for it."""
    return {name: read(name, kind) for name, kind in TABLES.items()}


def parse(text: str, kind: type[RowT], name: str) -> PublishedFigures[RowT]:
    """Read a table from TOML; figures keep the digits they are written with.

    Raises:
        ValueError: When it is not TOML, has an unknown key or lacks one, or a figure is out of its range.
    """
    try:
        content = tomllib.loads(text, parse_float=Decimal)
        # The class is made for the kind at run time, which is what a type checker cannot follow.
        return PublishedFigures[kind].model_validate(content)  # type: ignore[valid-type]
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise ValueError(f"the published table {name} cannot be read: {error}") from error
