"""Who rates what, and in which order: pure functions of seeds."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from repoassay.errors import BadInput

__all__ = ["QueuePlace", "design", "next_item", "order"]


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """An item in a rater's order, and whether that rater has submitted it."""

    item: str
    position: int
    submitted: bool = False


def order(seed: int, number: int, items: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return one rater's order of items, the same whenever it is asked for.

    Systems are spread evenly over the whole order, and which of them comes first rotates from rater to rater (a Latin
    square), so that neither learning nor fatigue falls on one system.

    Args:
        seed: The study's.
        number: The rater's number, from 0 in order of joining.
        items: Names of items with the system that made each; their order does not matter.

    Raises:
        ValueError: When an item appears twice.
    """
    names = [item for item, _ in items]
    if len(set(names)) != len(names):
        raise ValueError("an item appears twice")
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for item, system in sorted(items):
        groups[system].append(item)
    systems = sorted(groups)
    random.Random(f"systems:{seed}").shuffle(systems)  # noqa: S311 - an order to be repeated, not a secret
    own = random.Random(f"order:{seed}:{number}")  # noqa: S311 - the same
    placed: list[tuple[float, int, str]] = []
    for rank, system in enumerate(systems):
        group = groups[system]
        own.shuffle(group)
        for turn, item in enumerate(group):
            placed.append(((turn + 0.5) / len(group), (rank + number + turn) % len(systems), item))
    return tuple(item for _, _, item in sorted(placed))


def design(
    seed: int,
    raters: Sequence[str],
    items: Sequence[str],
    overlap: int,
    raters_of_items: Mapping[str, Iterable[str]] | None = None,
) -> dict[str, tuple[str, ...]]:
    """Give every item to `overlap` raters so that loads differ by at most one and pairs meet about equally often.

    A greedy balanced incomplete block design: each item goes to those with the least load, and among equals to those
    who have met the fewest of the others already chosen.

    Args:
        seed: Decides among equals.
        raters: Who can be given items.
        items: What is given.
        overlap: Raters an item needs.
        raters_of_items: Raters an item has already; they stay and count.

    Returns:
        For each item the raters added, in order of `raters`.

    Raises:
        BadInput: When there are fewer raters than an item needs.
    """
    if len(set(raters)) < overlap:
        raise BadInput(
            f"Each item needs {overlap} raters, but the study has {len(set(raters))}.",
            "Invite more, or lower `overlap`.",
        )
    before = {item: set((raters_of_items or {}).get(item, ())) for item in items}
    load = {rater: sum(rater in has for has in before.values()) for rater in raters}
    met: defaultdict[frozenset[str], int] = defaultdict(int)
    for has in before.values():
        _meet(met, has)
    draw = random.Random(f"design:{seed}")  # noqa: S311 - an order to be repeated, not a secret
    line = list(items)
    draw.shuffle(line)
    chosen: dict[str, tuple[str, ...]] = {}
    for item in line:
        team = set(before[item])
        added: set[str] = set()
        while len(team) < overlap:
            free = [rater for rater in raters if rater not in team]
            best = min(
                free, key=lambda each: (load[each], sum(met[frozenset((each, mate))] for mate in team), draw.random())
            )
            team.add(best)
            added.add(best)
            load[best] += 1
        _meet(met, team)
        chosen[item] = tuple(rater for rater in raters if rater in added)
    return {item: chosen[item] for item in items}


def next_item(
    places: Iterable[QueuePlace], others: Mapping[str, int], overlap: int | None, mine: str | None = None
) -> str | None:
    """Return the item a rater should open next, or None when nothing is left.

    Args:
        places: The rater's items.
        others: For each item, how many other raters have submitted it or hold it now.
        overlap: How many raters an item needs in all; None where everybody rates everything they were given.
        mine: The item this rater holds now, which comes first.
    """
    open_ = sorted((place for place in places if not place.submitted), key=lambda place: place.position)
    for place in open_:
        if place.item == mine:
            return place.item
    return next((place.item for place in open_ if overlap is None or others.get(place.item, 0) < overlap), None)


def _meet(met: defaultdict[frozenset[str], int], team: Iterable[str]) -> None:
    for pair in combinations(sorted(team), 2):
        met[frozenset(pair)] += 1
