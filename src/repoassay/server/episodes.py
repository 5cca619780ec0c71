"""Episodes of training over HTTP: in memory, bounded for each token in number and age."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field

from repoassay.server.problems import ApiError

__all__ = ["Episode", "Episodes"]

_MOST = 256
"""Episodes of one token; a new one takes the place of the oldest."""
_AGE = 3600.0
"""Seconds after which an episode is forgotten."""
_PREPARING = 2


@dataclass(slots=True)
class Episode:
    """One task given to a policy, and what it handed in.

    `patch` is the digest of it; `key` names its submission on the queue, so that a step sent again is not judged again.
    """

    task: str
    began: float
    patch: str | None = None
    done: bool = False
    submission: str = ""
    key: str = field(default_factory=lambda: f"openenv/{uuid.uuid4()}")


class Episodes:
    """The episodes of every token, the oldest first; used by one event loop.

    Args:
        most: How many each token may have.
        age: Seconds after which they are forgotten.

    Attributes:
        preparing: Held while a task is prepared, which may take minutes of a thread that other requests need.
        turns: By token: held before that, so that whoever resets a thousand times stands in the line once.
    """

    def __init__(self, most: int = _MOST, age: float = _AGE) -> None:
        self.preparing = asyncio.Semaphore(_PREPARING)
        self.turns: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(1))
        self._most, self._age = most, age
        self._kept: dict[str, OrderedDict[str, Episode]] = {}

    def begin(self, holder: str, name: str, task: str) -> Episode:
        """A new episode, which takes the place of one of the same name and of the oldest where there are too many."""
        now = time.monotonic()
        for each in list(self._kept):
            self._forget(each, now)
        own = self._kept.setdefault(holder, OrderedDict())
        own.pop(name, None)
        while len(own) >= self._most:
            own.popitem(last=False)
        own[name] = Episode(task, now)
        return own[name]

    def find(self, holder: str, name: str) -> Episode:
        """A token's episode; raises `ApiError` when it has none of that name."""
        self._forget(holder, time.monotonic())
        own = self._kept.get(holder)
        found = own.get(name) if own else None
        if found is None:
            raise ApiError(404, "unknown_episode", "There is no such episode of yours, or it is too old. Reset first.")
        return found

    def _forget(self, holder: str, now: float) -> None:
        own = self._kept.get(holder)
        if own is None:
            return
        while own and now - next(iter(own.values())).began > self._age:
            own.popitem(last=False)
        if not own:
            self._kept.pop(holder, None)
