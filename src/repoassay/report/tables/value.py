"""A table as a neutral value: what the columns are, in which unit, what the cells hold. Writers give it a form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from repoassay.stats import Proportion

__all__ = ["Cell", "ColumnUnit", "Estimate", "Table", "TableColumn"]


class ColumnUnit(StrEnum):
    """What the cells of a column are.

    `SHARE` and `ESTIMATE` lie between 0 and 1 and are shown in percent. `RATE` cells are `Proportion`, `ESTIMATE` cells
    `Estimate`; of `COUNT`, `SECONDS`, `DOLLARS`, `NUMBER`, `P_VALUE` and `SHARE` they are numbers, else text.
    """

    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"
    SHARE = "share"
    RATE = "rate"
    ESTIMATE = "estimate"
    SECONDS = "seconds"
    DOLLARS = "dollars"
    P_VALUE = "p"

    @property
    def numeric(self) -> bool:
        """Whether cells stand to the right."""
        return self not in (ColumnUnit.TEXT, ColumnUnit.RATE, ColumnUnit.ESTIMATE)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share or a mean of shares with its interval (None where there is none), over `n` of what its table says."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    undefined: str = ""


Cell = str | int | float | Decimal | Proportion | Estimate | None
"""One cell; None is unknown or not applicable, as its table's notes say."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column: `key` for programs, `title` for readers, the unit of its cells, and digits after the point.

    `better` is `higher` or `lower` where the best and the second best of its cells are to be marked.
    """

    key: str
    title: str
    unit: ColumnUnit = ColumnUnit.TEXT
    digits: int | None = None
    better: Literal["", "higher", "lower"] = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    `name` is a file name. `after` says which published table or figure it is made after, empty for none. `notes` say
    method, n and denominator. `rows` have a cell for each column.

    Raises:
        ValueError: When a row has another number of cells.
    """

    name: str
    title: str
    after: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.name}: a row of {len(row)} cells in a table of {len(self.columns)} columns")

    def column(self, key: str) -> Sequence[Cell]:
        """The cells of one column.

        Raises:
            KeyError: When there is none of that key.
        """
        for index, column in enumerate(self.columns):
            if column.key == key:
                return [row[index] for row in self.rows]
        raise KeyError(key)

    def without_empty(self, *keys: str) -> Table:
        """Without those of the named columns in which every cell is None or empty text."""
        empty = {
            index
            for index, column in enumerate(self.columns)
            if column.key in keys and all(row[index] in (None, "") for row in self.rows)
        }
        if not empty:
            return self
        kept = [index for index in range(len(self.columns)) if index not in empty]
        return Table(
            self.name,
            self.title,
            self.after,
            tuple(self.columns[index] for index in kept),
            tuple(tuple(row[index] for index in kept) for row in self.rows),
            self.notes,
        )
