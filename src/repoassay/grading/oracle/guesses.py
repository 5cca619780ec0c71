"""What a forger who cannot solve the task would try, in order of plausibility: candidates for each value that is sent.

A forger reads the rewritten test, the instruction and the repository, and tries: what functions usually return, the
literals that stand near, simple functions of one or two of them. Two lists are merged: one of the place, one of the
file. `rank` tells how many tries a value takes.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from repoassay.grading.oracle.derive import about, about_two
from repoassay.grading.oracle.literals import Around, LiteralReader, told_in

__all__ = ["Common", "Guesses", "Key", "key_of"]

Key = Any
"""What is the same to a forger: 1, 1.0 and True; a list and a tuple; a text and its bytes."""
_PAIRED, _MOST = 14, 6000
_GENERIC: tuple[tuple[int, Sequence[Any]], ...] = (
    (0, (None, True, False, 0, 1, "", [], {}, 2, -1)),
    (2, (*range(3, 11), "a", "b", "c", "x", "y", "foo", "bar", [None], [1], [1, 2], [1, 2, 3], [0], [""], ["a"],
         ["a", "b"], ["a", "b", "c"], 0.5, 1.5, 100, "None", "True", "False", "\n", " ", [[]], ["b"], ["c"], [2], [3])),
    (4, (*range(11, 65), *range(-10, -1), *(2**power for power in range(7, 17)), 1000, 10000, 100000, 10**6, 10**9,
         1024**2, 1024**3, 0.1, 0.25, 0.75, 2.5, 3.5, 1e-6, "error", "ok", "yes", "no", "name", "value", "key", "test",
         "default", "id", "0", "1", "2", "3", "hello", "world", "A", "B", "C", "d", "e", "X", "utf-8", "int", "str",
         "list", "dict", "float", "tuple", "set", "bool", "NoneType", "generator", [0, 1], [0, 1, 2], [1, 2, 3, 4],
         [2, 1], [3, 2, 1], [True], [False])),
    (6, (*range(65, 1025), *range(-100, -10), *map(str, range(4, 101)), *(number / 10 for number in range(1, 100)),
         *map(chr, range(33, 127)))),
)  # fmt: skip


def key_of(value: Any) -> Key:
    """The key of a Python value."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return Fraction(str(value)) if math.isfinite(value) else ("f", str(value))
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, list | tuple):
        return ("q", *map(key_of, value))
    if isinstance(value, set | frozenset):
        return ("u", frozenset(map(key_of, value)))
    if isinstance(value, dict):
        return ("d", frozenset((key_of(key), key_of(held)) for key, held in value.items()))
    return ("o", repr(value))


def kind_of(key: Key) -> str:
    """What sort of value it is, which a forger often knows."""
    if isinstance(key, tuple):
        return str(key[0])
    return "text" if isinstance(key, str) else "none" if key is None else "number"


class _Ordered:
    """Candidates in order, each once, with how far-fetched each is."""

    def __init__(self, candidates: Iterable[tuple[int, Any]], most: int) -> None:
        found: dict[Key, int] = {}
        for far, value in itertools.islice(candidates, 4 * most):
            try:
                key = key_of(value)
                if far < found.get(key, 99):
                    found[key] = far
            except (ValueError, OverflowError, RecursionError):
                continue
        self.keys = sorted(found, key=found.__getitem__)[:most]
        self.far = [found[key] for key in self.keys]
        self.at = {key: place for place, key in enumerate(self.keys)}
        self.of_kind: dict[str, list[int]] = {}
        for place, key in enumerate(self.keys):
            self.of_kind.setdefault(kind_of(key), []).append(place)

    def before(self, far: int) -> int:
        """How many are less far-fetched."""
        return bisect.bisect_left(self.far, far)

    def through(self, far: int) -> int:
        """How many are as far-fetched, or less."""
        return bisect.bisect_right(self.far, far)


