"""Wilson's interval against published values, an independent formula, and what must hold of any interval."""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import pytest
from hypothesis import given, strategies as st
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from repoassay.stats import Interval, bootstrap_proportion, clopper_pearson, clopper_pearson_upper, wilson

COUNTS = st.integers(0, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SOME = COUNTS.filter(lambda pair: pair[1] > 0)


def by_root_finding(successes: int, n: int, z: float) -> tuple[float, float]:
    """The ends solve |p - share| = z sqrt(p (1 - p) / n); found by bisection, apart from any closed form."""

    def rejected(p: float) -> bool:
        return (p - successes / n) ** 2 * n > z * z * p * (1 - p)

    def edge(outside: float, inside: float) -> float:
        if not rejected(outside):
            return outside
        for _ in range(200):
            middle = (outside + inside) / 2
            outside, inside = (middle, inside) if rejected(middle) else (outside, middle)
        return inside

    return edge(0.0, successes / n), edge(1.0, successes / n)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # Worked by hand.
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (4, 15, 0.1090, 0.5195),
        (12, 14, 0.6006, 0.9599),
        (1, 1, 0.2065, 1.0),
    ],
)
def test_published_values(successes: int, n: int, low: float, high: float) -> None:
    found = wilson(successes, n)
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)
    assert (found.method, found.n) == ("Wilson score, 95%", n)


@given(SOME)
def test_it_solves_its_defining_equation(pair: tuple[int, int]) -> None:
    low, high = by_root_finding(*pair, z=1.959963984540054)
    found = wilson(*pair)
    assert found.low == pytest.approx(low, abs=1e-9)
    assert found.high == pytest.approx(high, abs=1e-9)


@given(SOME, st.floats(0.01, 0.999))
def test_it_holds_the_share_and_stays_a_proportion(pair: tuple[int, int], confidence: float) -> None:
    found = wilson(*pair, confidence)
    assert found.low is not None and found.high is not None and found.defined
    assert 0 <= found.low <= pair[0] / pair[1] <= found.high <= 1
    assert found.low < found.high


@given(SOME)
def test_successes_and_failures_mirror_each_other(pair: tuple[int, int]) -> None:
    one, other = wilson(*pair), wilson(pair[1] - pair[0], pair[1])
    assert one.low is not None and other.high is not None
    assert one.low == pytest.approx(1 - other.high, abs=1e-12)


@given(SOME, st.floats(0.05, 0.9))
def test_more_confidence_is_never_narrower_and_more_data_never_wider(pair: tuple[int, int], confidence: float) -> None:
    def width(interval: Interval) -> float:
        assert interval.low is not None and interval.high is not None
        return interval.high - interval.low

    assert width(wilson(*pair, confidence)) <= width(wilson(*pair, confidence + 0.05)) + 1e-12
    assert width(wilson(pair[0] * 3, pair[1] * 3)) < width(wilson(*pair))


def test_no_observations_say_nothing() -> None:
    assert wilson(0, 0) == Interval(None, None, "undefined", 0, "there are no observations")
    assert not wilson(0, 0).defined


@pytest.mark.parametrize("counts", [(-1, 3), (4, 3), (0, -1), (1, 0)])
def test_impossible_counts_are_refused(counts: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="impossible"):
        wilson(*counts)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_impossible_levels_are_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        wilson(1, 2, confidence)


def test_the_facts_of_small_samples() -> None:
    """Four of fifteen, none of fifteen, seven of eighteen: to five digits."""

    def ends(interval: Interval) -> tuple[float | None, float | None]:
        return interval.low, interval.high

    assert ends(wilson(4, 15)) == pytest.approx((0.10897, 0.51950), abs=5e-6)
    assert ends(wilson(0, 15)) == pytest.approx((0, 0.20388), abs=5e-6)
    assert ends(wilson(7, 18)) == pytest.approx((0.20305, 0.61381), abs=5e-6)
    assert wilson(0, 4).high == pytest.approx(0.48989, abs=5e-6)
    assert ends(clopper_pearson(4, 15)) == pytest.approx((0.07787, 0.55100), abs=5e-6)
    assert ends(clopper_pearson(0, 15)) == pytest.approx((0, 0.21802), abs=5e-6)
    assert ends(clopper_pearson_upper(0, 15)) == pytest.approx((0, 0.18104), abs=5e-6)


@given(SOME, st.floats(0.5, 0.999))
def test_both_are_those_of_statsmodels(pair: tuple[int, int], confidence: float) -> None:
    for method, found in (("wilson", wilson(*pair, confidence)), ("beta", clopper_pearson(*pair, confidence))):
        low, high = proportion_confint(*pair, alpha=1 - confidence, method=method)
        assert found.low == pytest.approx(low, abs=1e-9)
        assert found.high == pytest.approx(high, abs=1e-9)


@given(SOME, st.floats(0.5, 0.999))
def test_both_exact_bounds_are_those_of_scipy(pair: tuple[int, int], confidence: float) -> None:
    expected = binomtest(*pair).proportion_ci(confidence, method="exact")
    found = clopper_pearson(*pair, confidence)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    upper = binomtest(*pair, alternative="less").proportion_ci(confidence, method="exact").high
    assert clopper_pearson_upper(*pair, confidence).high == pytest.approx(upper, abs=1e-9)


@given(SOME)
def test_the_exact_interval_mirrors_and_holds_the_share(pair: tuple[int, int]) -> None:
    one, other = clopper_pearson(*pair), clopper_pearson(pair[1] - pair[0], pair[1])
    assert one.low is not None and one.high is not None and other.high is not None
    assert one.low == pytest.approx(1 - other.high, abs=1e-12)
    assert one.low <= pair[0] / pair[1] <= one.high
    upper = clopper_pearson_upper(*pair)
    assert upper.high is not None
    assert pair[0] / pair[1] <= upper.high <= one.high


@pytest.mark.parametrize(
    ("interval", "coverage"), [(wilson, 0.964), (clopper_pearson, 0.995), (bootstrap_proportion, 0.531)]
)
def test_how_often_a_rate_of_five_percent_is_covered_at_fifteen(
    interval: Callable[[int, int], Interval], coverage: float
) -> None:
    covered = 0.0
    for k in range(16):
        found = interval(k, 15)
        # What the bootstrap refuses would be [0, 0] or [1, 1], which covers nothing.
        if found.low is not None and found.high is not None and found.low <= 0.05 <= found.high:
            covered += comb(15, k) * 0.05**k * 0.95 ** (15 - k)
    assert covered == pytest.approx(coverage, abs=5e-4)


@pytest.mark.parametrize("interval", [clopper_pearson, clopper_pearson_upper])
def test_the_exact_bounds_refuse_and_explain_the_same(interval: Callable[..., Interval]) -> None:
    assert interval(0, 0).undefined == "there are no observations"
    for counts in ((-1, 3), (4, 3)):
        with pytest.raises(ValueError, match="impossible"):
            interval(*counts)
    with pytest.raises(ValueError, match="confidence"):
        interval(1, 2, 1.0)
