"""What every request needs: the queue, the workers, the limits, and who may come in."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from repoassay.engine import SubmissionEngine
from repoassay.server.access import FairShares, RateLimit, Tokens
from repoassay.server.episodes import Episodes
from repoassay.server.metrics import PrometheusMetrics
from repoassay.server.notifier import Notifier
from repoassay.server.places import WorkerSettings
from repoassay.server.queue import Queue, Quota
from repoassay.server.workers import Workers

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["Guards", "Service"]

_LARGE = 8
"""Large bodies held at a time; what more comes waits in the network's buffers."""
_PARSING = 1
"""Bodies parsed at a time: hostile JSON can take thirty times its size."""


@dataclass(frozen=True, slots=True)
class Guards:
    """Limits on what comes in.

    Attributes:
        tokens: Who is let in.
        rate: Requests a minute of each holder of a token.
        body: Bytes a request may have.
        patch: Bytes a patch may have.
        queue: How many submissions may wait, of everybody.
        quota: How many of them may be one holder's; None for a share by which the others always find room.
        size: Bytes that the patches of those waiting may have, of which each holder has an equal share.
        hour: How many submissions of one holder are accepted within an hour; None for any number.
        day: The same within a day.
        waiting: How many requests of one holder may wait for verdicts at a time, where there are tokens.
        hosts: What the Host header may name; empty for anything. Keeps web pages, whose names can be made to point
            here, from a service that asks for no token.
    """

    tokens: Tokens = field(default_factory=Tokens)
    rate: RateLimit = field(default_factory=lambda: RateLimit(None))
    body: int = 16 * 2**20
    patch: int = 4 * 2**20
    queue: int = 10_000
    quota: int | None = None
    hour: int | None = None
    day: int | None = None
    waiting: int = 200
    hosts: frozenset[str] = frozenset()
    size: int = 2 * 2**30

    @property
    def share(self) -> int:
        """How many submissions of one holder may wait."""
        return self.quota or max(1, self.queue // max(1, len(self.tokens)))

    def quota_of(self, holder: str) -> Quota:
        """What one holder may have."""
        share = max(self.patch, self.size // max(1, len(self.tokens)))
        return Quota(self.share, self.hour, self.day, self.tokens.weight(holder), share)

    @property
    def most(self) -> int:
        """How many submissions may be handed in at once, on an empty queue."""
        return min(each for each in (self.queue, self.share, self.hour, self.day) if each is not None)


class Service:
    """The service: queue, workers and routes.

    Args:
        queue: Where submissions wait.
        engine: Judges them.
        guards: Limits on what comes in.
        settings: How this server judges.

    Attributes:
        more: Puts further applications beside this one, such as the review; None for none.
    """

    def __init__(
        self, queue: Queue, engine: SubmissionEngine, guards: Guards, settings: WorkerSettings | None = None
    ) -> None:
        self.more: Callable[[FastAPI], None] | None = None
        self.queue = queue
        self.engine = engine
        self.guards = guards
        self.bell = Notifier()
        self.meters = PrometheusMetrics()
        self.large = asyncio.Semaphore(_LARGE)
        each = _LARGE // 2 if len(guards.tokens) > 1 else _LARGE  # slow senders leave room for the others
        self.bodies: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(each))
        self.episodes = Episodes()
        self.waiting = FairShares(guards.waiting if guards.tokens else None)
        self.parsing = asyncio.Semaphore(_PARSING)
        self.workers = Workers(queue, engine, self.meters, self.bell.ring, settings or WorkerSettings())

    def drain(self) -> None:
        """Accept and begin nothing more; streams end."""
        self.workers.drain()
        self.bell.ring()
