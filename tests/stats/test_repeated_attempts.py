"""pass@k against enumeration, simulation of nothing, and Wilson's interval where both must agree."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from repoassay.stats import wilson
from repoassay.stats.repeated_attempts import pass_at_k, pass_hat_k, unbiased, unbiased_all


@given(st.data())
def test_the_estimate_is_the_share_of_draws_with_a_pass(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert unbiased(n, c, k) == pytest.approx(sum(any(draw) for draw in draws) / len(draws))


def test_the_published_estimator_for_known_counts() -> None:
    # 1 - C(7, 5) / C(10, 5) = 1 - 21 / 252
    assert unbiased(10, 3, 5) == pytest.approx(11 / 12)
    assert unbiased(200, 1, 100) == pytest.approx(0.5)


@given(st.lists(st.booleans(), min_size=2, max_size=60))
def test_one_attempt_a_task_gives_wilsons_interval(passed: list[bool]) -> None:
    found = pass_at_k([(1, int(one)) for one in passed], 1)
    expected = wilson(sum(passed), len(passed))
    assert found.value == pytest.approx(sum(passed) / len(passed))
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 5))
def test_the_interval_holds_the_value_and_k_only_helps(passes: list[int], k: int) -> None:
    found = pass_at_k([(5, c) for c in passes], k)
    assert found.value is not None and found.interval.low is not None and found.interval.high is not None
    assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1
    more = pass_at_k([(5, c) for c in passes], min(k + 1, 5))
    assert more.value is not None and more.value >= found.value - 1e-12


def test_repeating_attempts_does_not_narrow_the_interval() -> None:
    few = pass_at_k([(1, 1)] * 5 + [(1, 0)] * 5, 1)
    many = pass_at_k([(100, 100)] * 5 + [(100, 0)] * 5, 1)
    assert few.interval.low is not None and many.interval.low is not None
    # Of several attempts the spread of tasks is estimated, which Student's t allows for.
    assert many.interval.low < few.interval.low < many.interval.low + 0.1


def test_tasks_with_too_few_attempts_are_left_out_and_counted() -> None:
    found = pass_at_k([(5, 5), (2, 1)], 3)
    assert (found.value, found.tasks, found.left_out) == (1.0, 1, 1)
    nothing = pass_at_k([(2, 1)], 3)
    assert nothing.value is None and not nothing.interval.defined


@pytest.mark.parametrize(("counts", "k"), [([(3, 4)], 1), ([(3, -1)], 1), ([(3, 1)], 0)])
def test_impossible_counts_are_refused(counts: list[tuple[int, int]], k: int) -> None:
    with pytest.raises(ValueError):
        pass_at_k(counts, k)


@pytest.mark.parametrize(("k", "any_pass", "all_pass"), [(1, 0.4, 0.4), (2, 0.7, 0.1), (3, 0.9, 0.0), (4, 1.0, 0.0)])
def test_two_of_five(k: int, any_pass: float, all_pass: float) -> None:
    assert unbiased(5, 2, k) == pytest.approx(any_pass)
    assert unbiased_all(5, 2, k) == pytest.approx(all_pass)


@given(st.data())
def test_all_pass_is_the_share_of_draws_without_a_failure(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert unbiased_all(n, c, k) == pytest.approx(sum(all(draw) for draw in draws) / len(draws))
    # Not all k pass where any of k fails.
    assert unbiased_all(n, c, k) == pytest.approx(1 - unbiased(n, n - c, k))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 5))
def test_all_of_k_is_never_likelier_than_any(passes: list[int], k: int) -> None:
    counts = [(5, c) for c in passes]
    everything, anything = pass_hat_k(counts, k), pass_at_k(counts, k)
    assert everything.value is not None and anything.value is not None
    assert everything.value <= anything.value + 1e-12
    assert (everything.method, anything.method) == ("pass^k, unbiased", "pass@k, unbiased")
    low, high = everything.interval.low, everything.interval.high
    assert low is not None and high is not None and 0 <= low <= everything.value <= high <= 1


def test_without_a_task_the_reason_is_given() -> None:
    found = pass_hat_k([(2, 1)], 3)
    assert (found.value, found.left_out, found.undefined) == (None, 1, "no task has 3 or more attempts")
    assert pass_at_k([(3, 1)], 3).undefined == ""
    with pytest.raises(ValueError, match=r"pass\^2"):
        pass_hat_k([(3, 4)], 2)
    with pytest.raises(ValueError, match=r"pass\^0"):
        pass_hat_k([(3, 1)], 0)
