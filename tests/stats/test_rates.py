"""Rates with unknowns: never counted as false, never hidden."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from repoassay.stats import Proportion, Rate


def test_unknown_is_in_all_and_out_of_judged() -> None:
    rate = Rate.of([True] * 12 + [False] * 2 + [None])
    assert rate == Rate(successes=12, n=15, unknown=1)
    assert rate.over_all == Proportion(12, 15)
    assert rate.over_judged == Proportion(12, 14)
    assert rate.over_judged.value == pytest.approx(12 / 14)


@given(st.lists(st.sampled_from([True, False, None])))
def test_counts_add_up(answers: list[bool | None]) -> None:
    rate = Rate.of(iter(answers))
    assert (rate.n, rate.judged) == (len(answers), len(answers) - answers.count(None))
    low, high = rate.over_all.value, rate.over_judged.value
    assert (low is None) == (not answers)
    assert (high is None) == (rate.judged == 0)
    if low is not None and high is not None:
        assert low <= high
        assert rate.over_judged.interval.n == rate.judged


def test_nothing_judged_has_no_value() -> None:
    rate = Rate(0, 4, 4)
    assert rate.over_all.value == 0
    assert rate.over_judged.value is None
    assert not rate.over_judged.interval.defined


@pytest.mark.parametrize("counts", [(3, 2, 0), (2, 3, 2), (-1, 3, 0), (0, 3, -1)])
def test_contradicting_counts_are_refused(counts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="impossible"):
        Rate(*counts)
