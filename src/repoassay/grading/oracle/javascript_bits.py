"""What a forger of a JavaScript task would have to guess, in bits; coarser than for Python, and on the low side.

Only assertions that a single value satisfies count. Words and numbers that stand in the rewritten file or in the
instruction are guessed first, by their place; small numbers next; a text made of known words counts one step more.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from repoassay.grading.oracle.sites import AssertionSite, Rewritten, SiteMode

if TYPE_CHECKING:
    from repoassay.grading.oracle.reference import Occurrence

__all__ = ["bits_of"]

_HITS = re.compile(r"\b(strictEqual|equal|deepStrictEqual|deepEqual)\s*\(")
_WORD = re.compile(r"[A-Za-z_]+|\d+(?:\.\d+)?")
_MOST = 12.0
"""Bits of a value that is nowhere near: a guesser has some thousands of candidates before it."""
_SMALL = 128


def bits_of(
    files: Mapping[str, Rewritten], expected: Mapping[str, Sequence[Occurrence]], instruction: str = ""
) -> tuple[dict[str, float], float]:
    """Bits of each test, and of the task, in which a value that is expected twice is guessed once."""
    known: set[str] = {json.dumps(node) for each in expected.values() for one in each if not one.telling
                       for node in one.nodes}  # fmt: skip
    bits = dict.fromkeys(expected, 0.0)
    for test, occurrences in expected.items():
        file = files[test.partition("::")[0]]
        sites = {site.number: site for site in file.sites}
        words = list(dict.fromkeys([*_WORD.findall(file.source), *_WORD.findall(instruction)]))
        for one in occurrences:
            if one.stable and one.telling and _hits(sites[one.site]) and len(one.nodes) == 1:
                text = json.dumps(one.nodes[0])
                bits[test] += 0.0 if text in known else min(_MOST, _worth(one.nodes[0], words))
                known.add(text)
    bits = {test: round(each, 1) for test, each in bits.items()}
    return bits, round(math.fsum(bits.values()), 1)


def _hits(site: AssertionSite) -> bool:
    """Whether hardly more than one value satisfies a check."""
    return site.mode is SiteMode.WITHHELD and not site.check.lstrip().startswith("!") and bool(_HITS.search(site.check))


def _worth(node: Any, words: Sequence[str]) -> float:
    return math.fsum(_guess(leaf, words) for leaf in _leaves(node))


def _leaves(node: Any) -> Iterator[Any]:
    if isinstance(node, list):
        for each in node[1:]:
            yield from _leaves(each)
    elif isinstance(node, dict):
        for each in node.values():
            yield from _leaves(each)
    else:
        yield node


def _guess(leaf: Any, words: Sequence[str]) -> float:
    """The logarithm of how many guesses a leaf takes."""
    if leaf is None or isinstance(leaf, bool) or leaf == "":
        return 1.0
    if isinstance(leaf, int | float):
        if str(leaf) in words:
            return min(math.log2(2 + words.index(str(leaf))), 7.0)
        return math.log2(_SMALL) if abs(leaf) < _SMALL and leaf == int(leaf) else min(_MOST, math.log2(2 + abs(leaf)))
    found = _WORD.findall(str(leaf))
    if not found:
        return min(_MOST, 3.0 * len(str(leaf)))
    parts = [math.log2(2 + words.index(word)) if word in words else _MOST for word in found]
    return min(_MOST, math.fsum(parts) + (0.0 if found == [leaf] else 1.0))
