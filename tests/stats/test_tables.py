"""Fisher's exact test: worked tables, the hypergeometric sum, and a missing scipy."""

from __future__ import annotations

import sys
from math import comb

import pytest
from hypothesis import given, strategies as st

from repoassay.errors import MissingExtra
from repoassay.stats import fisher

GROUP = st.integers(1, 25).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_the_worked_tables() -> None:
    assert fisher((4, 15), (0, 15)).p_value == pytest.approx(0.09962, abs=5e-6)
    core = fisher((11, 11), (1, 4))
    assert core.p_value == pytest.approx(0.00879, abs=5e-6)
    assert (core.method, core.n, core.statistic) == ("Fisher exact, two-sided, 11/11 against 1/4", 15, 0.75)
    for first, second in (((10, 11), (4, 4)), ((8, 9), (3, 4)), ((8, 11), (3, 4)), ((7, 11), (2, 4))):
        assert fisher(first, second).p_value == pytest.approx(1.0)


@given(GROUP, GROUP)
def test_it_sums_the_tables_that_are_no_likelier(first: tuple[int, int], second: tuple[int, int]) -> None:
    (a, m), (b, n) = first, second
    weights = [comb(m, i) * comb(n, a + b - i) for i in range(max(0, a + b - n), min(m, a + b) + 1)]
    seen = comb(m, a) * comb(n, b)
    found = fisher(first, second)
    assert found.p_value == pytest.approx(sum(w for w in weights if w <= seen) / comb(m + n, a + b), abs=1e-9)
    swapped = fisher(second, first)
    assert swapped.p_value == pytest.approx(found.p_value)


def test_what_cannot_be_asked() -> None:
    assert fisher((0, 0), (1, 2)).undefined == "one of the groups is empty"
    with pytest.raises(ValueError, match="impossible"):
        fisher((3, 2), (1, 2))


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingExtra, match=r"repoassay\[stats\]"):
        fisher((1, 2), (1, 2))
