"""Plots: values inside the drawing, the same bytes each time, names inert."""

from __future__ import annotations

import pytest

from repoassay.report.charts.build import charts
from repoassay.report.charts.drawing import draw
from repoassay.report.charts.palette import Look, look, style
from repoassay.report.charts.picture import picture
from repoassay.report.charts.points import MOST_SERIES
from repoassay.report.charts.value import Chart, ChartAxis, ChartForm, Point, Series
from repoassay.report.outcomes import OUTCOMES, UNFINISHED
from repoassay.report.report_tables import TableSelection, figure_out
from repoassay.types import Outcome
from report.made_rows import entry, row, task

HOSTILE = "$x^{$ </svg><script>alert(1)</script>\u202e ]]> \x00" + "long " * 60


def some(name: str = "hare", models: int = 3, published: tuple[str, ...] | None = None) -> list[Chart]:
    rows = [
        row(
            outcome,
            by=entry(name, f"p/m{model}", max_iterations=limit),
            of=task(f"t{n}", f"{name} r{n}", f"{name} d{n}"),
        )
        for model in range(models)
        for limit in ("10", "1000")
        for n, outcome in enumerate((Outcome.PASSED, Outcome.FAILED, Outcome.NO_OUTPUT, None))
    ]
    sizes = {"lines": {f"{name} r{n}": 10.0 ** (n + 1) for n in range(4)}}
    scores = {f"{name} HE": {f"m{model}": float(model) for model in range(models)}}
    return charts(figure_out(rows, TableSelection(sizes=sizes, scores=scores, diagnosed=0, published=published)))


def test_all_plots_are_there() -> None:
    assert [chart.name for chart in some()] == [
        "rates", "outcomes", "success", "domains", "seconds", "sweep_max_iterations_ecr", "sweep_max_iterations_tpr",
        "alpha",
        "alpha_pareto", "tokens", "tokens_by_lines", "benchmark_1",
    ]  # fmt: skip
    assert charts(figure_out([], TableSelection())) == []
    beside = [chart.name for chart in some(published=("gittaskbench",))]
    assert {"tokens_by_lines", "tokens_by_lines_executed", "tokens_by_lines_passed"} <= set(beside)


@pytest.mark.parametrize("name", ["hare", HOSTILE])
@pytest.mark.parametrize("models", [1, 12])
def test_everything_lies_inside(name: str, models: int) -> None:
    for chart in some(name, models):
        drawing = draw(chart)
        assert drawing.marks
        for mark in drawing.marks:
            assert -0.01 <= mark.x <= 100.01 and 0 <= mark.y <= drawing.height
            assert mark.width is None or (mark.width > 0 and mark.x + mark.width <= 100.2)
            assert "\x00" not in mark.says and "\u202e" not in mark.says
        for rule in drawing.rules:
            assert min(rule.x1, rule.x2) >= -0.01 and max(rule.x1, rule.x2) <= 100.01


def test_stacked_bars_fill_the_whole() -> None:
    stacked = next(chart for chart in some() if chart.form is ChartForm.STACKED)
    drawing = draw(stacked)
    for place in {mark.y for mark in drawing.marks}:
        bars = [mark for mark in drawing.marks if mark.y == place]
        assert sum(mark.width or 0 for mark in bars) == pytest.approx(96, abs=0.1)


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [-3.0, 4.0], [1e-9, 2e-9], [1e12, 3e12], [0.0, 1e6]])
@pytest.mark.parametrize("form", [ChartForm.LINES, ChartForm.SCATTER, ChartForm.BARS])
def test_odd_ranges_draw(values: list[float], form: ChartForm) -> None:
    points = tuple(
        Point(value, number, "v") if form.by_category else Point(number, value, "v")
        for number, value in enumerate(values)
    )
    chart = Chart("c", "C", "", form, ChartAxis("x", log=True), ChartAxis("y"), (Series("s", points),), ("a", "b"))
    assert all(-0.01 <= mark.x <= 100.01 for mark in draw(chart).marks)


def test_no_two_series_look_alike() -> None:
    one = Series("s", ())
    assert len({look(one, number) for number in range(MOST_SERIES)}) == MOST_SERIES
    kinds = [kind.name for kind in (*OUTCOMES.values(), UNFINISHED)]
    assert len({look(Series("s", (), kind), 0).colour for kind in (*kinds, "ecr", "tpr")}) == len(kinds) + 2


def test_every_look_is_in_the_style_sheet_in_both_schemes() -> None:
    rules = style()
    for kind in (*range(8), *(outcome.value for outcome in Outcome), "ecr", "tpr", "unfinished"):
        seen = look(Series("s", (), kind), 0)
        assert f"--{seen.name}: {seen.colour};" in rules
        assert f".f-{seen.name} {{ fill: var(--{seen.name}); }}" in rules


def test_an_agent_looks_the_same_in_every_plot() -> None:
    rows = [
        row(outcome, by=entry(f"agent {number}", ""), of=task(f"t{n}", f"r{n}", f"d{n}", value), seconds=float(n))
        for number in range(3)
        for n, (outcome, value) in enumerate(((Outcome.PASSED, "10" if number else None), (Outcome.BUDGET, None)))
    ]
    looks: dict[str, set[Look]] = {}
    for chart in charts(figure_out(rows, TableSelection(diagnosed=0))):
        for number, series in enumerate(chart.series):
            if series.name.startswith("agent "):
                looks.setdefault(series.name, set()).add(look(series, number))
    assert [len(found) for found in looks.values()] == [1, 1, 1]
    assert len(set.union(*looks.values())) == 3


def test_an_outcome_looks_the_same_in_every_plot() -> None:
    rows = [row(outcome, of=task(outcome.value)) for outcome in (Outcome.PASSED, Outcome.BUDGET, Outcome.INFRA_FAULT)]
    found = {chart.name: chart for chart in charts(figure_out(rows, TableSelection(diagnosed=0)))}
    for name in ("outcomes", "seconds"):
        assert [series.kind for series in found[name].series] == ["passed", "budget", "infra_fault"]
    assert [series.kind for series in found["rates"].series] == ["ecr", "tpr"]


def test_wall_times_are_sorted_by_their_median_and_bounded() -> None:
    rows = [row(Outcome.FAILED, of=task(f"t{n:02d}"), seconds=float(n)) for n in range(60)]
    rows += [row(Outcome.PASSED, of=task("t59"), number=number, seconds=59.0) for number in range(2, 50)]
    chart = next(chart for chart in charts(figure_out(rows, TableSelection(diagnosed=0))) if chart.name == "seconds")
    assert len(chart.categories) == 40 and chart.categories[:2] == ("t59", "t58")
    assert chart.figures[:2] == ("59.0 s, n = 49", "58.0 s, n = 1")
    assert chart.note.startswith("20 more tasks are left out here") and "10 attempts are drawn" in chart.note
    words = [word.text for word in draw(chart).words if word.kind == "value"]
    assert words == list(chart.figures)


@pytest.mark.long
def test_pictures_are_the_same_each_time_and_their_names_inert() -> None:
    pytest.importorskip("matplotlib")
    for chart in [one for one in some(HOSTILE) if one.name in ("rates", "outcomes", "tokens_by_lines")]:
        first = picture(chart, "svg")
        assert b"<script" not in first and b"date" not in first.lower().split(b"<defs>")[0]
        png = picture(chart, "png", 40)
        assert png.startswith(b"\x89PNG")
    assert picture(chart, "svg") == first and picture(chart, "png", 40) == png
