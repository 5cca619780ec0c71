"""Intervals of agreement by drawing units."""

from __future__ import annotations

import pytest

from repoassay.stats import Ratings, agreement_interval, gwet_ac1, krippendorff_alpha, percent_agreement, wilson

UNITS: Ratings = [["y", "y"]] * 30 + [["n", "n"]] * 20 + [["y", "n"]] * 10 + [["n", None]] * 3


@pytest.mark.long
def test_it_holds_the_coefficient_and_repeats_by_seed() -> None:
    for coefficient in (krippendorff_alpha, gwet_ac1):
        found = agreement_interval(UNITS, coefficient)
        value = coefficient(UNITS).value
        assert found.low is not None and found.high is not None and value is not None
        assert found.low < value < found.high < 1
        assert found.n == 60 and found.method == "percentile bootstrap over units, 1000 draws, seed 0, 95%"
        assert found == agreement_interval(UNITS, coefficient)
        assert found != agreement_interval(UNITS, coefficient, seed=1)


def test_percent_agreement_comes_near_wilsons() -> None:
    found, expected = agreement_interval(UNITS[:60], percent_agreement, draws=2000), wilson(50, 60)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.03)


def test_where_there_is_nothing_to_draw_the_reason_is_given() -> None:
    assert agreement_interval([["n", "n"]] * 15, krippendorff_alpha).undefined == "no variation (all raters chose n)"
    assert agreement_interval([], krippendorff_alpha).undefined == "no unit has two ratings to compare"
    whole = agreement_interval([["n", "n"], ["y", "y"]] * 15, krippendorff_alpha)
    assert whole.undefined == "no variation: every sample has the value 1"
    rare = agreement_interval([["n", "n"]] * 14 + [["n", "y"]], krippendorff_alpha)
    assert "samples have no value: there is too little variation" in rare.undefined
    with pytest.raises(ValueError, match="draws"):
        agreement_interval(UNITS, krippendorff_alpha, draws=5)


def test_a_few_samples_without_a_value_are_left_out_and_counted() -> None:
    found = agreement_interval([["n", "n"]] * 26 + [["n", "y"]] * 3 + [["y", "y"]], krippendorff_alpha)
    assert found.defined
    assert "of 1000 samples have no value and are left out" in found.note
