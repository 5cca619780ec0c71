"""The two-sample permutation test beside scipy's, and at its edges."""

from __future__ import annotations

import random

import pytest

from repoassay.stats.permutation import two_sample_permutation


def test_it_equals_scipy_where_all_splits_are_tried() -> None:
    stats = pytest.importorskip("scipy.stats")
    numpy = pytest.importorskip("numpy")
    draw = random.Random(3)
    for size, other in ((3, 4), (5, 5), (2, 6), (7, 6)):
        first = [round(draw.gauss(0, 1), 2) for _ in range(size)]
        second = [round(draw.gauss(0.7, 1), 2) for _ in range(other)]
        found = two_sample_permutation(first, second)
        wanted = stats.permutation_test(
            (second, first), lambda a, b: numpy.mean(a) - numpy.mean(b), n_resamples=numpy.inf, vectorized=False
        )
        assert found.statistic == pytest.approx(wanted.statistic)
        # scipy doubles the smaller tail; with equal groups both are the same, so only those are compared exactly.
        if size == other:
            assert found.p_value == pytest.approx(wanted.pvalue)
        assert found.p_value is not None and 0 < found.p_value <= 1


def test_draws_are_near_the_exact_value_and_repeatable() -> None:
    first, second = [0.0] * 15 + [1.0] * 5, [0.0] * 9 + [1.0] * 11
    found = two_sample_permutation(first, second)
    assert found.p_value == pytest.approx(0.105, abs=0.02) and found == two_sample_permutation(first, second)


def test_edges() -> None:
    assert two_sample_permutation([], [1.0]).undefined == "a group is empty"
    assert two_sample_permutation([1.0, 1.0], [1.0, 1.0]).p_value == 1
    with pytest.raises(ValueError, match="finite"):
        two_sample_permutation([float("nan")], [1.0])
