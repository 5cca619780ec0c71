"""The sign-flip test against plain enumeration, scipy, and McNemar's test where both must agree."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from repoassay.stats import mcnemar, paired_permutation

SHARES = st.integers(-5, 5).map(lambda k: k / 5)


@given(st.lists(SHARES, min_size=1, max_size=9))
def test_it_is_the_share_of_all_signs(differences: list[float]) -> None:
    exact = [round(5 * one) for one in differences]
    sums = [
        abs(sum(sign * one for sign, one in zip(signs, exact, strict=True)))
        for signs in product((1, -1), repeat=len(exact))
    ]
    found = paired_permutation(differences)
    assert found.p_value == pytest.approx(sum(one >= abs(sum(exact)) for one in sums) / len(sums), abs=1e-15)
    assert found.method == "paired permutation, sign flips by task, exact, two-sided"
    assert found.statistic == pytest.approx(sum(differences) / len(differences))
    assert found.n == len(differences)


@settings(max_examples=20)
@given(st.lists(st.floats(-3, 3).map(lambda one: round(one, 6)), min_size=2, max_size=8))
def test_it_is_scipys(differences: list[float]) -> None:
    expected = stats.permutation_test(
        (np.array(differences),), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert paired_permutation(differences).p_value == pytest.approx(expected.pvalue, abs=1e-12)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_of_yes_and_no_it_is_mcnemars(b: int, c: int, same: int) -> None:
    found = paired_permutation([1.0] * b + [-1.0] * c + [0.0] * same)
    if b + c + same:
        assert found.p_value == pytest.approx(mcnemar(b, c).p_value, rel=1e-12)
    else:
        assert found.undefined == "there are no tasks in common"


@given(st.lists(SHARES, min_size=1, max_size=30))
def test_swapping_the_systems_and_rescaling_change_nothing(differences: list[float]) -> None:
    one = paired_permutation(differences)
    other = paired_permutation([-700 * difference for difference in reversed(differences)])
    assert one.p_value == pytest.approx(other.p_value)


@pytest.mark.long
def test_twenty_tasks_of_any_size_are_exact_and_many_are_drawn() -> None:
    twenty = [(i * 0.618) % 1 for i in range(1, 21)]
    assert paired_permutation(twenty).p_value == 2 / 2**20
    fifty = [i**0.5 for i in range(1, 51)]  # no lattice: nearly all sums differ
    drawn = paired_permutation(fifty, draws=200, seed=3)
    assert drawn.p_value == 1 / 201  # the observed signs are one of the draws: never zero
    assert "200 draws, seed 3" in drawn.method
    assert drawn == paired_permutation(fifty, draws=200, seed=3)


def test_drawn_signs_come_near_the_normal_p_value() -> None:
    differences = [((i * 0.618) % 1) - 0.43 for i in range(80)]
    z = sum(differences) / sum(one * one for one in differences) ** 0.5
    assert paired_permutation(differences, draws=4000).p_value == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.03)


def test_no_difference_is_no_evidence() -> None:
    assert paired_permutation([0.0] * 7).p_value == 1
    assert paired_permutation([1e-300, -1e-300]).p_value == 1
    with pytest.raises(ValueError, match="finite"):
        paired_permutation([float("nan")])
    with pytest.raises(ValueError, match="draws"):
        paired_permutation([1.0], draws=1)


def test_what_differs_by_rounding_alone_is_a_tie() -> None:
    noisy = [0.6 - 0.4, -(0.3 - 0.1), 0.8 - 0.6, 0.4 - 0.2, -(0.5 - 0.3)]
    assert len({abs(one) for one in noisy}) > 1
    assert paired_permutation(noisy).p_value == paired_permutation([0.2, -0.2, 0.2, 0.2, -0.2]).p_value == 1
