"""The distributions of the base install against scipy's."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from scipy import stats

from repoassay.stats.incomplete_beta import beta_cdf, beta_quantile, binomial_cdf, t_cdf, t_quantile

SHAPES = st.floats(0.5, 3000)
SHARES = st.floats(1e-6, 1 - 1e-6)


@given(SHARES, SHAPES, SHAPES)
def test_beta_is_scipys(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), abs=1e-11)


@given(SHARES, SHAPES, SHAPES)
def test_the_quantile_of_beta_undoes_it(share: float, a: float, b: float) -> None:
    assert beta_quantile(share, a, b) == pytest.approx(stats.beta.ppf(share, a, b), rel=1e-8, abs=1e-12)


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(-1, n), st.just(n))), SHARES)
def test_binomial_is_scipys(pair: tuple[int, int], p: float) -> None:
    assert binomial_cdf(*pair, p) == pytest.approx(stats.binom.cdf(*pair, p), abs=1e-11)


@given(st.floats(-50, 50), st.floats(1, 1e5))
def test_student_is_scipys(t: float, freedom: float) -> None:
    # Near 0 scipy's own is a little off: with one degree of freedom t = 1e-9 gives 1/2, not 1/2 + 1e-9/pi.
    assert t_cdf(t, freedom) == pytest.approx(stats.t.cdf(t, freedom), abs=1e-8)


@given(st.floats(0.001, 0.999), st.floats(1, 1e5))
def test_the_quantile_of_student_is_scipys(share: float, freedom: float) -> None:
    assert t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-7, abs=1e-9)


def test_what_is_no_distribution_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        beta_cdf(0.5, 0, 1)
    for share, freedom in ((0.0, 3.0), (1.0, 3.0), (0.5, 0.0)):
        with pytest.raises(ValueError, match="quantile"):
            t_quantile(share, freedom)
    assert (beta_cdf(-1, 2, 3), beta_cdf(2, 2, 3)) == (0, 1)
