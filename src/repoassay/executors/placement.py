"""Which node is given a job: one that is warm for it, unless another has waited for work long enough.

To make an environment warm costs about as much as dozens of short jobs, and to begin with a task of it as much as some.
A node that is idle while all that waits is warm elsewhere therefore waits about as long as that takes, and only then
begins anew: it never loses more than twice what the best choice would have cost.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

__all__ = ["NodeLoad", "choose_node"]

_AHEAD, _MOST_AHEAD = 2, 8
"""Jobs a worker is given at most: one that it does, and the next, so that it need not wait; more if they are short."""
_STOCK = 0.3
"""Seconds that jobs given ahead may take a worker: enough for a message, and little to be lost with a node."""
_PATIENCE = (1.5, 0.2)
"""Seconds that a node is idle before it is given what is warm elsewhere: about what it takes to make it warm, by the
place of what it lacks in a job's warmth."""


@dataclass(slots=True)
class NodeLoad:
    """What a node is given: workers, jobs under way, what it has warm, since when it had a worker idle, and the seconds
    that a job took it lately."""

    workers: int
    jobs: set[int] = field(default_factory=set)
    warm: set[str] = field(default_factory=set)
    idle_since: float = field(default_factory=time.monotonic)
    seconds: float = _STOCK

    @property
    def has_room(self) -> bool:
        """Whether it may be given another job."""
        ahead = min(_MOST_AHEAD, max(_AHEAD, int(_STOCK / max(self.seconds, 0.001))))
        return len(self.jobs) < ahead * self.workers

    @property
    def is_idle(self) -> bool:
        """Whether a worker of it has nothing to do."""
        return len(self.jobs) < self.workers

    @property
    def is_quick(self) -> bool:
        """Whether its jobs were so short lately that one more soon has its turn."""
        return self.seconds * _AHEAD < _STOCK

    @property
    def share(self) -> float:
        """Jobs a worker."""
        return len(self.jobs) / self.workers

    def lacks(self, warmth: Sequence[str]) -> float:
        """Seconds that it takes until what a job wants is warm."""
        costs = (cost for name, cost in zip(warmth, _PATIENCE, strict=False) if name not in self.warm)
        return next(costs, 0.0)

    def take(self, job: int, warmth: Sequence[str]) -> None:
        """It is given a job."""
        self.jobs.add(job)
        self.warm.update(warmth)

    def drop(self, job: int, seconds: float | None = None) -> None:
        """A job of it has ended, which took it so long."""
        if seconds is not None and seconds >= 0:
            self.seconds += 0.1 * (min(seconds, 3600.0) - self.seconds)
        was_idle = self.is_idle
        self.jobs.discard(job)
        if not was_idle and self.is_idle:
            self.idle_since = time.monotonic()


def choose_node(warmth: Sequence[str], nodes: Collection[NodeLoad], now: float) -> NodeLoad | None:
    """The node for a job at a time; None when it is to wait.

    An idle node as warm as any, or one that has waited for as long as it takes to make it so, the one with the fewest
    jobs a worker. Else a busy one as warm as any is given it ahead: where none is idle, or its jobs are short.
    """
    least = min((node.lacks(warmth) for node in nodes), default=0.0)
    idle = [node for node in nodes if node.is_idle]
    ready = [node for node in idle if (lack := node.lacks(warmth)) <= least or now - node.idle_since >= lack]
    if ready:
        return min(ready, key=lambda node: (node.lacks(warmth), node.share, len(node.warm)))
    ahead = (node for node in nodes if node.has_room and node.lacks(warmth) <= least and (node.is_quick or not idle))
    return min(ahead, key=lambda node: node.share, default=None)
