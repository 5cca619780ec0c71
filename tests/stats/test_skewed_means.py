"""Hall's interval by hand, and where there is none."""

from __future__ import annotations

import pytest

from repoassay.stats import clustered_mean, skewed_mean


def test_it_is_students_where_tasks_lie_evenly_and_leans_where_one_is_far_out() -> None:
    scipy = pytest.importorskip("scipy.stats")
    even = skewed_mean([[1.0], [2.0], [3.0], [4.0]])
    half = scipy.t.ppf(0.975, 2) * scipy.sem([1.0, 2.0, 3.0, 4.0])
    assert (even.low, even.high) == pytest.approx((2.5 - half, 2.5 + half))
    far = skewed_mean([[1.0]] * 9 + [[100.0]])
    mean = clustered_mean([[1.0]] * 9 + [[100.0]])
    assert mean.value is not None and far.low is not None and far.high is not None
    assert far.high - mean.value > 2 * (mean.value - far.low)


def test_it_needs_three_tasks_that_differ() -> None:
    assert "two tasks" in skewed_mean([[1.0], [2.0]]).undefined
    assert "no variation" in skewed_mean([[1.0], [1.0], [1.0]]).undefined
