"""What one value is worth: the cheapest way in which a forger comes to it, in bits.

Listed by the guess generator, put together of parts each of which can be guessed, spelt out of pieces of texts that
stand near, or known from another place of the task.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from repoassay.grading.oracle.derive import about
from repoassay.grading.oracle.forms import canonical
from repoassay.grading.oracle.guesses import Common, Guesses, Key, key_of

__all__ = ["BitsPerTest", "KnownValues", "key_of_node"]

_SEQUENCES = {"list": 1, "tuple": 1, "values": 1, "deque": 2, "ChainMap": 1}
_SETS = frozenset({"set", "frozenset", "keys"})
_MAPPINGS = {"dict": 1, "OrderedDict": 1, "Counter": 1, "defaultdict": 2, "items": 1}
_TEXTS = frozenset({"bytes", "bytearray", "memoryview"})
_NOTHING = frozenset({"?", "deep", "up", "digest", "...", "NotImplemented", "type", "function", "method", "module"})
"""Nodes that a forger has no trouble to send, or of which nobody can say what is behind them."""
_INNER = {"sub": 3, "view": 3, "enum": 4, "mappingproxy": 1}
"""Nodes of one value of another type, and where it stands."""
_TEMPORARY = re.compile(r"/tmp(?:/\w+)?/pytest-of-[\w-]+/pytest-\d+[\w./-]*")  # noqa: S108 - only recognised
_LETTER, _PIECE, _LONGEST, _LARGE = 5.0, 2.0, 400, 10**30


def key_of_node(node: Any) -> Key:
    """The key of a value as it comes out of the sandbox."""
    if type(node) is not list:
        return node
    tag = node[0]
    if tag in _SEQUENCES:
        return ("q", *map(key_of_node, node[_SEQUENCES[tag] :]))
    if tag in _SETS:
        return ("u", frozenset(map(key_of_node, node[1:])))
    if tag in _MAPPINGS:
        parts = [key_of_node(part) for part in node[_MAPPINGS[tag] :]]
        if tag == "items":
            return ("u", frozenset(parts))
        return ("d", frozenset(zip(parts[0::2], parts[1::2], strict=True)))
    if tag in _INNER and len(node) > _INNER[tag]:
        return key_of_node(node[_INNER[tag]])
    return _scalar(tag, node)


def _scalar(tag: str, node: list[Any]) -> Key:
    try:
        if tag == "int":
            return int(node[1], 16)
        if tag == "float":
            return key_of(float.fromhex(node[1]))
        if tag == "str":
            return bytes.fromhex(node[1]).decode("utf-8", "surrogatepass")
        if tag in _TEXTS:
            return bytes.fromhex(node[1]).decode("latin-1")
        if tag in ("decimal", "Fraction"):
            return Fraction(node[2]) if tag == "decimal" else Fraction(node[1], node[2])
        if tag in ("pathlib", "ipaddress"):
            return str(node[2])
    except (ValueError, TypeError, IndexError):
        pass
    return ("o", canonical(node))


class KnownValues:
    """Values that a forger of this task has guessed already, and simple functions of them."""

    def __init__(self) -> None:
        self.values: set[Key] = set()
        self._derived: set[Key] = set()

    def add(self, node: Any) -> None:
        """A value that counts from now on nothing, and its parts little."""
        key = key_of_node(node)
        self.values.add(key)
        for value in _plain(node):
            for _, other in about(value):
                try:
                    self._derived.add(key_of(other))
                except (ValueError, OverflowError, RecursionError):
                    continue

    def suggest(self, node: Any) -> None:
        """A value that the base yields: not right where it counts, but worth a try."""
        for value in _plain(node):
            try:
                self._derived.add(key_of(value))
            except (ValueError, OverflowError, RecursionError):
                continue

    def bits(self, key: Key) -> float | None:
        """What a value costs that is known, or a function of what is."""
        if key in self.values:
            return 0.0
        return math.log2(1 + len(self._derived)) if key in self._derived else None


class BitsPerTest:
    """Weighs values that are sent from one place.

    Args:
        guesses: The candidates of this place.
        known: What is known from other places.
        common: What is tried everywhere, of which texts can be pieced together.
    """

    def __init__(self, guesses: Guesses, known: KnownValues, common: Common) -> None:
        self._guesses, self._known, self._base = guesses, known, common.base
        near = [*guesses.around.call, *guesses.around.names, *guesses.around.function]
        texts = [part for value in near for part in _strings(value)]
        self._near = "\0".join(dict.fromkeys(texts))[:20_000].lower()
        self._all = "\0".join(dict.fromkeys([*texts, *common.words]))[:60_000].lower()

    def unlisted(self) -> float:
        """The bits of what a forger does not come to at all: one more than the whole list."""
        return math.log2(max(1, len(self._guesses))) + 1

    def listed(self, key: Key) -> float:
        """The bits of a value by its rank alone."""
        rank = self._guesses.rank(key)
        if not rank:
            return self.unlisted()
        return min(math.log2(rank), math.log2(self._guesses.rank_in_kind(key)) + 1)

    def bits(self, node: Any, depth: int = 0) -> float:
        """What a value is worth; nothing is worth more than what is not listed."""
        if type(node) is list and node[0] in _NOTHING:
            return 0.0
        key = key_of_node(node)
        if isinstance(key, str):
            node = key = _TEMPORARY.sub("", key)  # of the test's own making
        known = self._known.bits(key)
        if known == 0:
            return 0.0
        ways = [self.listed(key)] + ([known] if known is not None else [])
        if isinstance(key, str):
            ways.append(self._spelt(key))
        elif isinstance(key, int | Fraction):
            ways.append(_counted(key))
        parts = _parts(node)
        if parts is not None and depth < 6:
            ways.append(self._together(parts, depth))
        return min(ways)

    def near(self, node: Any, slack: tuple[float, float]) -> float:
        """What a number is worth of which only so much must be right, and each of several."""
        parts = _parts(node)
        if parts is not None:
            return min(self.unlisted(), math.fsum(self.near(part, slack) for part in parts))
        key: Key = key_of_node(node)
        if not isinstance(key, int | Fraction) or self._known.bits(key) == 0:
            return self.bits(node)
        size = float(_apart(key, 0)) if _apart(key, 0) < _LARGE else math.inf
        within = max(slack[0] * size, slack[1])
        if not within < math.inf:  # NaN too
            return 0.0
        tries = (
            place
            for place, other in enumerate(self._guesses, 1)
            if isinstance(other, int | Fraction) and _apart(other, key) <= within
        )
        rank = next(tries, 0)
        scanned = math.log2(1 + size / (2 * within)) + 1 if within and size < math.inf else math.inf
        return min(self.unlisted(), scanned, math.log2(rank) if rank else math.inf, self.bits(node))

    def edge(self, part: str, kind: str) -> float:
        """What a text is worth that must only start or end with a part."""
        fits = str.startswith if kind == "starts" else str.endswith
        tries = (place for place, key in enumerate(self._guesses, 1) if isinstance(key, str) and fits(key, part))
        rank = next(tries, 0)
        return min(self.bits(part), math.log2(rank) if rank else math.inf)

    def _together(self, parts: Sequence[Any], depth: int) -> float:
        """The bits of what is made of parts: the same part again is one of those before; a series goes on by itself."""
        bits, most = 0.0, self.unlisted()
        seen: dict[Key, None] = {}
        numbers: list[Key] = []
        before: Key = ()
        for part in parts:
            key = key_of_node(part)
            number = key if isinstance(key, int | Fraction) else None
            copied = key in self._base and before in self._base
            if copied:
                bits += 0.3  # goes on as a table of the repository does
            elif number is not None and len(numbers) > 1 and number - numbers[-1] == numbers[-1] - numbers[-2]:
                bits += 0.3
            elif key in seen:
                bits += min(1.0, math.log2(len(seen) + 1))
            else:
                bits += self.bits(part, depth + 1)
            seen[key], before = None, key
            numbers = [*numbers[-1:], number] if number is not None else []
            if bits >= most:
                return most
        return bits

    def _spelt(self, text: str) -> float:
        """The bits of a text as pieces copied from texts near or anywhere, and single letters."""
        most = self.unlisted()
        if not text:
            return 0.0
        if len(text) > _LONGEST:
            text = text[:_LONGEST]
        low, at, bits = text.lower(), 0, 0.0
        while at < len(text) and bits < most:
            near, far = _longest(low, at, self._near), _longest(low, at, self._all)
            size, blob = (near, self._near) if 3 * near >= 2 * far else (far, self._all)
            cost = _PIECE + math.log2(len(blob) + 1)
            if size < 2 or cost > _LETTER * size:
                size, cost = 1, _LETTER
            bits += cost
            at += size
        return min(bits, most)


def _apart(one: Fraction | int, other: Fraction | int) -> Fraction:
    return abs(Fraction(one) - Fraction(other))


def _counted(number: Fraction | int) -> float:
    """The bits of a number for who counts: up and down, in tens, in powers of 1024, in decimal places."""
    ways = []
    for factor in (10, 1024, Fraction(1, 10)):
        scaled, power = Fraction(number), 0
        while power < 12 and scaled and (scaled.denominator != 1 or (scaled / factor).denominator == 1):
            scaled, power = scaled / factor, power + 1
        if scaled.denominator == 1:
            ways.append(math.log2(2 * abs(scaled.numerator) + 1) + 2 * math.log2(power + 1) + 1)
    return min(ways, default=math.inf)


def _longest(text: str, at: int, blob: str) -> int:
    size = 0
    while at + size < len(text) and text[at : at + size + 1] in blob:
        size += 1
    return size


def _parts(node: Any) -> list[Any] | None:
    """The values of which another is made; None for one that is whole."""
    if type(node) is not list:
        return None
    tag = node[0]
    if tag in _INNER and len(node) > _INNER[tag]:
        return _parts(node[_INNER[tag]]) if tag != "sub" else [node[3], *node[5::2]]
    if tag in _SEQUENCES:
        return list(node[_SEQUENCES[tag] :])
    if tag in _SETS or tag in _MAPPINGS:
        return list(node[_MAPPINGS.get(tag, 1) :])
    if tag in ("object", "array"):
        return list(node[3::2]) if tag == "object" else list(node[3:])
    if tag == "match":
        return list(node[3:])
    if tag == "exc":
        return [node[3]] if len(node) > 3 else []
    if tag in ("date", "datetime", "time", "timedelta", "range", "slice", "timezone", "complex", "partial"):
        return [part for part in node[1:] if part is not None]
    return None


def _plain(node: Any) -> list[Any]:
    """Python values of the scalars in a node, and of the sequences of scalars."""
    key = key_of_node(node)
    if isinstance(key, str | int):
        return [key]
    if isinstance(key, Fraction):
        return [float(key)]
    if isinstance(key, tuple) and key[0] == "q" and all(isinstance(part, str | int) for part in key[1:]):
        return [list(key[1:])]
    return [found for part in (_parts(node) or [])[:50] for found in _plain(part)]


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, bytes):
        return [value.decode("latin-1")]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in _strings(part)]
    if isinstance(value, list | tuple | set | frozenset):
        return [text for part in value for text in _strings(part)]
    return []
