"""Every attack there is."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from repoassay.attacks import poisoned, tricks
from repoassay.attacks.attack import Attack
from repoassay.attacks.payloads import payloads
from repoassay.errors import BadInput
from repoassay.text import quote, suggest

__all__ = ["catalogue", "families", "select_attacks"]


@functools.cache
def catalogue() -> tuple[Attack, ...]:
    """Every attack, families together."""
    every = (*payloads(), *poisoned.ATTACKS, *tricks.ATTACKS)
    return tuple(sorted(every, key=lambda each: ((each.language or ""), each.family)))


def families(attacks: Iterable[Attack]) -> tuple[str, ...]:
    """Names of families in the order of the catalogue."""
    return tuple(dict.fromkeys(each.family for each in attacks))


def select_attacks(globs: Sequence[str]) -> tuple[Attack, ...]:
    """The attacks of families that match; all without a glob.

    Raises:
        BadInput: When a glob matches no family.
    """
    known = families(catalogue())
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in known):
            raise BadInput(f"There is no family of attacks {quote(glob)}.", suggest(glob, known))
    return tuple(each for each in catalogue() if not globs or any(fnmatchcase(each.family, glob) for glob in globs))
