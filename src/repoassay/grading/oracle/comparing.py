"""Comparisons that withheld checks call: `approx` as pytest has it, and what `unittest` calls almost and count equal.

Runs in the judge's sandbox; the standard library only.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from numbers import Complex
from typing import Any

from repoassay.grading.oracle.values import RaisedValue

__all__ = ["almost", "approx", "count_equal", "raised", "searched"]


def approx(expected: Any, rel: Any = None, abs: Any = None, nan_ok: bool = False) -> Any:
    """A stand-in for `expected` that equals what is near; see `pytest.approx`."""
    if isinstance(expected, Mapping):
        return _Many({key: _one(value, rel, abs, nan_ok) for key, value in expected.items()})
    if isinstance(expected, Sequence) and not isinstance(expected, (str, bytes)):
        return _Many([_one(value, rel, abs, nan_ok) for value in expected])
    if isinstance(expected, Collection) and not isinstance(expected, (str, bytes)):
        raise TypeError("approx() takes ordered collections only")
    return _one(expected, rel, abs, nan_ok)


def _one(expected: Any, rel: Any, absolute: Any, nan_ok: bool) -> Any:
    if isinstance(expected, (Mapping, list, tuple)):
        raise TypeError("approx() takes no nested collections")
    if isinstance(expected, (datetime.datetime, datetime.timedelta)):
        return _Near(expected, _span(expected, rel, absolute))
    number = isinstance(expected, (Complex, Decimal)) and not issubclass(type(expected), bool)
    return _Near(expected, _tolerance(expected, rel, absolute) if number else None, nan_ok)


def _span(expected: Any, rel: Any, absolute: Any) -> datetime.timedelta:
    if absolute is None and (rel is None or isinstance(expected, datetime.datetime)):
        raise TypeError("approx() needs a tolerance for times")
    spans: list[datetime.timedelta] = [absolute] if absolute is not None else []
    if rel is not None:
        spans.append(abs(expected) * rel)
    return max(spans)


def _tolerance(expected: Any, rel: Any, absolute: Any) -> Any:
    number: Any = Decimal if isinstance(expected, Decimal) else lambda value: value
    least = number(absolute if absolute is not None else number("1e-12") if number is Decimal else 1e-12)
    if math.isnan(least) or least < 0:
        raise ValueError("absolute tolerance can't be negative or NaN")
    if (rel is None and absolute is not None) or not math.isfinite(abs(expected)):
        return least  # of what is infinite or no number, equality alone counts
    relative = number(rel if rel is not None else number("1e-6") if number is Decimal else 1e-6) * abs(expected)
    if math.isnan(relative):
        raise ValueError("relative tolerance can't be NaN")
    if relative < 0:
        raise ValueError("relative tolerance can't be negative")
    return max(relative, least)


class _Near:
    """Equal to everything within a tolerance; without one, to what is equal."""

    __hash__ = None  # type: ignore[assignment]  # how Python spells that equal things need not hash alike

    def __init__(self, expected: Any, tolerance: Any, nan_ok: bool = False) -> None:
        self._expected, self._tolerance, self._nan_ok = expected, tolerance, nan_ok

    def __eq__(self, actual: object) -> bool:
        expected = self._expected
        if isinstance(expected, bool) and not isinstance(actual, bool):
            return False
        if actual == expected:
            return True
        times = isinstance(expected, (datetime.datetime, datetime.timedelta))
        if self._tolerance is None or not isinstance(actual, type(expected) if times else (Complex, Decimal)):
            return False
        near: Any = actual
        if not times:
            if math.isnan(abs(expected)):
                return bool(self._nan_ok and math.isnan(abs(near)))
            if math.isinf(abs(expected)):
                return False
        return bool(abs(expected - near) <= self._tolerance)


class _Many:
    """A mapping or sequence of what is near."""

    __hash__ = None  # type: ignore[assignment]  # how Python spells that equal things need not hash alike

    def __init__(self, expected: Any) -> None:
        self._expected = expected

    def __eq__(self, actual: object) -> bool:
        expected = self._expected
        try:
            if len(actual) != len(expected):  # type: ignore[arg-type]  # TypeError is caught below
                return False
            if isinstance(expected, dict):
                if not isinstance(actual, Mapping) or set(actual) != set(expected):
                    return False
                return all(expected[key] == actual[key] for key in expected)
            return all(near == value for near, value in zip(expected, actual, strict=True))  # type: ignore[call-overload]
        except TypeError:
            return False


def almost(first: Any, second: Any, places: int | None = None, delta: Any = None) -> bool:
    """What `assertAlmostEqual` asserts."""
    if first == second:
        return True
    if places is not None and delta is not None:
        raise TypeError("specify delta or places not both")
    difference = abs(first - second)
    if delta is not None:
        return bool(difference <= delta)
    return bool(round(difference, 7 if places is None else places) == 0)


def count_equal(first: Any, second: Any) -> bool:
    """What `assertCountEqual` asserts."""
    left, right = list(first), list(second)
    try:
        return Counter(left) == Counter(right)
    except TypeError:
        for item in left:
            if item not in right:
                return False
            right.remove(item)
        return not right


def raised(value: Any, names: Any, match: Any = None) -> bool:
    """Whether it is an exception of one of the classes `names`, and its text matches as `pytest.raises` has it."""
    if not isinstance(value, RaisedValue):
        return False
    wanted = (names,) if isinstance(names, str) else tuple(names)
    if not any(name in value.names for name in wanted):
        return False
    return match is None or (isinstance(value.text, str) and re.search(match, value.text) is not None)


def searched(pattern: Any, text: Any) -> bool:
    """Whether unittest's `assertRegex` would find the pattern."""
    return re.search(pattern, text) is not None
