"""The judge's comparisons answer as pytest and unittest do."""

from __future__ import annotations

import datetime
import math
import unittest
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from repoassay.grading.oracle.comparing import almost, approx, count_equal, raised
from repoassay.grading.oracle.observer import describe_exception
from repoassay.grading.oracle.values import decode

SECOND = datetime.timedelta(seconds=1)
NOON = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)


def outcome(ask: Any) -> Any:
    try:
        return bool(ask())
    except (TypeError, ValueError, ArithmeticError) as error:
        return type(error)


CASES: list[tuple[Any, Any, dict[str, Any]]] = [
    (0.1 + 0.2, 0.3, {}), (1.0001, 1, {}), (1.0001, 1, {"rel": 1e-3}), (1.0001, 1, {"abs": 1e-3}), (1e-13, 0, {}),
    (1e-11, 0, {}), (math.nan, math.nan, {}), (math.nan, math.nan, {"nan_ok": True}), (math.inf, math.inf, {}),
    (1e300, math.inf, {}), (1, True, {}), (True, True, {}), (True, 1, {}), (1 + 1e-9j, 1, {}), (1j, 1.0000001j, {}),
    (Decimal("1.0000001"), Decimal(1), {}), (Decimal("1.1"), Decimal(1), {"abs": Decimal("0.2")}), (1.0, Decimal(1),
    {}),
    (Fraction(1, 3), 1 / 3, {}), ("a", "a", {}), ("a", "b", {}), ("a", 1, {}), (None, None, {}), (None, 1, {}),
    ([1.0000001, 2], [1, 2], {}), ((1.0000001, 2), [1, 2], {}), ([1], [1, 2], {}), ([1, 2], [2, 1], {}),
    ({"a": 1.0000001}, {"a": 1}, {}), ({"b": 1}, {"a": 1}, {}), (1, [1], {}), ([1], 1, {}), ([1], {"a": 1}, {}),
    ([[1]], [[1]], {}), ([{}], [{}], {}), ({1}, {1}, {}), (1, 1.1, {"abs": -1}), (1, 1.1, {"rel": -1}),
    (1, 1.1, {"abs": math.nan}), ([None, "a", 1.0000001], [None, "a", 1], {}), ([math.nan], [math.nan],
    {"nan_ok": True}),
    (NOON, NOON + SECOND, {"abs": 2 * SECOND}), (NOON, NOON + SECOND, {"abs": SECOND / 2}), (NOON, NOON, {}),
    (SECOND, 1.01 * SECOND, {"rel": 0.1}), (b"a", b"a", {}), (range(3), [0, 1, 2], {}), ("ab", ["a", "b"], {}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CASES)))
def test_approx_as_pytest_has_it(number: int) -> None:
    actual, expected, options = CASES[number]
    theirs = outcome(lambda: actual == pytest.approx(expected, **options))
    assert outcome(lambda: actual == approx(expected, **options)) == theirs
    assert outcome(lambda: approx(expected, **options) == actual) == theirs


NUMBERS = st.floats() | st.integers(-(10**9), 10**9)


@example(0, math.inf, 0.0, None)
@given(NUMBERS, NUMBERS | st.just(0), st.none() | st.floats(0, 1), st.none() | st.floats(0, 10))
def test_approx_over_numbers(actual: float, expected: float, rel: float | None, absolute: float | None) -> None:
    theirs = outcome(lambda: actual == pytest.approx(expected, rel=rel, abs=absolute))
    assert outcome(lambda: actual == approx(expected, rel=rel, abs=absolute)) == theirs


def asserts(method: str, *arguments: Any, **named: Any) -> Any:
    try:
        getattr(unittest.TestCase(), method)(*arguments, **named)
    except AssertionError:
        return False
    except TypeError as error:
        return type(error)
    return True


@pytest.mark.parametrize(
    ("first", "second", "options"),
    [(1.00000001, 1, {}), (1.0000001, 1, {}), (1.1, 1, {"places": 0}), (1.1, 1, {"delta": 0.2}),
     (1, 1, {"places": 1, "delta": 1}),
     (2, 1, {"places": 1, "delta": 1}), ("a", "a", {}), ("a", "b", {}), (math.nan, math.nan, {}), (1j, 1, {}),
     (NOON, NOON + SECOND, {"delta": SECOND})],
)  # fmt: skip
def test_almost_as_unittest_has_it(first: Any, second: Any, options: dict[str, Any]) -> None:
    assert outcome(lambda: almost(first, second, **options)) == asserts("assertAlmostEqual", first, second, **options)


@pytest.mark.parametrize(
    ("first", "second"),
    [([1, 2, 2], (2, 1, 2)), ([1, 2], [1, 1]), ([[1], [2]], [[2], [1]]), ([[1], [1]], [[1], [2]]), ("ab", "ba"), ([],
     [1]),
     ([1], 1), ([1, "a"], ["a", True])],
)  # fmt: skip
def test_count_equal_as_unittest_has_it(first: Any, second: Any) -> None:
    assert outcome(lambda: count_equal(first, second)) == asserts("assertCountEqual", first, second)


def test_raised() -> None:
    found = decode(describe_exception(KeyError("abc")))
    assert raised(found, "builtins.LookupError")
    assert raised(found, ["builtins.OSError", "builtins.KeyError"], "b.")
    assert not raised(found, "builtins.KeyError", "^b")
    assert not raised(found, "builtins.OSError")
    assert not raised("KeyError", "builtins.KeyError")
    assert not raised(None, "builtins.object")
