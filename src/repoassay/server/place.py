"""Where one thread of a server judges one submission at a time."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

__all__ = ["Place"]


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
