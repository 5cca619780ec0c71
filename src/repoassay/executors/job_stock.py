"""Jobs that a node has been given and not done, and answers that it has not handed over.

A message between machines costs both ends a millisecond or more of CPU where little else keeps their threads awake, so
answers of short jobs go together. None waits while a worker of the node may soon have nothing to do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["JobStock", "StockAnswer"]

StockAnswer = tuple[int, bytes, float]
"""Number of a job, its answer, and the seconds that it took."""

_HOLD = 0.15
"""Seconds that an answer waits for others at most."""


class JobStock:
    """Used from any thread; `take` from one at a time."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="node")
        self._left, self._closed = 0, False
        self._answers: list[StockAnswer] = []
        self._changed = threading.Condition()

    def add(self, number: int, work: Callable[[], bytes]) -> None:
        """Have a job done once a worker is free."""
        with self._changed:
            self._left += 1
        self._pool.submit(self._do, number, work)

    def take(self) -> list[StockAnswer]:
        """Wait for answers; empty once closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._answers or self._closed)
            self._changed.wait_for(lambda: self._left <= 2 * self._workers or self._closed, _HOLD)
            taken, self._answers = self._answers, []
            return taken

    def close(self) -> None:
        """Let go of whoever waits for answers."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _do(self, number: int, work: Callable[[], bytes]) -> None:
        began = time.monotonic()
        answer = work()
        with self._changed:
            self._left -= 1
            self._answers.append((number, answer, time.monotonic() - began))
            if len(self._answers) == 1 or self._left <= 2 * self._workers:
                self._changed.notify_all()
