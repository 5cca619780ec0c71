"""Every plot of a set of runs, out of its tables."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from repoassay.report.charts.curves import benchmark_curves, pareto_curve_chart, size_curves, sweep_curves
from repoassay.report.charts.points import (
    MOST_CATEGORIES,
    MOST_POINTS,
    MOST_SERIES,
    axis_value,
    cell_text,
    column_index,
    left_out_note,
    row_label,
)
from repoassay.report.charts.value import Chart, ChartAxis, ChartForm, Point, Series
from repoassay.report.figures import seconds
from repoassay.report.outcome_tables import ReportTables
from repoassay.report.outcomes import OUTCOMES
from repoassay.report.results import ResultRow
from repoassay.report.tables.value import Table
from repoassay.text import one_line
from repoassay.types import Outcome

__all__ = ["charts"]

_FEW = 3
_SEVERAL = 8
_PERCENT = ChartAxis("percent", percent=True)


def charts(figured: ReportTables) -> list[Chart]:
    """The plots that have something to show, in the order of their tables; a table that is not there has no plot."""
    order = _order(figured.tables["success"])
    rates = (("ecr_all", "ECR, all", "ecr"), ("tpr_all", "TPR, all", "tpr"))
    entry = ("run", "framework", "model", "limits")
    makers: dict[str, Callable[[Table], Iterable[Chart]]] = {
        "frameworks": lambda table: [_shares(table, entry, rates, "rates", "Completion and pass rates")],
        "outcomes": lambda table: [_outcomes(table)],
        "success": lambda table: [
            _shares(table, ("run", "agent"), (("success", "Success", "tpr"),), "success", table.title)
        ],
        "domains": lambda table: [
            _grouped(
                table,
                "domain",
                "tpr_all",
                "domains",
                "Pass rate by domain",
                ChartForm.DOTS if len(order) <= _SEVERAL else ChartForm.STRIP,
                _PERCENT,
                order,
            ),
            _seconds(figured.rows),
        ],
        "sweeps": sweep_curves,
        "alpha_by_repository": lambda table: [
            _grouped(
                table,
                "repository",
                "alpha",
                "alpha",
                "Alpha by repository",
                ChartForm.BARS if len(order) <= _FEW else ChartForm.STRIP,
                ChartAxis("US dollars per attempt"),
                order,
            )
        ],
        "alpha_pareto": lambda table: [pareto_curve_chart(table, order)],
        "errors": lambda table: [_errors(table)],
        "tokens": lambda table: [_tokens(table)],
        "repository_tokens": lambda table: size_curves(table, figured),
        "pass_at_1": benchmark_curves,
    }
    tables = ((make, figured.tables[name]) for name, make in makers.items() if name in figured.tables)
    return [chart for make, table in tables for chart in make(table) if not chart.empty]


def _order(success: Table) -> dict[str, int]:
    """The number of each agent, by which it looks the same in each plot."""
    labels = dict.fromkeys(row_label(success, row, ("run", "agent")) for row in success.rows)
    return {label: number for number, label in enumerate(labels)}


def _shares(table: Table, names: Sequence[str], wanted: Sequence[tuple[str, str, str]], name: str, title: str) -> Chart:
    rows = table.rows[:MOST_CATEGORIES]
    index = column_index(table)
    series = []
    for key, word, kind in wanted:
        points = []
        for number, row in enumerate(rows):
            found = axis_value(row[index[key]])
            if found is not None:
                points.append(Point(found[0], number, cell_text(table, key, row[index[key]]), found[1], found[2]))
        series.append(Series(word, tuple(points), kind))
    return Chart(
        name,
        title,
        table.after,
        ChartForm.DOTS,
        ChartAxis("percent, with 95% interval", percent=True),
        ChartAxis(""),
        tuple(series),
        tuple(row_label(table, row, names) for row in rows),
        left_out_note(len(table.rows) - len(rows), "entries", table),
    )


def _outcomes(table: Table) -> Chart:
    rows = table.rows[:MOST_CATEGORIES]
    index = column_index(table)
    kinds = [column for column in table.columns if column.key not in ("run", "agent", "n")]
    series = []
    for column in kinds:
        points = []
        for number, row in enumerate(rows):
            count, planned = row[index[column.key]], row[index["n"]]
            if isinstance(count, int) and isinstance(planned, int) and count:
                points.append(Point(100 * count / planned, number, f"{count} of {planned} {column.title}"))
        if points:
            series.append(Series(column.title, tuple(points), column.key))
    return Chart(
        "outcomes",
        "Outcomes",
        "",
        ChartForm.STACKED,
        ChartAxis("percent of planned attempts", percent=True),
        ChartAxis(""),
        tuple(series),
        tuple(row_label(table, row, ("run", "agent")) for row in rows),
        left_out_note(len(table.rows) - len(rows), "entries", table),
        tuple(f"n = {row[index['n']]} planned" for row in rows),
    )


def _grouped(
    table: Table, category: str, key: str, name: str, title: str, form: ChartForm, axis: ChartAxis,
    order: Mapping[str, int],
) -> Chart:  # fmt: skip
    """Categories of one column, a series for each agent in `order`, so that an agent looks the same in each plot."""
    index = column_index(table)
    categories = list(dict.fromkeys(str(row[index[category]]) for row in table.rows))
    present = {row_label(table, row, ("run", "agent")) for row in table.rows}
    agents = [name for name in order if name in present]
    kept, shown = categories[:MOST_CATEGORIES], agents[:MOST_SERIES]
    points: dict[str, list[Point]] = {agent: [] for agent in shown}
    for row in table.rows:
        agent, place = row_label(table, row, ("run", "agent")), str(row[index[category]])
        found = axis_value(row[index[key]])
        if agent in points and place in kept and found is not None:
            says = cell_text(table, key, row[index[key]])
            ends = (None, None) if form is ChartForm.STRIP else found[1:]  # on one line they would hide each other
            points[agent].append(Point(found[0], kept.index(place), says, *ends))
    notes = [
        left_out_note(len(categories) - len(kept), _plural(category), table),
        left_out_note(len(agents) - len(shown), "agents", table),
    ]
    return Chart(
        name, title, table.after, form, axis, ChartAxis(""),
        tuple(Series(agent, tuple(points[agent]), order[agent]) for agent in shown),
        tuple(one_line(item, 200) for item in kept),
        " ".join(filter(None, notes)),
    )  # fmt: skip


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def _seconds(rows: Sequence[ResultRow]) -> Chart:
    """Wall time of each attempt by task, coloured by outcome; tasks from the largest median down."""
    by_task: dict[str, list[ResultRow]] = {}
    for row in rows:
        if row.seconds is not None:
            by_task.setdefault(row.task, []).append(row)
    medians = {task: statistics.median(row.seconds or 0.0 for row in group) for task, group in by_task.items()}
    kept = sorted(medians, key=lambda task: (-medians[task], task))[:MOST_CATEGORIES]
    most = max(_FEW, MOST_POINTS // max(1, len(kept)))
    points: dict[Outcome, list[Point]] = {outcome: [] for outcome in OUTCOMES}
    for place, task in enumerate(kept):
        for row in by_task[task][:most]:
            if row.seconds is not None and row.outcome is not None:
                says = f"{one_line(row.agent, 64)} attempt {row.number}: {seconds(row.seconds)}"
                points[row.outcome].append(Point(row.seconds, place, says))
    left_out = len(by_task) - len(kept)
    notes = [f"{left_out} more tasks are left out here; the list of attempts has them."] * (left_out > 0)
    notes += [f"Of each task {most} attempts are drawn."] * any(len(by_task[task]) > most for task in kept)
    return Chart(
        "seconds", "Agent wall time by task, with its median", "", ChartForm.STRIP, ChartAxis("seconds"), ChartAxis(""),
        tuple(Series(OUTCOMES[one].word, tuple(found), one.value) for one, found in points.items() if found),
        tuple(one_line(task, 200) for task in kept), " ".join(notes),
        tuple(f"{seconds(medians[task])}, n = {len(by_task[task])}" for task in kept),
    )  # fmt: skip


def _errors(table: Table) -> Chart:
    if not table.rows:
        return Chart("errors", table.title, table.after, ChartForm.BARS, _PERCENT, ChartAxis(""), ())
    index = column_index(table)
    first = table.rows[0][index["agent"]]
    rows = [row for row in table.rows if row[index["agent"]] == first][:6]
    series = []
    for key, word in (("primary", "primary class"), ("any", "seen at all")):
        points = []
        for number, row in enumerate(rows):
            found = axis_value(row[index[key]])
            if found is not None:
                points.append(Point(found[0], number, cell_text(table, key, row[index[key]]), found[1], found[2]))
        series.append(Series(word, tuple(points)))
    return Chart(
        "errors",
        table.title,
        table.after,
        ChartForm.BARS,
        ChartAxis("percent of diagnosed failures", percent=True),
        ChartAxis(""),
        tuple(series),
        tuple(f"{row[index['class']]} {row[index['meaning']]}" for row in rows),
    )


def _tokens(table: Table) -> Chart:
    index = column_index(table)
    rows = [row for row in table.rows if row[index["tokens"]] is not None]
    kept = rows[:MOST_CATEGORIES]
    points = [
        Point(found[0], number, cell_text(table, "tokens", row[index["tokens"]]))
        for number, row in enumerate(kept)
        if (found := axis_value(row[index["tokens"]])) is not None
    ]
    return Chart(
        "tokens", table.title, table.after, ChartForm.BARS, ChartAxis("tokens, median over tasks"), ChartAxis(""),
        (Series("tokens per task", tuple(points)),), tuple(row_label(table, row, ("run", "agent")) for row in kept),
        left_out_note(len(rows) - len(kept), "entries", table),
    )  # fmt: skip
