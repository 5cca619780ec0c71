"""Holm's correction against statsmodels, and by its own promises."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from statsmodels.stats.multitest import multipletests

from repoassay.stats import holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=20)


def test_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@pytest.mark.exhaustive  # statsmodels takes its time
@settings(max_examples=15)
@given(P_VALUES)
def test_it_is_that_of_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(tuple(multipletests(p_values, method="holm")[1]), abs=1e-12)


@given(P_VALUES)
def test_it_keeps_the_order_and_is_between_the_raw_and_bonferronis(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for p, q in zip(p_values, adjusted, strict=True):
        assert q is not None and p <= q <= min(1.0, len(p_values) * p)
    ordered = [q for _, q in sorted(zip(p_values, adjusted, strict=True), key=lambda pair: pair[0])]
    assert ordered == sorted(ordered, key=lambda q: q or 0.0)


def test_undefined_tests_are_no_tests() -> None:
    assert holm([None, 0.02, None, 0.03]) == (None, 0.04, None, 0.04)
    assert holm([]) == ()
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, 1.1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([float("nan")])
