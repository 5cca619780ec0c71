"""What a forger would have to guess, in bits: the rank of each right value in the list of a guess generator."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from repoassay.grading.oracle.forms import canonical
from repoassay.grading.oracle.sites import Rewritten

if TYPE_CHECKING:
    from repoassay.grading.oracle.reference import Occurrence

__all__ = ["bits_of"]


def bits_of(
    files: Mapping[str, Rewritten], expected: Mapping[str, Sequence[Occurrence]]
) -> tuple[dict[str, float], float]:
    """Bits of each test, and of the task, in which a value that is expected twice is guessed once."""
    known: set[str] = set()
    bits: dict[str, float] = {}
    for test, occurrences in expected.items():
        source = files[test.partition("::")[0]].source
        bits[test] = 0.0
        for one in occurrences:
            text = canonical(one.nodes)
            if one.stable and one.telling and text not in known:
                known.add(text)
                bits[test] += 3.0 if text[1:-1] in source or len(text) < 6 else 13.0
    return bits, math.fsum(bits.values())
