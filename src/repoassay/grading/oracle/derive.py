"""Simple functions of literals, as a forger would try them: each with how far-fetched it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

__all__ = ["about", "about_two"]

_JOINTS = ("", " ", "-", "_", ",", ", ", ".", ":", "/", "=", "\n", "\t", ": ", " and ")
_SPLITS = (",", "-", "_", ".", ":", "/", ";", "=", "\n", "\t", "|")
_WRAPS = (
    "'{}'",
    '"{}"',
    "({})",
    "[{}]",
    "<{}>",
    "{}\n",
    " {}",
    "{} ",
    "{}s",
    "{}:",
    "-{}",
    "--{}",
    "#{}",
    "`{}`",
    "{}.",
)
_LONG, _LARGE = 200, 10**30


def about(value: Any) -> Iterator[tuple[int, Any]]:
    """Functions of one literal."""
    yield 0, value
    if value is None or isinstance(value, bool):
        return
    yield 2, [value]
    yield 3, (value, value)
    if isinstance(value, int | float):
        if abs(value) < _LARGE:  # neither infinite nor NaN
            yield from _number(value)
    elif isinstance(value, str | bytes):
        yield from _text(value if isinstance(value, str) else value.decode("latin-1"))
    elif isinstance(value, list | tuple):
        yield from _sequence(list(value))
    elif isinstance(value, set | frozenset):
        yield from _sequence(sorted(value, key=repr))
    elif isinstance(value, dict):
        yield from _mapping(value)


def _number(value: float) -> Iterator[tuple[int, Any]]:
    for other in (value + 1, value - 1, -value):
        yield 2, other
    yield 2, str(value)
    for other in (value * 2, value / 2, value * 10, value / 10, value * 100, value / 100, abs(value), round(value)):
        yield 3, other
    if abs(value) < 10**6:
        for other in (value * 1000, value * 1024, value / 1000, value / 1024, value**2, value + 2, value - 2,
                      round(value * 1024**2), value * 10**6, value % 10, value % 7):  # fmt: skip
            yield 4, other
    if isinstance(value, int) and 0 <= value <= 50:
        yield 3, list(range(value))
        yield 3, list(range(1, value + 1))
        yield 4, [None] * value
    yield 4, f"-{value}"
    yield 4, f"{value:,}"
    yield 4, f"{value:.1f}"
    yield 4, f"{value:.2f}"
    yield 4, f"{value}.0"


def _text(value: str) -> Iterator[tuple[int, Any]]:
    if not value:
        return
    yield 1, value.strip()
    for other in (value.upper(), value.lower(), value.title(), value.capitalize(), value.swapcase(), len(value)):
        yield 2, other
    words = value.split()
    yield 2, words
    if len(words) > 1:
        for word in words[:40]:
            yield 2, word
        for joint in ("_", "-", "", ",", ", "):
            yield 3, joint.join(words)
            yield 3, joint.join(words).lower()
        yield 3, " ".join(words)
        yield 4, " ".join(reversed(words))
        for count in range(1, min(len(words), 8)):
            yield 4, " ".join(words[:count])
            yield 4, " ".join(words[count:])
            yield 4, words[:count]
    yield from _parsed(value)
    if len(value) <= _LONG:
        yield from _short(value)


def _parsed(value: str) -> Iterator[tuple[int, Any]]:
    for kind in (int, float):
        try:
            number = kind(value.replace(",", ""))
        except (ValueError, OverflowError):
            continue
        if not abs(number) < _LARGE:
            continue
        yield 1, number
        for distance, other in _number(number):
            yield 1 + distance, other
    for mark in _SPLITS:
        if mark not in value:
            continue
        parts = value.split(mark)
        yield 3, parts
        stripped = [part.strip() for part in parts]
        yield 3, stripped
        yield 4, [part for part in stripped if part]
        for part in stripped[:40]:
            yield 3, part
            if part.lstrip("-").isdigit():
                yield 3, int(part)
        if all(part.lstrip("-").isdigit() for part in stripped):
            yield from ((3 + far, result) for far, result in _sequence([int(part) for part in stripped]))
        for other in ("", " ", "_", "-"):
            yield 4, value.replace(mark, other)


def _short(value: str) -> Iterator[tuple[int, Any]]:
    yield 3, list(value)
    yield 3, value[::-1]
    yield 3, value.casefold().replace(" ", "-")
    yield 3, "".join(letter for letter in value if letter.isalnum())
    for wrap in _WRAPS:
        yield 4, wrap.format(value)
    for cut in range(1, min(len(value), 12)):
        yield 4, value[:cut]
        yield 4, value[cut:]
        yield 4, value[:-cut]
        yield 4, value[-cut:]
    for letter in sorted(set(value))[:20]:
        yield 5, letter
        yield 5, value.replace(letter, "")
        yield 5, value.count(letter)
        yield 5, value.find(letter)


def _sequence(value: list[Any]) -> Iterator[tuple[int, Any]]:
    yield 2, len(value)
    for part in value[:20]:
        yield 1, part
    yield 2, value[::-1]
    for cut in range(1, min(len(value), 8)):
        yield 3, value[:cut]
        yield 3, value[cut:]
        yield 4, value[:-cut]
    for place in range(min(len(value), 8)):
        yield 3, value[:place] + value[place + 1 :]
    if len(value) > 30:
        return
    seen = {repr(part): part for part in value}
    yield 3, list(seen.values())
    try:
        for variant in (sorted(value), sorted(value, reverse=True)):
            yield 2, variant
        yield 3, max(value, default=None)
        yield 3, min(value, default=None)
    except TypeError:
        pass
    if all(isinstance(part, int | float) for part in value):
        yield 2, sum(value)
        yield 3, sum(value) / max(1, len(value))
        yield 3, [part + 1 for part in value]
        yield 3, [-part for part in value]
    if all(isinstance(part, str) for part in value):
        for joint in _JOINTS:
            yield 2, joint.join(value)
        yield 3, [part.upper() for part in value]
        yield 3, [part.lower() for part in value]
    yield 3, [[part] for part in value]
    yield 3, list(enumerate(value))
    yield 4, [part for part in value if part]
    if value and all(isinstance(part, list | tuple) and len(part) == 2 for part in value):
        yield 3, [part[0] for part in value]
        yield 3, [part[1] for part in value]


def _mapping(value: dict[Any, Any]) -> Iterator[tuple[int, Any]]:
    yield 2, list(value)
    yield 2, list(value.values())
    yield 2, list(value.items())
    yield 2, len(value)
    for key, held in list(value.items())[:20]:
        yield 1, key
        yield 1, held
        yield 3, {key: held}
        yield 3, {other: kept for other, kept in value.items() if other != key}
    if all(isinstance(held, str | int) for held in value.values()):
        yield 3, {held: key for key, held in value.items()}


def about_two(values: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Functions of two of some literals."""
    for one, two in product(values, repeat=2):
        if one is two:
            continue
        yield 1, [one, two]
        if isinstance(one, str | int) or one is None:
            yield 2, {one: two}
        if isinstance(one, int | float) and isinstance(two, int | float):
            if abs(one) < _LARGE and abs(two) < _LARGE:
                yield from _two_numbers(one, two)
        elif isinstance(one, str) and isinstance(two, str) and len(one) + len(two) <= _LONG:
            for joint in _JOINTS:
                yield 1 + bool(joint), f"{one}{joint}{two}"
            if two and two in one:
                yield 2, one.replace(two, "")
                yield 2, one.split(two)
            if len(two) > 1:
                yield 3, two.join(one)
        elif isinstance(one, str) and isinstance(two, int) and len(one) <= _LONG:
            yield 1, one[:two]
            yield 2, one[two:]
            if abs(two) < 100:
                yield 2, one * min(two, 20)
            for joint in ("", " ", "-", "_", ":"):
                yield 2, f"{one}{joint}{two}"
                yield 2, f"{two}{joint}{one}"
        elif isinstance(one, list | tuple) and isinstance(two, int) and not isinstance(two, bool):
            yield 1, list(one)[:two]
            yield 2, list(one)[two:]
            if two > 0:
                yield 2, [list(one)[at : at + two] for at in range(0, len(one), two)]
        elif isinstance(one, list | tuple) and isinstance(two, list | tuple):
            yield 1, [*one, *two]
            yield 2, list(zip(one, two, strict=False))
        elif isinstance(one, dict) and isinstance(two, dict):
            yield 1, {**one, **two}


def _two_numbers(one: float, two: float) -> Iterator[tuple[int, Any]]:
    yield 1, one + two
    yield 1, one - two
    if abs(one) < 10**9 and abs(two) < 10**9:
        yield 1, one * two
        if two:
            yield 1, one / two
            yield 2, one // two
            yield 2, one % two
    if isinstance(one, int) and isinstance(two, int) and 0 < two - one <= 100:
        yield 2, list(range(one, two))
        yield 2, list(range(one, two + 1))
