"""Which half of a study a prompt may be tuned on, and which half tests it: parted by task, by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterable
from enum import StrEnum

from repoassay.review import Item

__all__ = ["DevTestSplit", "split_items"]


class DevTestSplit(StrEnum):
    """A part of a study."""

    ALL = "all"
    DEV = "dev"
    TEST = "test"


def split_items(items: Iterable[Item], split: DevTestSplit, seed: int, dev_share: float = 0.5) -> frozenset[str]:
    """Return the names of the items of one part.

    Runs of one task are never on both sides: their likeness would carry what was tuned on one into the test of the
    other.

    Args:
        items: The whole study; the parts depend on its tasks and the seed alone.
        split: Which part.
        seed: Of the shuffle.
        dev_share: The share of tasks to tune on, strictly between 0 and 1, rounded to whole tasks.

    Raises:
        ValueError: When the share is impossible.
    """
    if not 0 < dev_share < 1:
        raise ValueError(f"a share of {dev_share} to tune on is not strictly between 0 and 1")
    line = list(items)
    if split is DevTestSplit.ALL:
        return frozenset(item.id for item in line)
    tasks = sorted({item.hidden.task for item in line})
    random.Random(f"split:{seed}").shuffle(tasks)  # noqa: S311 - a seeded sample, not a secret
    dev = set(tasks[: round(dev_share * len(tasks))])
    return frozenset(item.id for item in line if (item.hidden.task in dev) == (split is DevTestSplit.DEV))
