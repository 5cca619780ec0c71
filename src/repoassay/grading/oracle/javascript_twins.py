"""Twins of rewritten JavaScript tests in which some of what is still judged inside has been turned round.

They doubt what no value outside decides: an assertion that holds fails in its twin, and whoever makes all pass, or none
fail, does not show the pattern that is expected.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from repoassay.grading.oracle.javascript_forms import NAME
from repoassay.grading.oracle.sites import Rewritten, SiteMode

__all__ = ["Twin", "twins"]

_PAIRS = (
    ("equal", "notEqual"), ("strictEqual", "notStrictEqual"), ("deepEqual", "notDeepEqual"),
    ("deepStrictEqual", "notDeepStrictEqual"), ("match", "doesNotMatch"), ("throws", "doesNotThrow"),
    ("rejects", "doesNotReject"),
)  # fmt: skip
_OPPOSITE = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}
_STAYING = re.compile(rf"{NAME}\.(?:observed\((\d+), 2|observed(?:Throw|Reject)\((\d+)), [\w$.]+\.(\w+), ")


@dataclass(frozen=True, slots=True)
class Twin:
    """A test file, and the tests in it that code which passes all of the original must fail."""

    source: str
    failing: frozenset[str]


def twins(found: Rewritten, chance: random.Random, count: int) -> list[Twin]:
    """So many twins, each with assertions turned round by the toss of a coin; some may be the original itself.

    Only observed assertions that every passing run reaches are turned round.
    """
    certain = {site.number: site.test for site in found.sites if site.always and site.mode is SiteMode.OBSERVED}
    copies = []
    for _ in range(count):
        failing: set[str] = set()
        source, at = "", 0
        for match in _STAYING.finditer(found.source):
            number = int(match[1] or match[2])
            if number in certain and match[3] in _OPPOSITE and chance.random() < 0.5:
                failing.add(certain[number])
                source += found.source[at : match.start(3)] + _OPPOSITE[match[3]]
                at = match.end(3)
        copies.append(Twin(source + found.source[at:], frozenset(failing)))
    return copies
