"""Other spellings of a literal that a reader cannot tell from its own: one of its words or numbers is another.

The others are as likely where they stand as the real one: all candidates are put in the order of their likeness, and
neighbours are taken, the real one at a random place among them. Whoever prefers the most or the least likely gains
nothing. A word that is likelier than all others (or less likely) is recognised, and counts for nothing.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from repoassay.grading.hidden_tests.parsing import literal_value
from repoassay.grading.oracle.likeness import Likeness

__all__ = ["Spelling", "spellings"]

_CLASSES = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ESCAPE = re.compile(r"\\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|[0-7]{1,3}|.)", re.DOTALL)
_QUOTED = re.compile(r"([rRbBuU]{0,2})('''|\"\"\"|'|\")")
_PARTS = re.compile(r"[A-Za-z]+|[0-9]+")
_CHANCE = secrets.SystemRandom()
_MOST, _CANDIDATES = 8, 400
"""Spellings of one place, and those they are chosen from."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """One place of a literal: offset and width in bytes, spellings in order of likeness, which is real, and whether
    a reader has no reason to prefer one."""  # fmt: skip

    at: int
    width: int
    options: tuple[str, ...]
    real: int
    telling: bool

    def window(self, size: int) -> tuple[str, ...]:
        """So many neighbours in likeness, the real one at a random place among them but told first."""
        first = _first(self.real, len(self.options), size)
        near = self.options[first : first + size]
        place = self.real - first
        return near[place:] + near[:place]


def _first(real: int, count: int, size: int) -> int:
    return _CHANCE.randint(max(0, real - size + 1), min(real, count - size))


def spellings(literal: str, score: Likeness, places: int = 4) -> list[Spelling]:
    """Other spellings of a literal, each at one of its words or numbers; telling ones come first."""
    if literal in ("True", "False"):
        return [Spelling(0, len(literal), ("False", "True"), int(literal == "True"), telling=True)]
    try:
        value = literal_value(literal)
    except (ValueError, SyntaxError):
        return []
    parts = _parts(literal, value)
    _CHANCE.shuffle(parts)
    replacements = [each for span in parts[: 3 * places] if (each := _at(literal, value, span, score))]
    replacements.sort(key=lambda each: not each.telling)
    return replacements[:places]


def _parts(literal: str, value: object) -> list[tuple[int, int]]:
    """Words and numbers that can be others."""
    if isinstance(value, str | bytes):
        head = _QUOTED.match(literal)
        if head is None:
            return []
        hidden = {at for found in _ESCAPE.finditer(literal) for at in range(*found.span())}
        found = _PARTS.finditer(literal, head.end(), len(literal) - len(head[2]))
        return [each.span() for each in found if hidden.isdisjoint(range(*each.span()))]
    if isinstance(value, bool | complex) or not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,12})?", literal):
        return []
    return [each.span() for each in _PARTS.finditer(literal)]


def _at(literal: str, value: object, span: tuple[int, int], score: Likeness) -> Spelling | None:
    before, part, after = literal[: span[0]], literal[span[0] : span[1]], literal[span[1] :]
    others = [each for each in _others(part, score) if _differs(f"{before}{each}{after}", value)]
    if not others:
        return None
    scored = [(score(before, each, after, own=False), _CHANCE.random(), each) for each in others]
    ranked = [each for *_, each in sorted([*scored, (score(before, part, after, own=True), _CHANCE.random(), part)])]
    real = ranked.index(part)
    size = min(_MOST, real + 1, len(ranked) - real)  # so that every rank is as likely
    telling = size > 1
    size = size if telling else min(_MOST, len(ranked))
    first = _first(real, len(ranked), size)
    place, width = len(before.encode()), len(part)
    return Spelling(place, width, tuple(ranked[first : first + size]), real - first, telling)


def _others(part: str, score: Likeness) -> list[str]:
    """Words one character away, and words that occur."""
    changed = [
        part[:at] + letter + part[at + 1 :]
        for at in range(len(part)) for letter in next(each for each in _CLASSES if part[at] in each)
    ]  # fmt: skip
    _CHANCE.shuffle(changed)
    found = dict.fromkeys([*score.vocabulary(part), *changed[:_CANDIDATES]])
    return [each for each in found if each != part]


def _differs(text: str, value: object) -> bool:
    try:
        other = literal_value(text)
    except (ValueError, SyntaxError):
        return False
    return type(other) is type(value) and bool(other != value)
