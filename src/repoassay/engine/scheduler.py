"""Slots waiting to be filled: handed out so that no provider is asked by more attempts at once than it may be."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from repoassay.records import Slot

__all__ = ["Scheduler"]


class Scheduler:
    """A queue for a few workers. A slot that is handed out comes back through `done`, perhaps with one to make again.

    Args:
        slots: In the order they are to be made, as far as providers have places.
        provider_of: The provider of a slot's model, empty for none.
        most: Attempts at a time, by provider; others are bounded by the workers alone.
    """

    def __init__(self, slots: Iterable[Slot], provider_of: Callable[[Slot], str], most: Mapping[str, int]) -> None:
        self._slots = list(slots)
        self._provider_of, self._most = provider_of, most
        self._busy: Counter[str] = Counter()
        self._under_way = 0
        self._changed = threading.Condition()

    def take(self, stopped: threading.Event) -> Slot | None:
        """The next slot that may be begun; waits while there may yet be one. None when all is done or stopped."""
        with self._changed:
            while not stopped.is_set():
                for index, slot in enumerate(self._slots):
                    provider = self._provider_of(slot)
                    if provider not in self._most or self._busy[provider] < self._most[provider]:
                        self._busy[provider] += 1
                        self._under_way += 1
                        return self._slots.pop(index)
                if not self._slots and not self._under_way:
                    break
                self._changed.wait(0.2)
        return None

    def done(self, slot: Slot, again: Slot | None = None) -> None:
        """A slot taken before has ended; `again` is made after those still waiting, when a trouble may have passed."""
        with self._changed:
            self._busy[self._provider_of(slot)] -= 1
            self._under_way -= 1
            if again is not None:
                self._slots.append(again)
            self._changed.notify_all()
