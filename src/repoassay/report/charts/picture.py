"""Plots as SVG and PNG files, drawn by matplotlib (extra `plots`). The same plot gives the same bytes each time."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from repoassay.errors import MissingExtra
from repoassay.report.charts.palette import HATCHES, MARKERS, look
from repoassay.report.charts.value import Chart, ChartForm, Series
from repoassay.text import clip

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["picture"]

_LABEL = 46
_MOST_LABELS = 25
_SETTINGS: dict[Any, Any] = {  # of names that matplotlib's stubs list one by one
    "svg.hashsalt": "repoassay",
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name may hold dollar signs
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#5a656d",
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e2e5e7",
    "grid.linewidth": 0.8,
    "hatch.linewidth": 0.6,
}


def picture(chart: Chart, form: Literal["svg", "png"], dots_per_inch: int = 150) -> bytes:
    """Draw one plot on white, as it would be printed.

    Raises:
        MissingExtra: Without matplotlib.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots") from error
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # The font lacks letters of some scripts; a box in a label is better than no picture.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font", category=UserWarning)
        figure = Figure(figsize=(7.2, _height(chart)), layout="constrained")
        axes = figure.subplots()
        _draw(chart, axes)
        stream = io.BytesIO()
        metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
        figure.savefig(stream, format=form, dpi=dots_per_inch, metadata=metadata, facecolor="white")
    return stream.getvalue()


def _height(chart: Chart) -> float:
    legend = 0.22 * ((len(chart.series) + 1) // 2) if len(chart.series) > 1 else 0.0
    if not chart.form.by_category:
        return 4.2 + legend
    rows = 1 if chart.form in (ChartForm.STACKED, ChartForm.STRIP) else len(chart.series)
    return 1.2 + legend + len(chart.categories) * (0.14 + 0.2 * rows)


def _draw(chart: Chart, axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    drawers: dict[ChartForm, Callable[[Chart, Axes], None]] = {
        ChartForm.DOTS: _dots, ChartForm.STRIP: _dots, ChartForm.BARS: _bars, ChartForm.STACKED: _stacked,
        ChartForm.LINES: _lines, ChartForm.SCATTER: _lines,
    }  # fmt: skip
    drawers[chart.form](chart, axes)
    axes.set_title(clip(chart.title, 80), loc="left", fontsize=11, fontweight="bold", pad=10)
    axes.set_xlabel(chart.x.title)
    if chart.x.percent:
        axes.set_xlim(-1.5, 101.5)
    if chart.x.log:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    if chart.form.by_category:
        axes.set_yticks(range(len(chart.categories)), [clip(name, _LABEL) for name in chart.categories])
        axes.set_ylim(len(chart.categories) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=chart.form is ChartForm.STRIP, axis="y")
    else:
        axes.set_ylabel(chart.y.title)
        if chart.y.percent:
            axes.set_ylim(-3, 103)
    if len(chart.series) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.14 if not chart.form.by_category else _below(chart)),
                    ncols=2, frameon=False, borderaxespad=0)  # fmt: skip


def _below(chart: Chart) -> float:
    """Under the axis title, whatever the height of the plot."""
    return -0.62 / max(0.6, _height(chart) - 1.2)


def _offsets(chart: Chart) -> list[float]:
    """Where the series of one category lie beside each other."""
    count = len(chart.series)
    if chart.form is ChartForm.STRIP:
        return [0.0] * count
    step = 0.74 / max(count, 1)
    return [(number - (count - 1) / 2) * step for number in range(count)]


def _style(series: Series, number: int) -> tuple[str, str, str]:
    found = look(series, number)
    return found.colour, MARKERS[found.shape], HATCHES[found.shape]


def _ends(series: Series, value: Callable[[int], float]) -> list[list[float]] | None:
    """Lengths of the whiskers to both sides; None where no point has an interval."""
    if all(point.low is None for point in series.points):
        return None
    lows = [value(n) - (point.low if point.low is not None else value(n)) for n, point in enumerate(series.points)]
    highs = [(point.high if point.high is not None else value(n)) - value(n) for n, point in enumerate(series.points)]
    return [[max(0.0, end) for end in lows], [max(0.0, end) for end in highs]]


def _dots(chart: Chart, axes: Axes) -> None:
    for number, (series, offset) in enumerate(zip(chart.series, _offsets(chart), strict=True)):
        colour, marker, _ = _style(series, number)
        points = series.points
        axes.errorbar(
            [point.x for point in points], [point.y + offset for point in points],
            xerr=_ends(series, lambda n, points=points: points[n].x),  # type: ignore[misc] # bound per turn
            fmt=marker, color=colour, markersize=6, capsize=3, elinewidth=1.4, label=clip(series.name, _LABEL),
        )  # fmt: skip


def _bars(chart: Chart, axes: Axes) -> None:
    thick = 0.74 / max(len(chart.series), 1)
    for number, (series, offset) in enumerate(zip(chart.series, _offsets(chart), strict=True)):
        colour, _, hatch = _style(series, number)
        points = series.points
        axes.barh(
            [point.y + offset for point in points], [point.x for point in points], height=thick * 0.9, color=colour,
            hatch=hatch, edgecolor="white", linewidth=0.4, label=clip(series.name, _LABEL),
            xerr=_ends(series, lambda n, points=points: points[n].x),  # type: ignore[misc] # bound per turn
            error_kw={"elinewidth": 1.1, "capsize": 2.5, "ecolor": "#1c2226"},
        )  # fmt: skip
    axes.axvline(0, color="#5a656d", linewidth=0.8)


def _stacked(chart: Chart, axes: Axes) -> None:
    left = [0.0] * len(chart.categories)
    for number, series in enumerate(chart.series):
        colour, _, hatch = _style(series, number)
        for point in series.points:
            place = int(point.y)
            axes.barh(
                place, point.x, left=left[place], height=0.62, color=colour, hatch=hatch, edgecolor="white",
                linewidth=0.4, label=clip(series.name, _LABEL) if point is series.points[0] else None,
            )  # fmt: skip
            left[place] += point.x


def _lines(chart: Chart, axes: Axes) -> None:
    for number, series in enumerate(chart.series):
        colour, marker, _ = _style(series, number)
        points = series.points
        axes.errorbar(
            [point.x for point in points], [point.y for point in points],
            yerr=_ends(series, lambda n, points=points: points[n].y),  # type: ignore[misc] # bound per turn
            fmt=marker, color=colour, markersize=6, capsize=3, elinewidth=1.1, label=clip(series.name, _LABEL),
            linestyle="-" if chart.form is ChartForm.LINES else "none", linewidth=1.4,
        )  # fmt: skip
        if chart.form is ChartForm.SCATTER and sum(len(one.points) for one in chart.series) <= _MOST_LABELS:
            for point in points:
                axes.annotate(clip(point.label, 24), (point.x, point.y), xytext=(6, 4), textcoords="offset points",
                              fontsize=7, color="#5a656d")  # fmt: skip
