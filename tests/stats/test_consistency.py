"""Printed percentages: the published tables, their four misprints, and every k of every n."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given, strategies as st

from repoassay.stats import consistent, smallest_fraction


@pytest.mark.parametrize(
    ("printed", "n", "k"),
    [("48.15", 54, 26), ("72.22", 54, 39), ("45.37", 108, 49), ("72.22%", 54, 39), ("50.00", 54, 27), ("100", 11, 11)],
)
def test_what_is_a_rate(printed: str, n: int, k: int) -> None:
    found = consistent(printed, n)
    assert (found.counts, found.consistent, found.nearest) == ((k,), True, k)
    assert str(found) == f"{found.printed} % is {k}/{n}"


@pytest.mark.parametrize(
    ("printed", "k", "instead"),
    [("17.58", 19, "17.59"), ("22.23", 24, "22.22"), ("25.83", 28, "25.93"), ("14.82", 16, "14.81")],
)
def test_the_four_misprints(printed: str, k: int, instead: str) -> None:
    found = consistent(printed, 108)
    assert (found.consistent, found.counts) == (False, ())
    assert (found.nearest, found.nearest_prints) == (k, instead)
    assert str(found) == f"{printed} % is no k/108: the nearest, {k}/108, prints as {instead} %"
    assert not consistent(printed, 54).consistent


def test_documentation_is_of_nine_not_eleven() -> None:
    assert consistent("89", 9).counts == (8,)
    assert not consistent("89", 11).consistent
    assert not consistent("38", 18).consistent


def test_the_smallest_fraction() -> None:
    assert smallest_fraction("65.04") == (80, 123)
    assert smallest_fraction("0") == (0, 1)
    assert smallest_fraction("100.0") == (1, 1)
    assert smallest_fraction("50") == (1, 2)
    assert consistent("65.04", 147).consistent is False and consistent("65.04", 226).counts == (147,)
    with pytest.raises(ValueError, match="too many decimals"):
        smallest_fraction("33.3333333301")


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(0, 4))
def test_every_rate_is_found_again_however_it_was_rounded(pair: tuple[int, int], decimals: int) -> None:
    k, n = pair
    # Decimal rounds 50 digits; a tie of such a share is exact in them.
    for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN):
        printed = str((Decimal(100 * k) / n).quantize(Decimal(1).scaleb(-decimals), rounding=rounding))
        found = consistent(printed, n)
        assert k in found.counts
        assert found.nearest in found.counts
        small = smallest_fraction(printed)
        assert small[1] <= n
        assert consistent(printed, small[1]).consistent


@given(st.integers(0, 100_00), st.integers(1, 150))
def test_a_count_prints_as_the_figure_or_none_does(units: int, n: int) -> None:
    printed = f"{units // 100}.{units % 100:02d}"
    found = consistent(printed, n)
    slow = [k for k in range(n + 1) if abs(2 * 10_000 * k - 2 * units * n) <= n]
    # Rounding to half a unit is within it; only a tie may go the other way.
    assert set(found.counts) <= set(slow)
    assert all(2 * abs(10_000 * k - units * n) == n for k in set(slow) - set(found.counts))
    assert abs(10_000 * found.nearest - units * n) == min(abs(10_000 * k - units * n) for k in range(n + 1))


@pytest.mark.parametrize("printed", ["", "abc", "-1", "101", "nan", "Infinity", "1e5", "1e-400", "1." + "0" * 40])
def test_what_is_no_percentage_is_refused(printed: str) -> None:
    with pytest.raises(ValueError, match="percentage"):
        consistent(printed, 54)
    with pytest.raises(ValueError, match="share"):
        consistent("5", 0)
