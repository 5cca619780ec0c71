"""What the tables of published results hold: one record for each kind of row, and the header every table has."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Generic, Self, TypeVar

from pydantic import Field, model_validator

from repoassay.types import Record

__all__ = [
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
]

RowT = TypeVar("RowT", bound=Record)

Percent = Annotated[Decimal, Field(ge=0, le=100)]
NotNegative = Annotated[Decimal, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Name = Annotated[str, Field(min_length=1)]


class Header(Record):
    """Where a table comes from.

    `n` is how many tasks, repositories or models its figures are over. `read_from` is where the figures were read,
    `note` what to know of them, `missing` what the published table has and this one does not.
    """

    paper: Name
    reference: Name
    name: Name
    title: Name
    n: Annotated[int, Field(ge=1)] | None = None
    read_from: Name
    note: str = ""
    missing: tuple[Name, ...] = ()


class PublishedFigures(Record, Generic[RowT]):
    """One published table: its header and its rows, in the published order."""

    table: Header
    row: Annotated[tuple[RowT, ...], Field(min_length=1)]


class MeanFigure(Record):
    """The mean of a measure over repositories (GitTaskBench, Table 2)."""

    measure: Name
    mean: NotNegative


class SizeFigure(Record):
    """One measure of one repository (GitTaskBench, Table 5), or of a data set (RES-Q, Table 1; no repository)."""

    repository: str = ""
    measure: Name
    value: NotNegative


class RunFigures(Record):
    """A framework with a model (GitTaskBench, Table 3): rates in percent, tokens and US dollars per task.

    `input_thousands` is input tokens in thousands, `output` output tokens; `cost` is None where none is printed.
    """

    framework: Name
    model: Name
    marks: str = ""
    ecr: Percent
    tpr: Percent
    input_thousands: NotNegative
    output: NotNegative
    cost: NotNegative | None = None

    @property
    def title(self) -> str:
        """The framework, the model and its marks."""
        return f"{self.framework} with {self.model}{self.marks}"


class SweepFigures(Record):
    """A run under a limit (GitTaskBench, Table 7): seconds for a task, iterations where they were limited.

    `computed_cost` is US dollars per task from the paper's tokens and prices; tokens as in `RunFigures`.
    """

    seconds: Annotated[int, Field(gt=0)]
    iterations: Annotated[int, Field(gt=0)] | None = None
    ecr: Percent
    tpr: Percent
    computed_cost: NotNegative
    input_thousands: NotNegative | None = None
    output: NotNegative | None = None

    @property
    def title(self) -> str:
        """The limits in words."""
        return f"{self.seconds} s" + (f", {self.iterations} iterations" if self.iterations else "")


class Subdomain(Record):
    """The tasks of one subdomain (GitTaskBench, Table 4)."""

    domain: Name
    subdomain: Name
    tasks: Annotated[tuple[Name, ...], Field(min_length=1)]


class SubdomainValue(Record):
    """Market value of a task of a subdomain in US dollars (GitTaskBench, Table 9).

    `low` and `high` are None where no range is printed. `parts` are the values of tasks that the mean is taken to come
    from, empty where it is not uneven.
    """

    domain: Name
    subdomain: Name
    value: NotNegative
    low: NotNegative | None = None
    high: NotNegative | None = None
    parts: tuple[NotNegative, ...] = ()

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("needs low and high both, or neither")
        if self.low is not None and self.high is not None and not self.low <= self.value <= self.high:
            raise ValueError("needs low <= value <= high")
        return self


class AlphaFigures(Record):
    """Alpha of each model on one repository (GitTaskBench, Table 10): US dollars per task over `n` tasks."""

    repository: Name
    n: Annotated[int, Field(ge=1)]
    alpha: Annotated[dict[str, Decimal], Field(min_length=1)]


class ModelPrice(Record):
    """US dollars per million tokens (GitTaskBench, Table 11); `above` is the prompt length from which a tier holds."""

    model: Name
    input: NotNegative
    output: NotNegative
    above: Count | None = None


class ErrorShare(Record):
    """Share of failures that fall in one class (GitTaskBench, Figure 7), percent."""

    class_: Annotated[Name, Field(alias="class")]
    percent: Percent


class PassRate(Record):
    """pass@1 of one model in percent (RES-Q, Table 2)."""

    model: Name
    pass_at_1: Percent
    note: str = ""


class Fact(Record):
    """One figure of the METR post; `half_width` is half its printed interval, `k` of `n` the count behind it."""

    id: Name
    fact: Name
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

    axis: Name
    failing: AxisCount
    passing: AxisCount
