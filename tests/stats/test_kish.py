"""Effective numbers."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from repoassay.stats import effective_number, effective_raters


@given(
    st.lists(st.integers(0, 10**6).map(lambda w: w / 100), min_size=1, max_size=30).filter(any), st.floats(0.01, 100)
)
def test_it_lies_between_one_and_all_whatever_the_scale(weights: list[float], scale: float) -> None:
    found = effective_number(weights).value
    assert found is not None and 1 - 1e-9 <= found <= len(weights) + 1e-9
    assert effective_number([w * scale for w in weights]).value == pytest.approx(found, rel=1e-6)


def test_worked() -> None:
    assert effective_number([1, 1, 1, 1]).value == 4
    assert effective_number([3, 1]).value == pytest.approx(1.6)
    assert effective_number([5, 0, 0]).value == 1
    # Nine judges worth about two: errors that correlate by 0.4375.
    assert effective_raters(9, 0.4375).value == pytest.approx(2.0)
    assert effective_raters(9, 0).value == 9
    assert effective_raters(9, 1).value == 1
    assert effective_raters(3, -0.2).note == "the correlation is negative and taken as zero"


def test_undefined_and_refused() -> None:
    assert "no weight above zero" in effective_number([]).undefined
    assert "no weight above zero" in effective_number([0, 0]).undefined
    assert effective_raters(0, 0.5).undefined == "there are no raters"
    with pytest.raises(ValueError):
        effective_number([1, -1])
    with pytest.raises(ValueError):
        effective_raters(3, 1.5)