class Common:
    """What is tried at every value of a file.

    Args:
        reader: The file.
        instruction: What the task asks.
        base: Literals of the repository's modules that the file imports.
    """

    def __init__(self, reader: LiteralReader, instruction: str = "", base: Sequence[Any] = ()) -> None:
        self.reader = reader
        literals = told_in(instruction)
        self.words = [word for word in (*reader.file, *literals, *base) if isinstance(word, str)]
        self.list = _Ordered(self._candidates(literals, base), 5 * _MOST)
        self.base = {key for value in base for key in _keys(value)}

    def _candidates(self, literals: Sequence[Any], base: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        yield from ((far, value) for far, values in _GENERIC for value in values)
        for start, values in ((1, literals), (3, self.reader.file), (6, base)):
            for value in values:
                yield from ((start + far, guess) for far, guess in about(value))


def _keys(value: Any) -> Iterator[Key]:
    """Keys of a value and of everything in it."""
    yield key_of(value)
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _keys(part)


class Guesses:
    """The candidates for one value, first the most plausible.

    Args:
        common: What is tried everywhere.
        around: What stands around the value.
    """

    def __init__(self, common: Common, around: Around) -> None:
        self.around, self._common = around, common.list
        self._own = _Ordered(self._candidates(around), _MOST)
        self._twice = sorted(self._sooner(key) for key in self._own.at if key in self._common.at)

    def __len__(self) -> int:
        return len(self._own.keys) + len(self._common.keys) - len(self._twice)

    def __iter__(self) -> Iterator[Key]:
        """Every candidate once, in order."""
        seen: set[Key] = set()
        own, common = self._own, self._common
        pairs = ((far, 0, place, key) for place, (far, key) in enumerate(zip(own.far, own.keys, strict=True)))
        others = ((far, 1, place, key) for place, (far, key) in enumerate(zip(common.far, common.keys, strict=True)))
        for *_, key in sorted(itertools.chain(pairs, others), key=lambda entry: entry[:3]):
            if key not in seen:
                seen.add(key)
                yield key

    def rank(self, key: Key) -> int:
        """How many tries it takes to come to a value; 0 for one that is not tried."""
        own, common = self._own.at.get(key), self._common.at.get(key)
        places = [self._place(0, own)] if own is not None else []
        places += [self._place(1, common)] if common is not None else []
        if not places:
            return 0
        first = min(places)
        return first + 1 - bisect.bisect_left(self._twice, first)

    def rank_in_kind(self, key: Key) -> int:
        """How many tries it takes for who knows what sort of value it is; 0 for one that is not tried."""
        kind, best = kind_of(key), 0
        for mine, other, late in ((self._own, self._common, False), (self._common, self._own, True)):
            at = mine.at.get(key)
            if at is None:
                continue
            edge = other.through(mine.far[at]) if late else other.before(mine.far[at])
            tries = sum(
                bisect.bisect_left(each.of_kind.get(kind, []), end) for each, end in ((mine, at), (other, edge))
            )
            best = min(best or tries + 1, tries + 1)
        return best

    def _place(self, which: int, at: int) -> int:
        """The position in both lists merged, with what stands in both counted twice."""
        if which == 0:
            return at + self._common.before(self._own.far[at])
        return at + self._own.through(self._common.far[at])

    def _sooner(self, key: Key) -> int:
        """The later position of a candidate in both lists, which is not tried again."""
        return max(self._place(0, self._own.at[key]), self._place(1, self._common.at[key]))

    def _candidates(self, around: Around) -> Iterator[tuple[int, Any]]:
        if around.shape == "not":
            yield from ((-2, False), (-1, True))
        if around.shape in _COUNTS:
            yield from ((-1, number) for number in range(13))
        near = [*around.call, *around.names]
        for start, values in ((0, around.call), (1, around.names), (2, around.function)):
            for value in values:
                yield from ((start + far, guess) for far, guess in about(value))
        yield from ((2 + far, guess) for far, guess in about_two(near[:_PAIRED]))
        yield from ((4 + far, guess) for far, guess in about_two(around.function[:_PAIRED]))


_COUNTS = frozenset({"len", "count", "index", "find", "sum", "currsize", "number_of_nodes", "number_of_edges"})
