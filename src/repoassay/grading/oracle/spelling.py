"""Other spellings of a literal that a reader cannot tell from its own: one character is another of its class.

Of all others those are taken that are about as likely in the text of the repository, the real one at a random place of
their order: whoever prefers the most or the least usual gains nothing.
"""

from __future__ import annotations

import ast
import math
import re
import secrets
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

__all__ = ["Spelling", "likeness", "spellings"]

_CLASSES = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ESCAPE = re.compile(r"\\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|[0-7]{1,3}|.)", re.DOTALL)
_QUOTED = re.compile(r"([rRbBuU]{0,2})('''|\"\"\"|'|\")")
_CHANCE = secrets.SystemRandom()
_MOST = 8
"""Spellings of one place; two for a word such as True."""
_TEXT, _FILES = 2**21, 400


@dataclass(frozen=True, slots=True)
class Spelling:
    """One place of a literal: offset and width in bytes, spellings in order of likeness, and which is real."""

    at: int
    width: int
    options: tuple[str, ...]
    real: int

    def window(self, size: int) -> tuple[str, ...]:
        """So many neighbours in likeness, the real one at a random place among them but told first."""
        first = _first(self.real, len(self.options), size)
        near = self.options[first : first + size]
        place = self.real - first
        return near[place:] + near[:place]


def _first(real: int, count: int, size: int) -> int:
    return _CHANCE.randint(max(0, real - size + 1), min(real, count - size))


def spellings(literal: str, score: Callable[[str], float], places: int = 3) -> list[Spelling]:
    """Other spellings of a literal at up to so many of its places; those at which its own is neither the most nor the
    least likely come first."""  # fmt: skip
    if literal in ("True", "False"):
        return [Spelling(0, len(literal), ("False", "True"), int(literal == "True"))]
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        return []
    usable = _places(literal, value)
    _CHANCE.shuffle(usable)
    made = [each for at in usable[: 4 * places] if (each := _at(literal, value, at, score))]
    made.sort(key=lambda each: not 0 < each.real < len(each.options) - 1)
    return made[:places]


def _places(literal: str, value: object) -> list[int]:
    """Characters that can be another of their class."""
    if isinstance(value, str | bytes):
        head = _QUOTED.match(literal)
        if head is None:
            return []
        hidden = {at for found in _ESCAPE.finditer(literal) for at in range(*found.span())}
        inside = range(head.end(), len(literal) - len(head[2]))
        return [at for at in inside if at not in hidden and any(literal[at] in each for each in _CLASSES)]
    if isinstance(value, bool | complex) or not re.fullmatch(r"[0-9_]{1,15}\.?[0-9]{0,12}", literal):
        return []
    return [at for at, letter in enumerate(literal) if letter in _CLASSES[0]]


def _at(literal: str, value: object, at: int, score: Callable[[str], float]) -> Spelling | None:
    letters = next(each for each in _CLASSES if literal[at] in each)
    spelt = {letter: literal[:at] + letter + literal[at + 1 :] for letter in letters}
    differs = [letter for letter, text in spelt.items() if letter == literal[at] or _other(text, value)]
    if len(differs) < 2:
        return None
    near = {letter: score(text[max(0, at - 3) : at + 4]) for letter, text in spelt.items()}
    ranked = sorted(differs, key=lambda letter: (near[letter], _CHANCE.random()))
    real, size = ranked.index(literal[at]), min(_MOST, len(ranked))
    first = _first(real, len(ranked), size)
    width = len(literal[:at].encode())
    return Spelling(width, 1, tuple(ranked[first : first + size]), real - first)


def _other(text: str, value: object) -> bool:
    try:
        other = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return type(other) is type(value) and bool(other != value)


def likeness(base: Path) -> Callable[[str], float]:
    """How usual a few characters are in the text of a repository."""
    counts = _counted(base)
    return lambda text: math.fsum(math.log1p(counts[text[at : at + 3]]) for at in range(len(text) - 2))


@lru_cache(maxsize=8)
def _counted(base: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    left = _TEXT
    files = sorted(path for path in base.rglob("*") if path.suffix in (".py", ".md", ".rst", ".txt"))
    for path in files[:_FILES]:
        if path.is_symlink() or not path.is_file() or left <= 0:
            continue
        with path.open("rb") as stream:
            text = stream.read(min(left, 2**17)).decode(errors="replace")
        left -= len(text)
        counts.update(text[at : at + 3] for at in range(len(text) - 2))
    return counts
