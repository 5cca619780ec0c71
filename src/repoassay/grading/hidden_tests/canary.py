"""What a changed test of node's runner has in common with any other: a site, and another value near the real one."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass

__all__ = ["MutationPoint", "other"]

_LETTERS, _DIGITS = string.ascii_lowercase, string.digits


@dataclass(frozen=True, slots=True)
class MutationPoint:
    """One assertion that can be changed: its place among the test function's top-level statements, and how."""

    test: str
    line: int
    kind: str


def other(value: object, chance: random.Random) -> object:
    """Another value of the same kind, near enough to look meant and too far to be taken for equal."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + chance.choice((1, 2, 3) if 0 <= value < 4 else (-3, -2, -1, 1, 2, 3))
    if isinstance(value, float):
        return value + chance.choice((1, 2, 3)) * max(1.0, abs(value)) if abs(value) < 1e300 else 1.5
    if isinstance(value, bytes):
        return str(other(value.decode("latin-1"), chance)).encode("latin-1")
    assert isinstance(value, str)
    places = [at for at, letter in enumerate(value) if letter in _LETTERS or letter in _DIGITS]
    if not places:
        return value + chance.choice(_LETTERS)
    at = chance.choice(places)
    return (
        value[:at]
        + chance.choice((_LETTERS if value[at] in _LETTERS else _DIGITS).replace(value[at], ""))
        + value[at + 1 :]
    )
