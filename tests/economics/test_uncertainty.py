"""Ranges of alpha from values, ratings and the sample of tasks."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from repoassay.economics import (
    LEVELS,
    AlphaRow,
    alpha,
    bootstrap,
    by_result,
    from_ratings,
    quality_readings,
    range_of_alpha,
    value_range,
)
from repoassay.types.task import Economics

D = Decimal


def _row(task: str, ratings: dict[str, str] | None = None, done: bool = True, cost: str = "1") -> AlphaRow:
    quality = by_result(done) if ratings is None else from_ratings({who: D(level) for who, level in ratings.items()})
    return AlphaRow(
        task=task,
        executed=done,
        passed=done,
        value=Economics(value=D(10), low=D(5), high=D(20), source="test"),
        quality=quality,
        cost=D(cost),
    )


def test_value_range_by_hand() -> None:
    fixed = replace(_row("f"), value=Economics(value=D(8), low=D(8), high=D(8), source="test"))
    found = value_range([_row("a"), fixed])
    assert (found.low.mean, found.value.mean, found.high.mean, found.fixed) == (D("5.5"), D(8), D(13), 1)


def test_readings_of_a_disagreement() -> None:
    rows = [_row("a", {"ann": "0", "bo": "0", "cy": "0.25"}), _row("b", {"ann": "1", "bo": "0.5"})]
    readings = quality_readings(rows)
    means = {name: found.mean for name, found in readings.items()}
    assert list(means) == ["as ruled", "median", "mean", "rater: ann", "rater: bo", "rater: cy"]
    assert means["as ruled"] == means["median"] == D("1.5")
    assert means["rater: ann"] == 4
    assert means["rater: bo"] == D("1.5")
    assert means["rater: cy"] == D("1.5")
    assert [out.task for out in readings["rater: cy"].left_out] == ["b"]
    assert means["mean"] is not None
    assert round(means["mean"], 6) == D("3.166667")


def test_by_result_there_is_one_reading() -> None:
    assert list(quality_readings([_row("a"), _row("b", done=False)])) == ["as ruled"]


@given(st.lists(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=5), min_size=1, max_size=5))
def test_the_range_holds_every_reading_at_every_end(profiles: list[list[Decimal]]) -> None:
    rows = [replace(_row(str(n)), quality=from_ratings(profile)) for n, profile in enumerate(profiles)]
    found = range_of_alpha(rows)
    assert found is not None
    low, high = found
    ends = value_range(rows)
    readings = quality_readings(rows)
    for one in (ends.low, ends.value, ends.high, readings["as ruled"], readings["median"], readings["mean"]):
        assert one.mean is not None
        assert low <= one.mean <= high


def test_no_figures_no_range() -> None:
    assert range_of_alpha([replace(_row("a"), cost=None)]) is None


def test_the_bootstrap_is_reproducible_and_holds_the_mean() -> None:
    rows = [_row(f"t{n}", done=n % 3 > 0, cost=str(n)) for n in range(12)]
    first, again, other = bootstrap(rows, seed=1), bootstrap(rows[::-1], seed=1), bootstrap(rows, seed=2)
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)
    mean = alpha(rows).mean
    assert mean is not None
    assert first.low is not None
    assert first.high is not None
    assert first.low < mean < first.high
    assert first.method == "percentile bootstrap over tasks, 2000 resamples, seed 1, 95%"
    wide = bootstrap(rows, seed=1, confidence=0.99)
    assert wide.low is not None
    assert wide.low <= first.low


def test_the_bootstrap_leaves_out_what_alpha_leaves_out() -> None:
    rows = [_row("a"), _row("b", done=False)]
    assert bootstrap([*rows, replace(_row("c"), cost=None)]) == bootstrap(rows)


def test_the_bootstrap_draws_tasks_not_attempts() -> None:
    # Two tasks with 50 equal attempts each: resampling attempts would give a narrow interval, tasks give the ends.
    rows = [_row("a")] * 50 + [_row("b", done=False)] * 50
    found = bootstrap(rows)
    assert (found.low, found.high, found.n) == (D(-1), D(9), 2)


def test_the_bootstrap_is_close_to_one_by_hand() -> None:
    rows = [_row(f"t{n}", done=n < 6) for n in range(20)]
    found = bootstrap(rows, resamples=4000)
    # Alpha is 10 k/20 - 1 with k from Binomial(20, 0.3), whose 2.5 and 97.5 percent points are 2 and 10.
    assert (found.low, found.high) == (D(0), D(4))


@pytest.mark.parametrize(
    "rows", [[], [_row("a")], [_row("a"), _row("b")], [_row("a", done=False), _row("b", done=False)]]
)
def test_the_bootstrap_is_refused_where_it_would_lie(rows: list[AlphaRow]) -> None:
    found = bootstrap(rows)
    assert (found.low, found.high) == (None, None)
    assert found.method.startswith("undefined: ")


@pytest.mark.parametrize("bad", [{"resamples": 99}, {"confidence": 0.0}, {"confidence": 1.0}])
def test_bad_settings_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"too few|strictly between"):
        bootstrap([_row("a")], **bad)  # type: ignore[arg-type]  # the settings have different types
