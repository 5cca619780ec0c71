"""Thresholds measured from outputs, and drafts that are refused because the margin is thin."""

from __future__ import annotations

import pytest

from repoassay.curate.thresholds import MeasuredCriterion, measure_thresholds, relative_margin


def measured(side: str, good: list[float | None], bad: list[float | None]) -> MeasuredCriterion:
    goods = {f"good-{number}": value for number, value in enumerate(good)}
    return MeasuredCriterion("m", side, goods, {f"bad-{number}": value for number, value in enumerate(bad)})


def test_a_threshold_lies_between_the_worst_good_and_the_best_bad() -> None:
    found, problems = measure_thresholds([measured("at_least", [1.0, 0.9], [0.5, 0.2])])
    assert problems == []
    assert found[0] is not None
    assert (found[0].side, found[0].value) == ("at_least", 0.8)
    assert found[0].margin == pytest.approx(0.4 / 0.9)


def test_counts_of_what_is_wrong() -> None:
    found, problems = measure_thresholds([measured("at_most", [0, 0], [4, 30])])
    assert not problems
    assert found[0] is not None
    assert found[0].value == 0.5  # one wrong value is wrong, though nobody made such an output


def test_a_thin_margin_is_refused_by_name() -> None:
    found, problems = measure_thresholds([measured("at_least", [1.0], [0.85, 0.1])])
    assert found[0] is not None
    assert found[0].refuses == ("bad-1",)
    assert problems == [
        "bad-0 is to be refused, and by its best criterion (m) it misses the worst output to accept by 15%,"
        " less than 20%"
    ]


def test_another_criterion_may_refuse_it() -> None:
    one, other = measured("at_least", [1.0], [0.99, 0.1]), measured("equals", [1.0], [0.0, 1.0])
    found, problems = measure_thresholds([one, other])
    assert not problems
    assert [each.refuses for each in found if each] == [("bad-1",), ("bad-0",)]


def test_what_has_no_value_is_refused_and_never_accepted() -> None:
    found, problems = measure_thresholds([measured("at_least", [1.0], [None])])
    assert found[0] is not None
    assert not problems
    _, problems = measure_thresholds([measured("at_least", [1.0, None], [0.1])])
    assert problems == ["good-1 is to be accepted, and m has no value of it"]


def test_a_criterion_that_refuses_nothing_has_no_threshold() -> None:
    found, _ = measure_thresholds([measured("at_least", [0.5], [0.9]), measured("at_least", [0.5], [0.1])])
    assert found[0] is None


@pytest.mark.parametrize(("value", "reference", "side", "margin"), [(0, 0, "at_least", 0), (5, 4, "at_most", 0.2)])
def test_the_margin_is_a_share_of_the_larger(value: float, reference: float, side: str, margin: float) -> None:
    assert relative_margin(value, reference, side) == margin
