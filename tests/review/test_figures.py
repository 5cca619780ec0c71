"""Figures over more than METR's data: controls, several raters, orders, and where there is nothing to say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from repoassay.review.failures import failure_table, problems_per_submission
from repoassay.review.item_summary import ItemSummary, set_aside, summarize_items
from repoassay.review.mergeability_gap import controls, gap, normalised
from repoassay.review.minutes import minutes_of, minutes_to_fix
from repoassay.review.rater_statistics import anchoring, order_effects, severity
from repoassay.review.reliability import agreement, beside_tests
from repoassay.review.study import Golden, HiddenPart, Item
from repoassay.stats.rates import Proportion
from repoassay.types import RatingPhase
from review.samples import QUALITY, RUBRIC, quality_rating, rating


def _row(tests: bool | None = True, states: str = "ccccc", golden: Golden | None = None, **more: Any) -> ItemSummary:
    item = Item(id="s1", hidden=HiddenPart(task="t", tests=tests, golden=golden))
    made = summarize_items(
        [item], [rating(states, **{key: more.pop(key) for key in ("minutes", "would_merge") if key in more})], RUBRIC
    )
    return replace(made[0], **more)


def test_rows_join_raters() -> None:
    items = [Item(id=name, hidden=HiddenPart(task=name)) for name in ("s1", "s2", "unrated")]
    line = [
        rating("pcccc", rater="a", minutes=10, would_merge=True),
        rating("pcccc", rater="b", minutes=20, would_merge=False),
        rating("ccccc", rater="c", minutes=90, would_merge=True),
        rating("ccccc", "s2", "a", would_merge=True),
        rating("pcccc", "s2", "b", would_merge=False),
    ]
    first, second = summarize_items(items, line, RUBRIC)
    assert (first.mergeable, first.would_merge, first.minutes, first.raters) == (False, True, 20, 3)
    # Raters tie: what they differ on is neither a problem nor none.
    assert (second.mergeable, second.would_merge, "core" in second.states) == (None, None, False)
    found = gap([replace(first, tests=True), replace(second, tests=True)])
    assert (found.n, found.left_out) == (1, 1)


def test_flagged_submissions_are_set_aside_with_the_reason() -> None:
    rows = [_row(), _row(item="s2", flagged="read the answer"), _row(item="s3")]
    kept, out = set_aside(rows, {"s3": "siblings"})
    assert [row.item for row in kept] == ["s1"]
    assert [(row.item, why) for row, why in out] == [("s2", "read the answer"), ("s3", "siblings")]


def test_a_gap_without_anything() -> None:
    found = gap([])
    assert found.difference is None and not found.interval.defined and not found.test.defined
    assert gap([_row(None), _row(True, "ucccc"), _row(golden=Golden.GOOD)]).left_out == 2


def test_asked_and_derived_may_differ() -> None:
    rows = [_row(True, "ccccc", would_merge=False)]
    assert gap(rows).people == Proportion(1, 1) and gap(rows, would_merge=True).people == Proportion(0, 1)


def test_what_does_not_apply_leaves_the_denominator() -> None:
    rows = [_row(False, "ppncc"), _row(False, "pcucc"), _row(None, "ccpcc"), _row(True, "pcpcc", golden=Golden.BAD)]
    core, _, documentation, *_ = failure_table(rows, RUBRIC)
    assert (core.failing, core.passing, core.pooled) == (Proportion(2, 2), Proportion(0, 0), Proportion(2, 3))
    assert (documentation.pooled, documentation.not_applicable, documentation.open) == (Proportion(1, 1), 1, 1)
    assert not core.test.defined
    assert problems_per_submission(rows, RUBRIC).counts == {1: 2, 2: 1}
    assert failure_table([], QUALITY) == ()


def test_minutes_with_zeros_and_without_any() -> None:
    rows = [
        _row(minutes=0.0, human_minutes=40.0),
        _row(False, minutes=30.0, human_minutes=80.0),
        _row(None, minutes=9.0),
    ]
    found = minutes_to_fix(rows)
    assert (found["all"].n, found["all"].mean, found["all"].minimum, found["all"].maximum) == (3, 13.0, 0.0, 30.0)
    assert not found["all"].geometric_mean.defined and "1 of 3" in found["all"].geometric_mean.undefined
    assert found["all"].share.value == pytest.approx(30 / 120) and found["all"].share.n == 2
    assert (found["passing"].n, found["failing"].n) == (1, 1)
    empty = minutes_of([replace(rows[0], minutes=None)])
    assert (empty.n, empty.unknown, empty.mean, empty.minimum) == (0, 1, None, None)
    assert not empty.share.defined and not empty.interval.defined and not empty.geometric_mean.defined


def test_half_of_what_people_are_granted() -> None:
    figure, interval = normalised(Proportion(34, 100), Proportion(68, 100))
    assert figure.value == pytest.approx(0.5)
    assert interval.low is not None and interval.high is not None and interval.low < 0.5 < interval.high
    for rate, golden in (((1, 2), (0, 3)), ((1, 2), (0, 0)), ((0, 0), (1, 2))):
        figure, interval = normalised(Proportion(*rate), Proportion(*golden))
        assert not figure.defined and not interval.defined and "no ratio" in figure.undefined


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_a_normalised_rate_is_inside_its_interval(n: int, m: int, data: st.DataObject) -> None:
    rate = Proportion(data.draw(st.integers(0, n)), n)
    figure, interval = normalised(rate, Proportion(data.draw(st.integers(1, m)), m))
    assert figure.value is not None and interval.low is not None and interval.high is not None
    assert interval.low - 1e-9 <= figure.value <= interval.high + 1e-9


def test_controls_are_counted_apart() -> None:
    rows = [
        _row(golden=Golden.GOOD, would_merge=True), _row(golden=Golden.GOOD, would_merge=False),
        _row(golden=Golden.BAD, would_merge=True), _row(would_merge=True), _row(would_merge=False),
        _row(would_merge=False), _row(would_merge=False),
    ]  # fmt: skip
    found = controls(rows)
    assert (found.good, found.bad, found.submissions) == (Proportion(1, 2), Proportion(1, 1), Proportion(1, 4))
    assert found.normalised.value == pytest.approx(0.5)
    assert controls(rows, would_merge=False).submissions == Proportion(4, 4)


def test_tests_beside_an_axis() -> None:
    rows = [_row(True, "cnccc"), _row(False, "pcccc"), _row(None, "pcccc"), _row(True, golden=Golden.GOOD)]
    assert (beside_tests(rows, RUBRIC, "core").true_pass, beside_tests(rows, RUBRIC, "core").true_fail) == (1, 1)
    assert beside_tests(rows, RUBRIC, "testing").false_fail == 1
    assert not beside_tests([], RUBRIC).kappa.defined
    with pytest.raises(KeyError):
        beside_tests(rows, RUBRIC, "speed")


def test_unanimous_raters_are_undefined_with_a_reason() -> None:
    line = [rating("pnccc", f"s{n}", rater, would_merge=False) for n in range(6) for rater in "abc"]
    found = {each.key: each for each in agreement(line, RUBRIC, draws=100)}
    assert set(found) == {"core", "testing", "documentation", "lint", "quality", "mergeable", "would_merge"}
    for each in found.values():
        assert each.percent.value == 1.0 and each.percent.n == 6
        assert not each.alpha.defined and "no variation" in each.alpha.undefined
        assert each.chance_free.value == 1.0 and each.baseline.overall.value == 1.0


def test_unsure_is_missing_and_not_applicable_is_an_answer() -> None:
    line = [
        rating("nuccc", "s1", "a"),
        rating("ccccc", "s1", "b"),
        rating("ccccc", "s2", "a"),
        rating("ccccc", "s2", "b"),
    ]
    found = {each.key: each for each in agreement(line, RUBRIC, draws=100)}
    assert (found["core"].percent.value, found["core"].percent.n) == (0.5, 2)
    assert (found["testing"].percent.value, found["testing"].percent.n) == (1.0, 1)


def test_levels_agree_by_their_distance() -> None:
    near = [quality_rating(level, f"s{n}", rater) for n in range(5) for rater, level in (("a", "1"), ("b", "0.75"))]
    near += [quality_rating("0", f"t{n}", rater) for n in range(5) for rater in "ab"]
    [found] = agreement(near, QUALITY, draws=100)
    # By hand: observed 10 * 5^2 / 20, expected 2 * (50 * 7.5^2 + 50 * 12.5^2 + 25 * 5^2) / (20 * 19).
    assert found.alpha.value == pytest.approx(1 - 12.5 / (22500 / 380)) and "ordinal" in found.alpha.method
    assert found.percent.value == 0.5 and "AC2" in found.chance_free.method


def test_the_strict_rater_stands_out() -> None:
    line = [rating("ccccc", f"s{n}", rater, active_seconds=100.0) for n in range(4) for rater in "ab"]
    line += [rating("ppccc", f"s{n}", "strict", active_seconds=10.0) for n in range(4)]
    found = severity(line, RUBRIC)
    assert [each.rater for each in found] == ["strict", "a", "b"]
    assert found[0].beside_others.value == pytest.approx(0.4) and found[0].problems == Proportion(8, 20)
    assert found[0].with_majority == Proportion(12, 20) and found[0].fast == 4 and found[1].fast == 0
    # Against one rater of two there is no majority among the others where they differ.
    assert found[1].with_majority == Proportion(12, 12)
    assert severity([], RUBRIC) == () and not severity([rating()], RUBRIC)[0].beside_others.defined


def test_the_first_half_beside_the_second() -> None:
    line = [
        rating("ccccc" if place <= 2 else "ppccc", f"s{place}", rater, position=place)
        for rater in "abcdef"
        for place in (1, 2, 3, 4, 5)
        if place != 3
    ]
    found = order_effects(line, RUBRIC)
    assert found.first.problems == Proportion(0, 60) and found.second.problems == Proportion(24, 60)
    assert found.test.p_value == pytest.approx(2 / 64) and found.test.n == 6 and "by rater" in found.test.method
    assert not order_effects([], RUBRIC).test.defined and order_effects([], RUBRIC).first.active_seconds is None


def test_anchoring_counts_changes_of_mind() -> None:
    line = [rating("ccccc"), rating("pcccc", version=2, phase=RatingPhase.REVEALED), rating("ccccc", "s2")]
    found = anchoring(line)
    assert found["core"] == Proportion(1, 1) and found["testing"] == Proportion(0, 1) == found["would_merge"]
