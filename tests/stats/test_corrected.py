"""Rates corrected for their measure."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from repoassay.stats import Proportion, golden_normalised, rogan_gladen


def test_the_worked_cases() -> None:
    assert rogan_gladen(0.30, 0.8, 0.9).value == pytest.approx(0.285714, abs=5e-7)
    assert golden_normalised(Proportion(34, 100), Proportion(68, 100)).value == pytest.approx(0.5)


@given(st.floats(0, 1), st.floats(0.6, 1), st.floats(0.6, 1))
def test_it_undoes_an_imperfect_test(true: float, sensitivity: float, specificity: float) -> None:
    seen = true * sensitivity + (1 - true) * (1 - specificity)
    assert rogan_gladen(min(1.0, max(0.0, seen)), sensitivity, specificity).value == pytest.approx(true, abs=1e-9)


def test_what_the_formula_makes_impossible_is_cut_and_said() -> None:
    found = rogan_gladen(0.05, 0.8, 0.9, n=15)
    assert (found.value, found.n) == (0.0, 15)
    assert found.note == "the formula gives -0.07143; cut to a proportion"
    assert rogan_gladen(1.0, 0.8, 0.9).value == 1.0


def test_undefined_with_a_reason() -> None:
    assert "no better than chance" in rogan_gladen(0.3, 0.5, 0.5).undefined
    assert "no reference solution" in golden_normalised(Proportion(3, 10), Proportion(0, 10)).undefined
    assert "no cases" in golden_normalised(Proportion(0, 0), Proportion(1, 10)).undefined
    assert golden_normalised(Proportion(9, 10), Proportion(6, 10)).value == pytest.approx(1.5)
    with pytest.raises(ValueError, match="sensitivity"):
        rogan_gladen(0.3, 1.5, 0.5)
