"""A plot as a neutral value: what is drawn, in which unit. The page and the picture files draw the same values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Chart", "ChartAxis", "ChartForm", "Point", "Series"]


class ChartForm(StrEnum):
    """How a chart is drawn.

    `DOTS` and `BARS` have a value (x) and an interval for each category (y is its number), series below one another;
    `STRIP` has the series' values on one line, `STACKED` their bars behind one another. `LINES` joins the points of a
    series, `SCATTER` does not.
    """

    DOTS = "dots"
    BARS = "bars"
    STRIP = "strip"
    STACKED = "stacked"
    LINES = "lines"
    SCATTER = "scatter"

    @property
    def by_category(self) -> bool:
        """Whether y counts categories."""
        return self in (ChartForm.DOTS, ChartForm.BARS, ChartForm.STRIP, ChartForm.STACKED)


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """One axis: its title with the unit, whether it is a percentage from 0 to 100, and whether it is logarithmic."""

    title: str
    percent: bool = False
    log: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """One value at (x, y), in the unit of the axes, with the ends of its interval along the value's axis.

    `says` is its value in words, `label` what it is called where points of a series differ.
    """

    x: float
    y: float
    says: str
    low: float | None = None
    high: float | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one name; drawn in one colour with one marker or hatch.

    `kind` says which: of an outcome or of `ecr` or `tpr` by that name, or of the agent of that number. None takes the
    look of the series' place in its plot.
    """

    name: str
    points: tuple[Point, ...]
    kind: str | int | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """One plot.

    `name` is a file name, `after` the published figure it is made after, `note` what was left out. `figures` are texts
    beside the categories, one each; where there are none, the points of a single series are written there.
    """

    name: str
    title: str
    after: str
    form: ChartForm
    x: ChartAxis
    y: ChartAxis
    series: tuple[Series, ...]
    categories: tuple[str, ...] = ()
    note: str = ""
    figures: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(series.points for series in self.series)
