"""Where everything of a plot lies on the page. The template draws; nothing here writes markup.

Places along x are percentages of whatever width the reader has, so that text keeps its size on a phone; places along y
are pixels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, floor, isclose, log10

from repoassay.report.charts.palette import look
from repoassay.report.charts.value import Chart, ChartAxis, ChartForm
from repoassay.text import one_line

__all__ = ["ChartRule", "Drawing", "Mark", "Words", "draw", "short_labels"]

_LABEL = 60
_WIDE = 44
_NARROW = 26  # beside a value, also on a phone
_LEFT, _RIGHT = 2.0, 98.0
_INSIDE = 13.0  # where data of plots with a y axis begins: its labels stand left of that
_TALL = 280
_TICKS = 5
_PARTS = re.compile(r", | @ ")


@dataclass(frozen=True, slots=True)
class Mark:
    """One value: a bar where it has a width, else a marker; `colour` and `shape` are name and number of a `Look`."""

    x: float
    y: float
    colour: str
    shape: int
    says: str
    width: float | None = None
    tall: float = 0.0


@dataclass(frozen=True, slots=True)
class ChartRule:
    """A straight line, of a class of the style sheet."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str


@dataclass(frozen=True, slots=True)
class Words:
    """A text at a place; `anchor` is start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str
    kind: str


@dataclass(slots=True)
class Drawing:
    """A plot laid out: what is drawn first comes first."""

    height: int
    rules: list[ChartRule] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)


def draw(chart: Chart) -> Drawing:
    """Lay a plot out."""
    return _by_category(chart) if chart.form.by_category else _plane(chart)


class _Scale:
    """From values of an axis to percentages or pixels."""

    def __init__(self, axis: ChartAxis, values: list[float], ends: tuple[float, float], *, zero: bool = False) -> None:
        self._log, self._ends = axis.log and not zero and min(values) > 0, ends
        low, high = (0.0, 100.0) if axis.percent else (min(values), max(values))
        if zero:
            low, high = min(low, 0.0), max(high, 0.0)
        if isclose(low, high):
            low, high = (low / 2, high * 2) if self._log else (low - 1, high + 1)
        self._low, self._high = (log10(low), log10(high)) if self._log else (low, high)
        if not axis.percent and not zero:
            room = 0.05 * (self._high - self._low)
            self._low, self._high = self._low - room, self._high + room

    def __call__(self, value: float) -> float:
        place = log10(value) if self._log else value
        share = (place - self._low) / (self._high - self._low)
        return self._ends[0] + share * (self._ends[1] - self._ends[0])

    def ticks(self) -> list[float]:
        """Round values along the axis."""
        if self._log:
            powers = range(ceil(self._low), floor(self._high) + 1)
            several = [10.0**power for power in powers]
            return several if len(several) > 1 else [10**self._low, 10**self._high]
        step = _step((self._high - self._low) / _TICKS)
        first = ceil(self._low / step - 1e-9)
        last = floor(self._high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def _step(rough: float) -> float:
    power = 10.0 ** floor(log10(rough))
    return float(next((power * part for part in (1, 2, 2.5, 5) if power * part >= rough * 0.999), power * 10))


def _tick(value: float) -> str:
    if abs(value) < 1e-12:
        return "0"
    if abs(value) >= 1e6:
        return f"{value / 1e6:,.3g} M"
    return f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"


def _by_category(chart: Chart) -> Drawing:
    points = [point for series in chart.series for point in series.points]
    ends = [end for point in points for end in (point.x, point.low, point.high) if end is not None]
    scale = _Scale(chart.x, ends, (_LEFT, _RIGHT), zero=True)
    rows = 1 if chart.form in (ChartForm.STACKED, ChartForm.STRIP) else len(chart.series)
    dotted = chart.form in (ChartForm.DOTS, ChartForm.STRIP)
    thick = 22 if chart.form is ChartForm.STACKED else 14
    tall = 26 + rows * (thick + 4) + 8
    drawing = Drawing(height=len(chart.categories) * tall + 44)
    _bottom(drawing, chart.x, scale)
    one = len(chart.series) == 1
    beside = one or bool(chart.figures)
    for number, name in enumerate(short_labels(chart.categories, _NARROW if beside else _WIDE)):
        drawing.words.append(Words(0, number * tall + 15, name, "start", "label"))
        if chart.figures:
            drawing.words.append(Words(100, number * tall + 15, chart.figures[number], "end", "value"))
        if dotted:
            for row in range(rows):
                y = number * tall + 26 + row * (thick + 4) + thick / 2
                drawing.rules.append(ChartRule(_LEFT, y, _RIGHT, y, "track"))
    starts = [0.0] * len(chart.categories)
    for row, series in enumerate(chart.series):
        seen = look(series, row)
        for point in series.points:
            place = int(point.y)
            says = f"{one_line(chart.categories[place], _LABEL)}, {one_line(series.name, _LABEL)}: {point.says}"
            top = place * tall + 26 + (0 if rows == 1 else row * (thick + 4))
            if one and not chart.figures:
                drawing.words.append(Words(100, place * tall + 15, point.says, "end", "value"))
            if dotted:
                drawing.marks.append(Mark(scale(point.x), top + thick / 2, seen.name, seen.shape, says))
            else:
                begin = starts[place] if chart.form is ChartForm.STACKED else 0.0
                left, right = sorted((scale(begin), scale(begin + point.x)))
                drawing.marks.append(Mark(left, top, seen.name, seen.shape, says, max(right - left, 0.15), thick))
                starts[place] += point.x
            if point.low is not None and point.high is not None:
                kind = f"whisker l-{seen.name}" if dotted else "whisker dark"
                _whisker(drawing, scale(point.low), scale(point.high), top + thick / 2, kind)
    return drawing


def short_labels(names: Sequence[str], most: int) -> list[str]:
    """Labels of at most about `most` characters that stay apart where the names are.

    A long one is cut in the middle, for names of one family differ at their ends; where two would then read alike,
    what all names have in common is left out instead, and whatever is left stands whole.
    """
    lines = [one_line(name) for name in names]
    cut = [_cut(line, most) for line in lines]
    if len(set(cut)) == len(set(lines)):
        return cut
    alike = [set(_PARTS.split(line)) for line in lines]
    common = set.intersection(*alike)
    rest = [", ".join(part for part in _PARTS.split(line) if part not in common) or line for line in lines]
    shorter = [_cut(line, most) for line in rest]
    return shorter if len(set(shorter)) == len(set(lines)) else rest if len(set(rest)) == len(set(lines)) else lines


def _cut(line: str, most: int) -> str:
    return line if len(line) <= most else f"{line[: most // 2]}…{line[len(line) - (most - 1 - most // 2) :]}"


def _whisker(drawing: Drawing, low: float, high: float, y: float, kind: str) -> None:
    drawing.rules.append(ChartRule(low, y, high, y, kind))
    drawing.rules += [ChartRule(end, y - 4, end, y + 4, kind) for end in (low, high)]


def _bottom(drawing: Drawing, axis: ChartAxis, scale: _Scale) -> None:
    bottom = drawing.height - 40
    for tick in scale.ticks():
        x = scale(tick)
        anchor = "start" if x < 6 else "end" if x > 94 else "middle"
        drawing.rules.append(ChartRule(x, 0, x, bottom, "grid"))
        drawing.words.append(Words(x, bottom + 15, _tick(tick), anchor, "tick"))
    drawing.words.append(Words(50, drawing.height - 6, one_line(axis.title, _LABEL), "middle", "tick"))


def _plane(chart: Chart) -> Drawing:
    points = [point for series in chart.series for point in series.points]
    drawing = Drawing(height=_TALL + 40 + 22)
    across = _Scale(chart.x, [point.x for point in points], (_INSIDE, _RIGHT - 2))
    ends = [end for point in points for end in (point.y, point.low, point.high) if end is not None]
    up = _Scale(chart.y, ends, (_TALL + 22, 30))
    _bottom(drawing, chart.x, across)
    for tick in up.ticks():
        drawing.rules.append(ChartRule(0, up(tick), 100, up(tick), "grid"))
        drawing.words.append(Words(0, up(tick) - 4, _tick(tick), "start", "tick"))
    drawing.words.append(Words(0, 10, one_line(chart.y.title, _LABEL), "start", "tick"))
    for number, series in enumerate(chart.series):
        seen = look(series, number)
        places = [(across(point.x), up(point.y)) for point in series.points]
        if chart.form is ChartForm.LINES:
            drawing.rules += [ChartRule(*before, *after, f"line l-{seen.name}") for before, after in pairwise(places)]
        for point, (x, y) in zip(series.points, places, strict=True):
            if point.low is not None and point.high is not None:
                drawing.rules.append(ChartRule(x, up(point.low), x, up(point.high), f"whisker l-{seen.name}"))
            says = f"{one_line(series.name, _LABEL)}, {point.says}"
            drawing.marks.append(Mark(x, y, seen.name, seen.shape, says))
    return drawing
