"""Two systems on the same tasks: the worked case, statsmodels, and what swapping them must do."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import pytest
from hypothesis import given, strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from repoassay.stats import Interval, agresti_min, discordant_needed, mcnemar, paired_wald, tango

PAIRS = st.integers(1, 400).flatmap(
    lambda n: st.integers(0, n).flatmap(lambda b: st.tuples(st.just(b), st.integers(0, n - b), st.just(n)))
)
INTERVALS = pytest.mark.parametrize("interval", [tango, agresti_min, paired_wald])


def ends(interval: Interval) -> tuple[float | None, float | None]:
    return interval.low, interval.high


@pytest.mark.parametrize(("b", "p_value"), [(4, 0.125), (5, 0.0625), (6, 0.03125)])
def test_the_exact_p_value_of_few_discordant_pairs(b: int, p_value: float) -> None:
    assert mcnemar(b, 0).p_value == p_value
    assert mcnemar(0, b, 15).p_value == p_value
    assert mcnemar(b, 0, 15).n == 15


def test_six_discordant_pairs_are_needed() -> None:
    assert discordant_needed() == 6
    assert discordant_needed(0.01) == 8
    assert discordant_needed(0.03125) == 7  # below, not at, the level


def test_the_worked_intervals() -> None:
    assert ends(tango(4, 0, 15)) == pytest.approx((0.00841, 0.51950), abs=5e-6)
    assert ends(agresti_min(4, 0, 15)) == pytest.approx((0.00302, 0.46757), abs=5e-6)
    assert ends(paired_wald(4, 0, 15)) == pytest.approx((0.043, 0.490), abs=5e-4)


@given(PAIRS)
def test_the_p_value_is_that_of_statsmodels(pairs: tuple[int, int, int]) -> None:
    b, c, n = pairs
    found = mcnemar(b, c, n).p_value
    assert found == pytest.approx(binomtest(b, b + c).pvalue if b + c else 1.0, abs=1e-12)
    if b + c:
        assert found == pytest.approx(statsmodels_mcnemar([[n - b - c, b], [c, 0]], exact=True).pvalue, abs=1e-12)


@given(PAIRS, st.floats(0.5, 0.999))
def test_tangos_ends_solve_his_equation(pairs: tuple[int, int, int], confidence: float) -> None:
    """At an end, the likelihood restricted to it is as far from the data as the level allows."""
    from scipy.stats import norm

    b, c, n = pairs
    z = norm.ppf(0.5 + confidence / 2)
    for end in ends(tango(b, c, n, confidence)):
        assert end is not None
        if abs(end) > 1 - 1e-6:
            continue
        # The restricted estimate maximises b log(q + end) + c log q + (n - b - c) log(1 - 2 q - end): a quadratic in q.
        roots = [
            q
            for sign in (1, -1)
            for q in [
                (
                    -(2 * n * end - (b - c) * end - b - c)
                    + sign * sqrt((2 * n * end - (b - c) * end - b - c) ** 2 + 8 * n * c * end * (1 - end))
                )
                / (4 * n)
            ]
            if max(0.0, -end) - 1e-9 <= q <= (1 - end) / 2 + 1e-9
        ]
        assert roots
        assert any(
            ((b - c) / n - end) ** 2 == pytest.approx(z * z * (2 * q + end - end**2) / n, rel=1e-4, abs=1e-10)
            for q in roots
        )


@INTERVALS
@given(pairs=PAIRS, confidence=st.floats(0.5, 0.999))
def test_swapping_the_systems_mirrors_the_interval(
    interval: Callable[..., Interval], pairs: tuple[int, int, int], confidence: float
) -> None:
    b, c, n = pairs
    one, other = interval(b, c, n, confidence), interval(c, b, n, confidence)
    if one.low is None or one.high is None or other.low is None or other.high is None:
        assert one.undefined == other.undefined != ""
        return
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)
    assert -1 <= one.low <= one.high <= 1
    assert mcnemar(b, c).p_value == mcnemar(c, b).p_value


@given(PAIRS)
def test_tango_holds_the_difference_and_keeps_a_width(pairs: tuple[int, int, int]) -> None:
    b, c, n = pairs
    low, high = ends(tango(b, c, n))
    assert low is not None and high is not None
    assert low - 1e-12 <= (b - c) / n <= high + 1e-12
    assert low < high


def test_equal_systems_differ_by_nothing_but_not_surely() -> None:
    assert mcnemar(0, 0, 15).p_value == 1
    low, high = ends(tango(0, 0, 15))
    assert low == pytest.approx(-0.20388, abs=5e-6) and high == pytest.approx(0.20388, abs=5e-6)
    assert "no variation" in paired_wald(0, 0, 15).undefined
    assert mcnemar(0, 0, 0).undefined == "there are no pairs"
    assert tango(0, 0, 0).undefined == "there are no observations"


@given(st.integers(1, 5000))
def test_large_counts_stay_exact(b: int) -> None:
    assert mcnemar(b, b).p_value == 1
    assert mcnemar(b, 0).p_value == (2.0 ** (1 - b) if b < 1070 else pytest.approx(0, abs=1e-300))


@pytest.mark.parametrize("counts", [(-1, 0, 3), (2, 2, 3), (0, -1, 3)])
def test_impossible_counts_are_refused(counts: tuple[int, int, int]) -> None:
    for function in (mcnemar, tango, agresti_min, paired_wald):
        with pytest.raises(ValueError, match="impossible"):
            function(*counts)
    with pytest.raises(ValueError, match="level"):
        tango(1, 0, 3, 1.0)
    with pytest.raises(ValueError, match="level"):
        discordant_needed(0)
