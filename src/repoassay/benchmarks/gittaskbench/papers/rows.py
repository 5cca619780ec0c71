"""What the published tables of GitTaskBench hold: one record for each kind of row."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Self

from pydantic import Field, model_validator

from repoassay.report import Count, FigureName, NotNegative, Percent
from repoassay.types import Record

__all__ = [
    "AlphaFigures",
    "ErrorShare",
    "MeanFigure",
    "ModelPrice",
    "RunFigures",
    "Subdomain",
    "SubdomainValue",
    "SweepFigures",
]


class MeanFigure(Record):
    """The mean of a measure over repositories, and its range where one is printed (GitTaskBench, Table 2)."""

    measure: FigureName
    mean: NotNegative
    low: NotNegative | None = None
    high: NotNegative | None = None


class RunFigures(Record):
    """A framework with a model (GitTaskBench, Table 3): rates in percent, tokens and US dollars per task.

    `input_thousands` is input tokens in thousands, `output` output tokens; `cost` is None where none is printed.
    """

    framework: FigureName
    model: FigureName
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

    domain: FigureName
    subdomain: FigureName
    tasks: Annotated[tuple[FigureName, ...], Field(min_length=1)]


class SubdomainValue(Record):
    """Market value of a task of a subdomain in US dollars (GitTaskBench, Table 9).

    `low` and `high` are None where no range is printed. `parts` are the values of tasks that the mean is taken to come
    from, empty where it is not uneven.
    """

    domain: FigureName
    subdomain: FigureName
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

    repository: FigureName
    n: Annotated[int, Field(ge=1)]
    alpha: Annotated[dict[str, Decimal], Field(min_length=1)]


class ModelPrice(Record):
    """US dollars per million tokens (GitTaskBench, Table 11); `above` is the prompt length from which a tier holds."""

    model: FigureName
    input: NotNegative
    output: NotNegative
    above: Count | None = None


class ErrorShare(Record):
    """Share of failures that fall in one class (GitTaskBench, Figure 7), percent; of all, or of one framework's."""

    framework: str = ""
    model: str = ""
    class_: Annotated[FigureName, Field(alias="class")]
    percent: Percent
