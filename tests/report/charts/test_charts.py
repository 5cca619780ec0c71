"""Plots: values inside the drawing, the same bytes each time, names inert."""

from __future__ import annotations

import pytest

from repoassay.model import Outcome
from repoassay.report.charts.build import MOST_SERIES, charts
from repoassay.report.charts.drawing import draw
from repoassay.report.charts.palette import look
from repoassay.report.charts.picture import picture
from repoassay.report.charts.value import Axis, Chart, Form, Point, Series
from repoassay.report.figuring import Wanted, figure_out
from report.made_rows import entry, row, task

HOSTILE = "$x^{$ </svg><script>alert(1)</script>\u202e ]]> \x00" + "long " * 60


def some(name: str = "hare", models: int = 3) -> list[Chart]:
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
    return charts(figure_out(rows, Wanted(sizes=sizes, scores=scores, diagnosed=0)))


def test_all_plots_are_there() -> None:
    assert [chart.name for chart in some()] == [
        "rates", "outcomes", "success", "domains", "sweep_max_iterations_ecr", "sweep_max_iterations_tpr", "alpha",
        "alpha_pareto", "tokens", "tokens_by_lines", "benchmark_1",
    ]  # fmt: skip
    assert charts(figure_out([], Wanted())) == []


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
    stacked = next(chart for chart in some() if chart.form is Form.STACKED)
    drawing = draw(stacked)
    for place in {mark.y for mark in drawing.marks}:
        bars = [mark for mark in drawing.marks if mark.y == place]
        assert sum(mark.width or 0 for mark in bars) == pytest.approx(96, abs=0.1)


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [-3.0, 4.0], [1e-9, 2e-9], [1e12, 3e12], [0.0, 1e6]])
@pytest.mark.parametrize("form", [Form.LINES, Form.SCATTER, Form.BARS])
def test_odd_ranges_draw(values: list[float], form: Form) -> None:
    points = tuple(
        Point(value, number, "v") if form.by_category else Point(number, value, "v")
        for number, value in enumerate(values)
    )
    chart = Chart("c", "C", "", form, Axis("x", log=True), Axis("y"), (Series("s", points),), ("a", "b"))
    assert all(-0.01 <= mark.x <= 100.01 for mark in draw(chart).marks)


def test_no_two_series_look_alike() -> None:
    assert len({look(number) for number in range(MOST_SERIES)}) == MOST_SERIES


def test_pictures_are_the_same_each_time_and_their_names_inert() -> None:
    pytest.importorskip("matplotlib")
    for chart in [one for one in some(HOSTILE) if one.name in ("rates", "outcomes", "tokens_by_lines")]:
        first = picture(chart, "svg")
        assert b"<script" not in first and b"date" not in first.lower().split(b"<defs>")[0]
        png = picture(chart, "png", 40)
        assert png.startswith(b"\x89PNG")
    assert picture(chart, "svg") == first and picture(chart, "png", 40) == png
