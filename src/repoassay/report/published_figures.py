"""Figures that others published, as data files beside a benchmark, and their rows beside those of these runs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from importlib.resources import files
from typing import Annotated, Generic, TypeVar

from pydantic import Field, ValidationError

from repoassay.report.tables.value import Cell, Estimate, Table
from repoassay.stats import Proportion
from repoassay.types import Record

__all__ = [
    "THESE_RUNS",
    "Count",
    "FigureName",
    "FigureTables",
    "Header",
    "NotNegative",
    "Percent",
    "PublishedFigures",
    "SizeFigure",
    "cells_by_key",
    "parse_figures",
    "share_of",
]

RowT = TypeVar("RowT", bound=Record)

Percent = Annotated[Decimal, Field(ge=0, le=100)]
NotNegative = Annotated[Decimal, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
FigureName = Annotated[str, Field(min_length=1)]
THESE_RUNS = "these runs"
"""What stands as the source of rows that are not published."""


class Header(Record):
    """Where a table comes from.

    `n` is how many tasks, repositories or models its figures are over. `read_from` is where the figures were read,
    `note` what to know of them, `missing` what the published table has and this one does not.
    """

    paper: FigureName
    reference: FigureName
    name: FigureName
    title: FigureName
    n: Annotated[int, Field(ge=1)] | None = None
    read_from: FigureName
    note: str = ""
    missing: tuple[FigureName, ...] = ()

    @property
    def cited(self) -> str:
        """The paper and the table's name in it."""
        return f"{self.paper} {self.name}"

    @property
    def origin(self) -> str:
        """Reference, where the figures were read, and what to know of them, as a note below a table."""
        return f"{self.cited}: {self.reference}, read from {self.read_from}. {self.note}".strip()


class PublishedFigures(Record, Generic[RowT]):
    """One published table: its header and its rows, in the published order."""

    table: Header
    row: Annotated[tuple[RowT, ...], Field(min_length=1)]


class SizeFigure(Record):
    """One measure of one repository or, with no repository, of a data set."""

    repository: str = ""
    measure: FigureName
    value: NotNegative


class FigureTables:
    """The published tables of one benchmark: data files `NAME.toml` in its package.

    Args:
        package: The package that holds the files.
        kinds: Name of each file -> what its rows are.
    """

    def __init__(self, package: str, kinds: Mapping[str, type[Record]]) -> None:
        self.package = package
        self.kinds = dict(kinds)

    def read(self, name: str, kind: type[RowT]) -> PublishedFigures[RowT]:
        """Read one of the tables.

        Args:
            name: One of `kinds`.
            kind: What its rows are, as `kinds` says.

        Raises:
            KeyError: When there is no such table.
            ValueError: When its rows are something else, or its file does not hold what it should.
        """
        if self.kinds[name] is not kind:
            raise ValueError(f"the rows of {name} are {self.kinds[name].__name__}, not {kind.__name__}")
        return parse_figures(files(self.package).joinpath(f"{name}.toml").read_text("utf-8"), kind, name)

    def read_all(self) -> dict[str, PublishedFigures[Record]]:
        """Every table by name; its rows are of the kind that `kinds` has for it."""
        return {name: self.read(name, kind) for name, kind in self.kinds.items()}


def parse_figures(text: str, kind: type[RowT], name: str) -> PublishedFigures[RowT]:
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


def cells_by_key(table: Table, index: int, *keys: str) -> tuple[Cell, ...]:
    """Cells of one row by key; None where the table left the column out as empty. Estimates are their values."""
    present = {column.key: number for number, column in enumerate(table.columns)}
    cells = (table.rows[index][present[key]] if key in present else None for key in keys)
    return tuple(cell.value if isinstance(cell, Proportion | Estimate) else cell for cell in cells)


def share_of(percent: Decimal) -> float:
    """Return a printed percentage as a share."""
    return float(percent / 100)
