"""METR's study, imported as ratings, gives every figure it published, and the statistics they imply.

Source: metr.org, "Research update: towards reconciling slowdown with time horizons", 2025-08-12.
"""

from __future__ import annotations

from math import prod

import pytest

from repoassay.review.adjudication import Provenance
from repoassay.review.exchange import ratings_from_csv, ratings_to_csv
from repoassay.review.failures import AxisFailures, failure_table, problems_per_submission
from repoassay.review.item_summary import ItemSummary, summarize_items
from repoassay.review.mergeability_gap import gap
from repoassay.review.minutes import minutes_to_fix
from repoassay.review.reliability import agreement, beside_tests
from repoassay.review.simple_table import Imported, metr_example
from repoassay.stats.intervals import Interval, clopper_pearson
from repoassay.stats.rates import Proportion
from repoassay.stats.tables import fisher

PRINTED_MINUTES = (15, 30, 25, 35, 20, 75, 70, 60, 50, 45, 45, 40, 40, 40, 40)


def _ends(interval: Interval) -> list[float]:
    assert interval.low is not None and interval.high is not None
    return [interval.low, interval.high]


@pytest.fixture(scope="module")
def study() -> Imported:
    return metr_example()


@pytest.fixture(scope="module")
def rows(study: Imported) -> tuple[ItemSummary, ...]:
    # Through a file and back, as a user would have them.
    given = ratings_from_csv(ratings_to_csv(study.ratings))
    return summarize_items(study.items, given, study.rubric)


@pytest.fixture(scope="module")
def table(study: Imported, rows: tuple[ItemSummary, ...]) -> dict[str, AxisFailures]:
    return {line.axis: line for line in failure_table(rows, study.rubric)}


def test_what_is_real_says_so_and_what_is_not(study: Imported) -> None:
    origins = {item.id: item.hidden.origin for item in study.items}
    assert [name for name, origin in origins.items() if origin == "real"] == ["stdlib-35", "stdlib-17", "hypothesis-1"]
    assert sum(origin == "synthetic" for origin in origins.values()) == 12
    assert not any("synthetic" in item.id or "real" in item.id for item in study.items)


def test_success_by_tests_and_by_people(rows: tuple[ItemSummary, ...]) -> None:
    found = gap(rows)
    assert (found.n, found.left_out) == (15, 0)
    assert found.tests == Proportion(4, 15) and found.people == Proportion(0, 15)
    assert f"{100 * (found.tests.value or 0):.0f} %" == "27 %"
    assert (found.tests_only, found.people_only, found.both, found.neither) == (4, 0, 0, 11)
    assert found.difference == pytest.approx(4 / 15)


def test_intervals_and_tests_of_the_gap(rows: tuple[ItemSummary, ...]) -> None:
    found = gap(rows)
    assert found.test.p_value == pytest.approx(0.125) and found.enough == 6
    assert _ends(found.interval) == pytest.approx([0.00841, 0.51950], abs=5e-6)
    assert _ends(found.adjusted) == pytest.approx([0.00302, 0.46757], abs=5e-6)
    assert _ends(found.tests.interval) == pytest.approx([0.10897, 0.51950], abs=5e-6)
    assert _ends(found.people.interval) == pytest.approx([0.0, 0.20388], abs=5e-6)
    assert _ends(clopper_pearson(4, 15)) == pytest.approx([0.07787, 0.55100], abs=5e-6)
    assert fisher((4, 15), (0, 15)).p_value == pytest.approx(0.09962, abs=5e-6)


@pytest.mark.parametrize(
    ("axis", "failing", "printed", "passing", "printed_passing", "pooled", "p_value"),
    [
        ("core", (11, 11), 100, (1, 4), 25, (12, 15), 0.00879),
        ("testing", (10, 11), 91, (4, 4), 100, (14, 15), 1.0),
        ("documentation", (8, 9), 89, (3, 4), 75, (11, 13), 1.0),
        ("lint", (8, 11), 73, (3, 4), 75, (11, 15), 1.0),
        ("quality", (7, 11), 64, (2, 4), 50, (9, 15), 1.0),
    ],
)
def test_failures_by_axis(
    table: dict[str, AxisFailures],
    axis: str,
    failing: tuple[int, int],
    printed: int,
    passing: tuple[int, int],
    printed_passing: int,
    pooled: tuple[int, int],
    p_value: float,
) -> None:
    line = table[axis]
    assert (line.failing, line.passing, line.pooled) == (
        Proportion(*failing),
        Proportion(*passing),
        Proportion(*pooled),
    )
    assert (round(100 * (line.failing.value or 0)), round(100 * (line.passing.value or 0))) == (
        printed,
        printed_passing,
    )
    assert line.test.p_value == pytest.approx(p_value, abs=5e-6)
    assert line.not_applicable == (2 if axis == "documentation" else 0) and line.open == 0


def test_problems_per_change(study: Imported, rows: tuple[ItemSummary, ...], table: dict[str, AxisFailures]) -> None:
    found = problems_per_submission(rows, study.rubric)
    assert [found.at_least(number).successes for number in (3, 4, 5)] == [15, 9, 3]
    assert found.total == 57 == sum(line.pooled.successes for line in table.values())
    assert found.counts == {3: 6, 4: 6, 5: 3}


def test_minutes(rows: tuple[ItemSummary, ...]) -> None:
    found = minutes_to_fix(rows)
    overall, passing = found["all"], found["passing"]
    assert (overall.n, overall.mean, overall.median, overall.minimum) == (15, 42.0, 40.0, 15.0)
    assert (passing.n, passing.mean, passing.median, passing.minimum) == (4, 26.25, 27.5, 15.0)
    assert (round(overall.mean or 0), round(passing.mean or 0)) == (42, 26)
    assert found["failing"].mean == pytest.approx(525 / 11)
    assert overall.geometric_mean.value == pytest.approx(prod(PRINTED_MINUTES) ** (1 / 15))
    assert overall.interval.defined and not overall.share.defined


def test_tests_beside_people(study: Imported, rows: tuple[ItemSummary, ...]) -> None:
    core = beside_tests(rows, study.rubric, "core")
    assert (core.true_pass, core.false_pass, core.false_fail, core.true_fail) == (3, 1, 0, 11)
    assert core.kappa.value == pytest.approx(0.8148, abs=5e-5)
    assert core.ac1.value == pytest.approx(0.89619, abs=5e-6)
    assert core.alpha.value == pytest.approx(0.81988, abs=5e-6)
    merged = beside_tests(rows, study.rubric)
    assert (merged.true_pass, merged.false_pass, merged.true_fail) == (0, 4, 11)
    assert merged.kappa.value == pytest.approx(0.0)
    assert merged.ac1.value == pytest.approx(0.65318, abs=5e-6)
    assert merged.alpha.value == pytest.approx(-0.11538, abs=5e-6)


def test_one_rater_has_nobody_to_agree_with(study: Imported, rows: tuple[ItemSummary, ...]) -> None:
    for line in agreement(study.ratings, study.rubric):
        assert not line.alpha.defined and "two ratings" in line.alpha.undefined
    assert {label.provenance for row in rows for label in row.labels.values()} == {Provenance.SINGLE}


def test_a_change_with_four_of_four_problems_and_one_without_any(
    study: Imported, rows: tuple[ItemSummary, ...]
) -> None:
    four = next(row for row in rows if row.item == "F8")
    assert study.rubric.problems(dict(four.states)) == 4 and four.mergeable is False
    clean = dict.fromkeys(four.states, "no_problem")
    assert study.rubric.mergeable(clean | {"documentation": "not_applicable"}) is True
