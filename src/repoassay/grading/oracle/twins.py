"""Draws twins: copies of the tests side by side, in each of which every test is real or altered, nobody can tell which.

Whoever reads all copies sees that they differ, and in what. So that this does not tell which is real, the copies of a
test run through every combination of what is altered in it, each as often: no spelling is the majority, none the centre
of the others. To be believed, a forger must name the one real combination of every test. That is what it costs, in
bits: the logarithm of their number, summed over the tests that fail on the base; the others pass there by themselves.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from repoassay.grading.oracle.alteration import Alterable, alter

__all__ = ["ENOUGH", "MOST", "TwinSite", "TwinUnit", "Twins", "draw"]

ENOUGH = 20.0
"""Bits that the tests of a verdict together are to cost."""
MOST = 24
"""Combinations of a test."""
_LEAST = 2.0
"""Bits of each test, where it can be had."""
_INVERTED = 0.5
"""How often an assertion without a literal is doubted beside those with one."""


@dataclass(frozen=True, slots=True)
class TwinSite:
    """An alterable place, and the tests (a function's rows) that it makes fail."""

    place: Alterable
    fails: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TwinUnit:
    """A test function: `FILE::NAME`, the ids of its tests in order, what can be altered in it, whether that is proven
    on the reference."""  # fmt: skip

    name: str
    ids: tuple[str, ...]
    sites: tuple[TwinSite, ...]
    proven: bool = True

    @property
    def file(self) -> str:
        """The file that holds it."""
        return self.name.partition("::")[0]


@dataclass(frozen=True, slots=True)
class Twins:
    """Copies of the test files.

    Attributes:
        copies: For each copy, the text of every file that holds a doubted test.
        altered: For each copy, the sites of each unit that are altered in it; none in a real one.
        bits: What naming the real ones costs, by unit.
    """

    copies: tuple[dict[str, str], ...]
    altered: tuple[dict[str, tuple[TwinSite, ...]], ...]
    bits: dict[str, float]


def draw(
    units: Sequence[TwinUnit], sources: Mapping[str, str], decisive: int, chance: random.Random, most: int = MOST
) -> Twins:
    """Draw copies in which each unit occurs in all its combinations.

    Args:
        units: What is doubted.
        sources: Texts of their files.
        decisive: How many of them a forger must forge.
        chance: Where the draw comes from.
        most: Copies at most.
    """
    goal = max(_LEAST, ENOUGH / max(1, decisive))
    grids = {unit.name: _combinations(unit, goal, chance, most) for unit in units}
    count = max(map(len, grids.values()), default=0)
    columns = {name: _spread(grid, count, chance) for name, grid in grids.items()}
    copies, changed = [], []
    for number in range(count):
        chosen: dict[str, dict[Alterable, int]] = {unit.file: {} for unit in units}
        sites: dict[str, tuple[TwinSite, ...]] = {}
        for unit in units:
            combination = columns[unit.name][number]
            chosen[unit.file] |= {site.place: option for site, option in combination.items()}
            sites[unit.name] = tuple(site for site, option in combination.items() if option)
        copies.append({file: alter(sources[file], each) for file, each in chosen.items()})
        changed.append(sites)
    bits = {unit.name: _worth(grids[unit.name]) for unit in units}
    return Twins(tuple(copies), tuple(changed), bits)


def _combinations(unit: TwinUnit, goal: float, chance: random.Random, most: int) -> list[dict[TwinSite, int]]:
    """Every combination of some spellings at some places, the real one among them.

    What is recognised anyhow, a failure at the end, stands in every copy: a real one beside it would tell nothing.
    """
    sizes = _sizes(unit, goal, chance, most)
    kept = {
        site: [*([] if site.place.ending else [0]), *chance.sample(range(1, len(site.place.options)), size - 1)]
        for site, size in sizes.items()
    }
    return [dict(zip(kept, each, strict=True)) for each in product(*kept.values())]


def _sizes(unit: TwinUnit, goal: float, chance: random.Random, most: int) -> dict[TwinSite, int]:
    """How many spellings of which places: of as many places as it takes, then of more spellings."""
    telling = [site for site in unit.sites if site.place.telling]
    others = [site for site in unit.sites if not site.place.telling]
    chance.shuffle(telling)
    chance.shuffle(others)
    if others and telling and chance.random() < _INVERTED and others[0].place.statement:
        own = others[0].place.statement  # inverted and altered, it would hold again
        apart = [site for site in telling if site.place.statement not in (0, own)]
        telling, others = (apart, others[:1]) if apart else (telling, [])
    else:
        others = [] if telling else _apart(others)[:2]
    sizes = dict.fromkeys(others, 2)  # what holds no literal is doubted too
    for site in telling:
        if _bits(sizes) < goal and 2 * math.prod(sizes.values()) <= most:
            sizes[site] = 2
    for site in telling * 8:
        size = sizes.get(site, 1)
        wider = math.prod(sizes.values()) // size * (size + 1)
        if _bits(sizes) < goal and size < len(site.place.options) and wider <= most:
            sizes[site] = size + 1
    return sizes


def _apart(sites: Sequence[TwinSite]) -> list[TwinSite]:
    """One site of each statement, none of which can undo what another does."""
    found = {site.place.statement: site for site in sites}
    shared = found.pop(0, None)
    return list(found.values()) or ([shared] if shared else [])


def _bits(sizes: Mapping[TwinSite, int]) -> float:
    return math.fsum(math.log2(size) for site, size in sizes.items() if site.place.telling)


def _worth(grid: Sequence[Mapping[TwinSite, int]]) -> float:
    """The bits of a grid: its places that a reader cannot tell by themselves."""
    return math.log2(len({tuple(option for site, option in each.items() if site.place.telling) for each in grid}))


def _spread(grid: Sequence[dict[TwinSite, int]], count: int, chance: random.Random) -> list[dict[TwinSite, int]]:
    """Combinations for so many copies, each as often as any other or once more, in random order."""
    found = [*grid] * (count // len(grid))
    found += chance.sample(grid, count - len(found))
    chance.shuffle(found)
    return found
