"""Correlations: by hand, by definition, and undefined with a reason."""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import correlation

import pytest
from hypothesis import given, strategies as st

from repoassay.errors import MissingExtra
from repoassay.stats import Significance, kendall, pearson, spearman

ALL = pytest.mark.parametrize("function", [pearson, spearman, kendall])
Correlate = Callable[[list[float | None], list[float | None]], Significance]


def test_a_worked_case() -> None:
    # IQ against hours of television, ranks by hand: 1 - 6 * 194 / (10 * 99).
    first: list[float | None] = [106, 86, 100, 101, 99, 103, 97, 113, 112, 110]
    second: list[float | None] = [7, 0, 27, 50, 28, 29, 20, 12, 6, 17]
    found = spearman(first, second)
    assert found.statistic == pytest.approx(-29 / 165)
    assert found.p_value == pytest.approx(0.627188, abs=5e-7)
    assert (found.method, found.n) == ("Spearman's rho, two-sided", 10)


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=3, max_size=30))
def test_pearson_is_the_standard_librarys(pairs: list[tuple[int, int]]) -> None:
    found = pearson([float(x) for x, _ in pairs], [float(y) for _, y in pairs])
    if found.defined:
        assert found.statistic == pytest.approx(correlation([x for x, _ in pairs], [y for _, y in pairs]), abs=1e-9)
    else:
        assert "no variation" in found.undefined


@ALL
def test_perfect_order_and_unknown_scores(function: Correlate) -> None:
    found = function([1, 2, None, 3, 4, 5], [2, 4, 7, 6, None, 10])
    assert found.statistic == pytest.approx(1.0) and found.n == 4
    down = function([1, 2, 3, 4], [4, 3, 2, 1])
    assert down.statistic == pytest.approx(-1)


@ALL
def test_undefined_with_a_reason(function: Correlate) -> None:
    assert function([1, 2], [3, 4]).undefined == "2 pairs are fewer than three"
    assert function([1, 2, None], [3, 4, 5]).undefined == "2 pairs are fewer than three"
    assert function([1, 2, 3], [7, 7, 7]).undefined == "no variation: the second score is always 7"
    assert function([0.1 + 0.2, 0.3, 0.3], [1, 2, 3]).undefined == "no variation: the first score is always 0.3"
    with pytest.raises(ValueError, match="same cases"):
        function([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="finite"):
        function([1, 2, float("nan")], [1, 2, 3])


@ALL
def test_without_scipy_the_extra_is_named(function: Correlate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtra, match=r"repoassay\[stats\]"):
        function([1, 2, 3], [1, 2, 4])
