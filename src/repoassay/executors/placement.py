"""Which node is given a job: one where its environment is warm, unless another has waited for work long enough.

To make an environment warm costs about as much as dozens of short jobs. A node that is idle while all that waits is
warm elsewhere therefore waits about as long as that takes, and only then begins anew: it never loses more than twice
what the best choice would have cost.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field

__all__ = ["NodeLoad", "choose_node"]

_AHEAD, _MOST_AHEAD = 2, 8
"""Jobs a worker is given at most: one that it does, and the next, so that it need not wait; more if they are short."""
_STOCK = 0.3
"""Seconds that jobs given ahead may take a worker: enough for a message, and little to be lost with a node."""
_PATIENCE = 1.5
"""Seconds that a node is idle before it is given what is warm elsewhere; about what it takes to make that warm."""


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
    def share(self) -> float:
        """Jobs a worker."""
        return len(self.jobs) / self.workers

    def take(self, job: int, warmth: str) -> None:
        """It is given a job."""
        self.jobs.add(job)
        self.warm.add(warmth)

    def drop(self, job: int, seconds: float | None = None) -> None:
        """A job of it has ended, which took it so long."""
        if seconds is not None and seconds >= 0:
            self.seconds += 0.1 * (min(seconds, 3600.0) - self.seconds)
        was_idle = self.is_idle
        self.jobs.discard(job)
        if not was_idle and self.is_idle:
            self.idle_since = time.monotonic()


def choose_node(warmth: str, nodes: Collection[NodeLoad], now: float) -> NodeLoad | None:
    """The node for a job at a time; None when it is to wait.

    An idle node where it is warm, the one with the fewest jobs a worker; where it is warm nowhere, any idle one; where
    it is warm on busy nodes alone, an idle one that has waited. A busy node is given a next job when none is idle.
    """
    idle = [node for node in nodes if node.is_idle]
    if warm := [node for node in idle if warmth in node.warm]:
        return min(warm, key=lambda node: node.share)
    if idle and any(warmth in node.warm for node in nodes):
        idle = [node for node in idle if now - node.idle_since >= _PATIENCE]
    elif not idle:
        free = [node for node in nodes if node.has_room]
        return min(free, key=lambda node: (warmth not in node.warm, node.share), default=None)
    return min(idle, key=lambda node: (node.share, len(node.warm)), default=None)
