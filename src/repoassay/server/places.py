"""How a server judges, and where one of its threads judges one submission at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Place", "WorkerSettings"]


@dataclass(slots=True)
class Place:
    """Where one thread judges one submission at a time.

    Args:
        name: Of its thread.
        express: Whether it is the express place: it takes only submissions of holders who have nothing under way, and
            gives one up when another such holder waits. The other places judge what they begin to the end, so that
            whatever is given up is judged to the end there.

    Attributes:
        cancel: Set to give up what is judged here.
        since: When that was begun, in seconds of the monotonic clock; None while the place is free.
    """

    name: str
    express: bool = False
    cancel: threading.Event = field(default_factory=threading.Event)
    since: float | None = None

    def held(self) -> float:
        """Seconds for which what is judged here has been judged; 0 while the place is free."""
        since = self.since
        return 0.0 if since is None else time.monotonic() - since


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How a server judges.

    Attributes:
        lease: Seconds a claim holds when it is not renewed: how long others wait after this server was killed.
        each: How many submissions of one holder may be under way, on all servers; None for as many as there are places.
        express: Seconds after which the last place, the express place, is given up to a holder who has nothing under
            way; 0 makes it a place as any other.
        role: `all`; `front` judges nothing, and only looks after what others were judging when they died; `worker`
            accepts nothing.
        keep: Seconds after which a verdict is deleted with its submission; None to keep them.
        terms: What decides a verdict beside the task, which all servers of the queue must agree on.
    """

    lease: float = 20.0
    each: int | None = None
    express: float = 0.0
    role: Literal["all", "front", "worker"] = "all"
    keep: float | None = None
    terms: Mapping[str, str] = field(default_factory=dict)
