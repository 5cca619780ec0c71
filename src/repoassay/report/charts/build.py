"""Every plot of a set of runs, out of its tables."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from repoassay.report.cells import shown_cell
from repoassay.report.charts.value import Chart, ChartAxis, ChartForm, Point, Series
from repoassay.report.figures import seconds
from repoassay.report.outcome_tables import ReportTables
from repoassay.report.outcomes import OUTCOMES
from repoassay.report.results import ResultRow
from repoassay.report.tables.value import Cell, Estimate, Table, TableColumn
from repoassay.stats import Proportion
from repoassay.text import one_line
from repoassay.types import Outcome

__all__ = ["MOST_CATEGORIES", "MOST_SERIES", "charts"]

MOST_CATEGORIES = 40
MOST_SERIES = 16
_MOST_POINTS = 400
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
            _grouped(table, "domain", "tpr_all", "domains", "Pass rate by domain",
                     ChartForm.DOTS if len(order) <= _SEVERAL else ChartForm.STRIP, _PERCENT, order),
            _seconds(figured.rows),
        ],
        "sweeps": _sweeps,
        "alpha_by_repository": lambda table: [
            _grouped(table, "repository", "alpha", "alpha", "Alpha by repository",
                     ChartForm.BARS if len(order) <= _FEW else ChartForm.STRIP, ChartAxis("US dollars per attempt"), order)
        ],
        "alpha_pareto": lambda table: [_pareto(table, order)],
        "errors": lambda table: [_errors(table)],
        "tokens": lambda table: [_tokens(table)],
        "repository_tokens": lambda table: _sizes(table, figured),
        "pass_at_1": _benchmarks,
    }  # fmt: skip
    tables = ((make, figured.tables[name]) for name, make in makers.items() if name in figured.tables)
    return [chart for make, table in tables for chart in make(table) if not chart.empty]


def _order(success: Table) -> dict[str, int]:
    """The number of each agent, by which it looks the same in each plot."""
    labels = dict.fromkeys(_label(success, row, ("run", "agent")) for row in success.rows)
    return {label: number for number, label in enumerate(labels)}


def _value(cell: Cell) -> tuple[float, float | None, float | None] | None:
    """What a cell puts on an axis: shares in percent, with the ends of their interval."""
    if isinstance(cell, Proportion):
        ends = cell.interval
        return None if cell.value is None else (100 * cell.value, *_percent(ends.low, ends.high))
    if isinstance(cell, Estimate):
        return None if cell.value is None else (100 * cell.value, *_percent(cell.low, cell.high))
    return (float(cell), None, None) if isinstance(cell, int | float | Decimal) else None


def _percent(low: float | None, high: float | None) -> tuple[float | None, float | None]:
    return (None, None) if low is None or high is None else (100 * low, 100 * high)


def _index(table: Table, *keys: str) -> dict[str, int]:
    return {column.key: number for number, column in enumerate(table.columns) if not keys or column.key in keys}


def _label(table: Table, row: Sequence[Cell], keys: Sequence[str]) -> str:
    index = _index(table)
    parts = [str(row[index[key]]) for key in keys if key in index and row[index[key]]]
    return one_line(", ".join(parts), 200)


def _column(table: Table, key: str) -> TableColumn:
    return next(column for column in table.columns if column.key == key)


def _says(table: Table, key: str, cell: Cell) -> str:
    return shown_cell(cell, _column(table, key))


def _note(left_out: int, what: str, table: Table) -> str:
    return f"{left_out} more {what} are left out here; the table “{table.title}” has them." if left_out > 0 else ""


def _shares(table: Table, names: Sequence[str], wanted: Sequence[tuple[str, str, str]], name: str, title: str) -> Chart:
    rows = table.rows[:MOST_CATEGORIES]
    index = _index(table)
    series = []
    for key, word, kind in wanted:
        points = []
        for number, row in enumerate(rows):
            found = _value(row[index[key]])
            if found is not None:
                points.append(Point(found[0], number, _says(table, key, row[index[key]]), found[1], found[2]))
        series.append(Series(word, tuple(points), kind))
    return Chart(
        name, title, table.after, ChartForm.DOTS, ChartAxis("percent, with 95% interval", percent=True), ChartAxis(""), tuple(series),
        tuple(_label(table, row, names) for row in rows), _note(len(table.rows) - len(rows), "entries", table),
    )  # fmt: skip


def _outcomes(table: Table) -> Chart:
    rows = table.rows[:MOST_CATEGORIES]
    index = _index(table)
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
        "outcomes", "Outcomes", "", ChartForm.STACKED, ChartAxis("percent of planned attempts", percent=True), ChartAxis(""),
        tuple(series), tuple(_label(table, row, ("run", "agent")) for row in rows),
        _note(len(table.rows) - len(rows), "entries", table),
        tuple(f"n = {row[index['n']]} planned" for row in rows),
    )  # fmt: skip


def _grouped(
    table: Table, category: str, key: str, name: str, title: str, form: ChartForm, axis: ChartAxis,
    order: Mapping[str, int],
) -> Chart:  # fmt: skip
    """Categories of one column, a series for each agent in `order`, so that an agent looks the same in each plot."""
    index = _index(table)
    categories = list(dict.fromkeys(str(row[index[category]]) for row in table.rows))
    present = {_label(table, row, ("run", "agent")) for row in table.rows}
    agents = [name for name in order if name in present]
    kept, shown = categories[:MOST_CATEGORIES], agents[:MOST_SERIES]
    points: dict[str, list[Point]] = {agent: [] for agent in shown}
    for row in table.rows:
        agent, place = _label(table, row, ("run", "agent")), str(row[index[category]])
        found = _value(row[index[key]])
        if agent in points and place in kept and found is not None:
            says = _says(table, key, row[index[key]])
            ends = (None, None) if form is ChartForm.STRIP else found[1:]  # on one line they would hide each other
            points[agent].append(Point(found[0], kept.index(place), says, *ends))
    notes = [
        _note(len(categories) - len(kept), _plural(category), table),
        _note(len(agents) - len(shown), "agents", table),
    ]
    return Chart(
        name, title, table.after, form, axis, ChartAxis(""),
        tuple(Series(agent, tuple(points[agent]), order[agent]) for agent in shown),
        tuple(one_line(item, 200) for item in kept),
        " ".join(filter(None, notes)),
    )  # fmt: skip


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def _sweeps(table: Table) -> Iterator[Chart]:
    """One chart for each limit that was swept and each rate."""
    index = _index(table)
    for limit in dict.fromkeys(str(row[index["limit"]]) for row in table.rows):
        for key, word in (("ecr", "ECR"), ("tpr", "TPR")):
            lines: dict[str, list[Point]] = {}
            for row in table.rows:
                found, where = _value(row[index[key]]), _number(row[index["value"]])
                if str(row[index["limit"]]) == limit and found is not None and where is not None:
                    label = _label(table, row, ("framework", "model", "others"))
                    says = f"{limit}={row[index['value']]}: {_says(table, key, row[index[key]])}"
                    lines.setdefault(label, []).append(Point(where, found[0], says, found[1], found[2]))
            yield Chart(
                f"sweep_{limit}_{key}", f"{word} by {limit.replace('_', ' ')}", table.after, ChartForm.LINES,
                ChartAxis(limit.replace("_", " "), log=_spread(lines)), ChartAxis(f"{word}, percent", percent=True),
                _bounded(lines), note=_note(len(lines) - MOST_SERIES, "lines", table),
            )  # fmt: skip


def _number(cell: Cell) -> float | None:
    try:
        return float(str(cell))
    except ValueError:
        return None


def _spread(lines: dict[str, list[Point]]) -> bool:
    places = [point.x for points in lines.values() for point in points]
    return bool(places) and min(places) > 0 and max(places) / min(places) >= 20


def _bounded(lines: dict[str, list[Point]], order: Mapping[str, int] | None = None) -> tuple[Series, ...]:
    kept = list(lines.items())[:MOST_SERIES]
    return tuple(Series(name, tuple(points[:_MOST_POINTS]), (order or {}).get(name)) for name, points in kept)


def _seconds(rows: Sequence[ResultRow]) -> Chart:
    """Wall time of each attempt by task, coloured by outcome; tasks from the largest median down."""
    by_task: dict[str, list[ResultRow]] = {}
    for row in rows:
        if row.seconds is not None:
            by_task.setdefault(row.task, []).append(row)
    medians = {task: statistics.median(row.seconds or 0.0 for row in group) for task, group in by_task.items()}
    kept = sorted(medians, key=lambda task: (-medians[task], task))[:MOST_CATEGORIES]
    most = max(_FEW, _MOST_POINTS // max(1, len(kept)))
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


def _pareto(table: Table, order: Mapping[str, int]) -> Chart:
    index = _index(table)
    lines: dict[str, list[Point]] = {}
    for row in table.rows:
        cumulative, rank = _value(row[index["cumulative"]]), _value(row[index["rank"]])
        if cumulative is not None and rank is not None:
            name = one_line(str(row[index["repository"]]), 60)
            says = f"{name}: {_says(table, 'cumulative', row[index['cumulative']])}"
            lines.setdefault(_label(table, row, ("run", "agent")), []).append(Point(rank[0], cumulative[0], says))
    return Chart(
        "alpha_pareto", table.title, table.after, ChartForm.LINES, ChartAxis("repositories, largest alpha first"),
        ChartAxis("cumulative alpha, US dollars"), _bounded(lines, order),
        note=_note(len(lines) - MOST_SERIES, "agents", table),
    )  # fmt: skip


def _errors(table: Table) -> Chart:
    if not table.rows:
        return Chart("errors", table.title, table.after, ChartForm.BARS, _PERCENT, ChartAxis(""), ())
    index = _index(table)
    first = table.rows[0][index["agent"]]
    rows = [row for row in table.rows if row[index["agent"]] == first][:6]
    series = []
    for key, word in (("primary", "primary class"), ("any", "seen at all")):
        points = []
        for number, row in enumerate(rows):
            found = _value(row[index[key]])
            if found is not None:
                points.append(Point(found[0], number, _says(table, key, row[index[key]]), found[1], found[2]))
        series.append(Series(word, tuple(points)))
    return Chart(
        "errors", table.title, table.after, ChartForm.BARS, ChartAxis("percent of diagnosed failures", percent=True), ChartAxis(""),
        tuple(series), tuple(f"{row[index['class']]} {row[index['meaning']]}" for row in rows),
    )  # fmt: skip


def _tokens(table: Table) -> Chart:
    index = _index(table)
    rows = [row for row in table.rows if row[index["tokens"]] is not None]
    kept = rows[:MOST_CATEGORIES]
    points = [
        Point(found[0], number, _says(table, "tokens", row[index["tokens"]]))
        for number, row in enumerate(kept)
        if (found := _value(row[index["tokens"]])) is not None
    ]
    return Chart(
        "tokens", table.title, table.after, ChartForm.BARS, ChartAxis("tokens, median over tasks"), ChartAxis(""),
        (Series("tokens per task", tuple(points)),), tuple(_label(table, row, ("run", "agent")) for row in kept),
        _note(len(rows) - len(kept), "entries", table),
    )  # fmt: skip


def _sizes(table: Table, figured: ReportTables) -> Iterator[Chart]:
    index = _index(table)
    for measure in figured.sizes:
        lines: dict[str, list[Point]] = {}
        for row in table.rows:
            size, spent = _value(row[index[f"size_{measure}"]]), _value(row[index["mean_tokens"]])
            if size is not None and spent is not None:
                name = one_line(str(row[index["repository"]]), 60)
                says = f"{name}: {size[0]:,.0f} {measure.replace('_', ' ')}, {spent[0]:,.0f} tokens"
                lines.setdefault(str(row[index["agent"]]), []).append(Point(size[0], spent[0], says, label=name))
        yield Chart(
            f"tokens_by_{_file(measure)}", f"Tokens by {measure.replace('_', ' ')} of the repository", table.after,
            ChartForm.SCATTER, ChartAxis(measure.replace("_", " "), log=_spread(lines)), ChartAxis("mean tokens of an attempt"),
            _bounded(lines), note=_note(len(lines) - MOST_SERIES, "agents", table),
        )  # fmt: skip


def _file(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)[:40]


def _benchmarks(table: Table) -> Iterator[Chart]:
    """pass@1 against each benchmark whose scores were given."""
    index = _index(table)
    for number, column in enumerate((one for one in table.columns if one.key.startswith("score_")), start=1):
        lines: dict[str, list[Point]] = {}
        for row in table.rows:
            score, rate = _value(row[index[column.key]]), _value(row[index["pass_at_1"]])
            if score is not None and rate is not None:
                name = _label(table, row, ("model",))
                says = f"{name}: {score[0]:g}, pass@1 {_says(table, 'pass_at_1', row[index['pass_at_1']])}"
                line = lines.setdefault(_label(table, row, ("framework",)), [])
                line.append(Point(score[0], rate[0], says, rate[1], rate[2], name))
        yield Chart(
            f"benchmark_{number}", f"pass@1 against {one_line(column.title, 60)}", "RES-Q Figure 4", ChartForm.SCATTER,
            ChartAxis(one_line(column.title, 60)), ChartAxis("pass@1, percent", percent=True), _bounded(lines),
            note=_note(len(lines) - MOST_SERIES, "frameworks", table),
        )  # fmt: skip
