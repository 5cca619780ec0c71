"""Where things lie in the plots, and what they say to those who cannot see them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from repoassay.model import Attempt, Outcome
from repoassay.report import summarise
from repoassay.report.plots import Plot, plots
from repoassay.store import RunFolder

MakeRun = Callable[..., RunFolder]
Put = Callable[..., Attempt]


def named(run: RunFolder) -> dict[str, Plot]:
    return {plot.name: plot for plot in plots(summarise(run))}


def test_rates_lie_where_the_figures_say(varied: RunFolder) -> None:
    lines = {line.label: line for line in named(varied)["rates"].lines}
    (dot,) = lines["alpha ECR, judged"].dots
    assert dot.low is not None and dot.high is not None
    assert (dot.x, dot.low, dot.high) == pytest.approx((57.14, 25.05, 84.18), abs=0.01)
    assert dot.filled is False and lines["alpha ECR, all"].dots[0].filled


def test_segments_fill_the_bar_and_say_their_counts(varied: RunFolder) -> None:
    plot = named(varied)["outcomes"]
    for line in plot.lines:
        assert sum(bar.width for bar in line.bars) == pytest.approx(100)
        for before, after in zip(line.bars, line.bars[1:], strict=False):
            assert before.x + before.width == pytest.approx(after.x)
    assert "beta: 6 passed" in plot.description and "1 unfinished" in plot.description


def test_everything_stays_inside_its_plot(varied: RunFolder) -> None:
    for plot in named(varied).values():
        for line in plot.lines:
            assert 0 <= line.y < plot.height
            assert all(0 <= bar.x <= 100 and bar.x + bar.width <= 100 + 1e-9 for bar in line.bars)
            assert all(0 <= dot.x <= 100 for dot in line.dots)


def test_nothing_measured_draws_no_dot(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1)
    found = named(run)
    assert "seconds" not in found
    assert found["rates"].lines[1].figure == "0/0 undefined" and found["rates"].lines[1].dots == ()
    put(run, "task-01", seconds=0.0)
    assert named(run)["seconds"].lines[0].dots[0].x == 0


def test_names_of_one_family_can_be_told_apart(make_run: MakeRun) -> None:
    run = make_run(agents=("a-family-of-agents-model-1", "a-family-of-agents-model-2"), domains=("documents " * 9,))
    for plot in named(run).values():
        labels = [line.label for line in plot.lines]
        assert len(labels) == len(set(labels)), labels
        assert max(map(len, labels)) <= 27


def test_too_many_lines_are_bounded_and_said(make_run: MakeRun, put: Put, quick: None) -> None:
    run = make_run(tasks=60)
    for number in range(1, 61):
        put(run, f"task-{number:02d}", Outcome.FAILED, seconds=float(number), log=None)
    plot = named(run)["seconds"]
    assert len(plot.lines) == 40 and plot.lines[0].label == "task-60"
    assert plot.note.startswith("20 more are left out")
