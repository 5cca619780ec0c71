"""Plots of one number against another: sweeps, cumulative alpha, sizes of repositories, scores of benchmarks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from repoassay.report.charts.points import (
    MOST_SERIES,
    axis_value,
    bounded_series,
    cell_text,
    column_index,
    left_out_note,
    row_label,
)
from repoassay.report.charts.value import Chart, ChartAxis, ChartForm, Point, Series
from repoassay.report.figures import cost, figure
from repoassay.report.outcome_tables import ReportTables
from repoassay.report.standings import SystemResult
from repoassay.report.tables.value import Cell, Table
from repoassay.text import one_line

__all__ = ["benchmark_curves", "pareto_curve_chart", "price_curve", "size_curves", "sweep_curves"]


def sweep_curves(table: Table) -> Iterator[Chart]:
    """One chart for each limit that was swept and each rate."""
    index = column_index(table)
    for limit in dict.fromkeys(str(row[index["limit"]]) for row in table.rows):
        for key, word in (("ecr", "ECR"), ("tpr", "TPR")):
            lines: dict[str, list[Point]] = {}
            for row in table.rows:
                found, where = axis_value(row[index[key]]), _number(row[index["value"]])
                if str(row[index["limit"]]) == limit and found is not None and where is not None:
                    label = row_label(table, row, ("framework", "model", "others"))
                    says = f"{limit}={row[index['value']]}: {cell_text(table, key, row[index[key]])}"
                    lines.setdefault(label, []).append(Point(where, found[0], says, found[1], found[2]))
            yield Chart(
                f"sweep_{limit}_{key}", f"{word} by {limit.replace('_', ' ')}", table.after, ChartForm.LINES,
                ChartAxis(limit.replace("_", " "), log=_spread(lines)), ChartAxis(f"{word}, percent", percent=True),
                bounded_series(lines), note=left_out_note(len(lines) - MOST_SERIES, "lines", table),
            )  # fmt: skip


def price_curve(systems: Sequence[SystemResult]) -> Chart:
    """Pass rate against what an attempt cost, a point a system; empty where fewer than two have a price."""
    priced = [one for one in systems if one.dollars and one.passed.value is not None]
    series = []
    for one in priced[:MOST_SERIES]:
        ends = one.passed.interval
        low, high = (None if end is None else 100 * end for end in (ends.low, ends.high))
        says = f"{figure(one.passed)}, {cost(one.dollars, Decimal(0))} an attempt"
        place = Point(float(one.dollars or 0), 100 * (one.passed.value or 0.0), says, low, high)
        series.append(Series(one_line(one.short, 120), (place,), one.number))
    lines = {item.name: list(item.points) for item in series}
    return Chart(
        "price", "Pass rate against cost", "", ChartForm.SCATTER,
        ChartAxis("US dollars an attempt", log=_spread(lines)), ChartAxis("passed, percent", percent=True),
        tuple(series) if len(priced) > 1 else (),
    )  # fmt: skip


def _number(cell: Cell) -> float | None:
    try:
        return float(str(cell))
    except ValueError:
        return None


def _spread(lines: dict[str, list[Point]]) -> bool:
    places = [point.x for points in lines.values() for point in points]
    return bool(places) and min(places) > 0 and max(places) / min(places) >= 20


def pareto_curve_chart(table: Table, order: Mapping[str, int]) -> Chart:
    """Alpha over repositories, largest first, cumulated; a line an agent."""
    index = column_index(table)
    lines: dict[str, list[Point]] = {}
    for row in table.rows:
        cumulative, rank = axis_value(row[index["cumulative"]]), axis_value(row[index["rank"]])
        if cumulative is not None and rank is not None:
            name = one_line(str(row[index["repository"]]), 60)
            says = f"{name}: {cell_text(table, 'cumulative', row[index['cumulative']])}"
            lines.setdefault(row_label(table, row, ("run", "agent")), []).append(Point(rank[0], cumulative[0], says))
    return Chart(
        "alpha_pareto", table.title, table.after, ChartForm.LINES, ChartAxis("repositories, largest alpha first"),
        ChartAxis("cumulative alpha, US dollars"), bounded_series(lines, order),
        note=left_out_note(len(lines) - MOST_SERIES, "agents", table),
    )  # fmt: skip


_TOKEN_PLOTS = {
    "mean_tokens": ("", "Tokens", "mean tokens of an attempt"),
    "tokens_in_process": ("_executed", "Input tokens of executed attempts", "mean input tokens"),
    "tokens_in_result": ("_passed", "Input tokens of passed attempts", "mean input tokens"),
}
"""Mean in `repository_tokens` -> end of the file's name, title and axis."""


def size_curves(table: Table, figures: ReportTables) -> Iterator[Chart]:
    """Charts for each measure of a repository: its size and what attempts on it read and wrote."""
    index = column_index(table)
    plots = {mean: plot for mean, plot in _TOKEN_PLOTS.items() if mean in index}
    for measure, (mean, (end, title, axis)) in itertools.product(figures.sizes, plots.items()):
        lines: dict[str, list[Point]] = {}
        for row in table.rows:
            size, spent = axis_value(row[index[f"size_{measure}"]]), axis_value(row[index[mean]])
            if size is not None and spent is not None:
                name = one_line(str(row[index["repository"]]), 60)
                says = f"{name}: {size[0]:,.0f} {measure.replace('_', ' ')}, {spent[0]:,.0f} tokens"
                lines.setdefault(str(row[index["agent"]]), []).append(Point(size[0], spent[0], says, label=name))
        yield Chart(
            f"tokens_by_{_file(measure)}{end}",
            f"{title} by {measure.replace('_', ' ')} of the repository",
            table.after,
            ChartForm.SCATTER,
            ChartAxis(measure.replace("_", " "), log=_spread(lines)),
            ChartAxis(axis),
            bounded_series(lines),
            note=left_out_note(len(lines) - MOST_SERIES, "agents", table),
        )


def _file(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)[:40]


def benchmark_curves(table: Table) -> Iterator[Chart]:
    """pass@1 against each benchmark whose scores were given."""
    index = column_index(table)
    for number, column in enumerate((one for one in table.columns if one.key.startswith("score_")), start=1):
        lines: dict[str, list[Point]] = {}
        for row in table.rows:
            score, rate = axis_value(row[index[column.key]]), axis_value(row[index["pass_at_1"]])
            if score is not None and rate is not None:
                name = row_label(table, row, ("model",))
                says = f"{name}: {score[0]:g}, pass@1 {cell_text(table, 'pass_at_1', row[index['pass_at_1']])}"
                line = lines.setdefault(row_label(table, row, ("framework",)), [])
                line.append(Point(score[0], rate[0], says, rate[1], rate[2], name))
        yield Chart(
            f"benchmark_{number}", f"pass@1 against {one_line(column.title, 60)}", "RES-Q Figure 4", ChartForm.SCATTER,
            ChartAxis(one_line(column.title, 60)), ChartAxis("pass@1, percent", percent=True), bounded_series(lines),
            note=left_out_note(len(lines) - MOST_SERIES, "frameworks", table),
        )  # fmt: skip
