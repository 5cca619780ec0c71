"""What each holder of a token may have of a server of sandboxes."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from repoassay.errors import BadInput
from repoassay.sandbox.remote.messages import MESSAGE, SessionRequest

__all__ = ["MOST_CONNECTIONS", "HolderShares"]

MOST_CONNECTIONS = 512
_LEAST_CONNECTIONS = 32
"""Connections that each token may have, however many tokens there are."""
_BODIES = 4 * MESSAGE
"""Bytes of requests that are held at a time; each token may always send one."""
_MOST_OUTPUT = 64 * 2**20
"""Bytes of output that a session may keep, which are held in the server's memory."""


@dataclass(slots=True)
class HolderShares:
    """Equal shares of what is scarce, so that no token keeps others from working. Used from any thread.

    Attributes:
        holders: Tokens that are let in.
        sessions: Sessions of one token at a time; None for an equal share.
        session_bytes: Memory and disk that one session may ask for in all, and bytes that it may hand back.
    """

    holders: int = 1
    sessions: int | None = None
    session_bytes: int = 2**45
    _connections: Counter[str] = field(default_factory=Counter)
    _bodies: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, sessions: int) -> int:
        """How many of so many sessions one token may have."""
        return self.sessions or max(1, sessions // self.holders)

    def check_limits(self, request: SessionRequest) -> None:
        """Raise `BadInput` for a session that asks for more than any may have."""
        limits, handed_back = request.limits, sum(each.max_bytes for each in request.collect)
        if limits.memory + limits.disk > self.session_bytes:
            raise BadInput(
                f"A session may ask for {self.session_bytes >> 20} MiB of memory and disk in all.",
                "Raise --session-memory of repoassay sandbox serve.",
            )
        if limits.output > _MOST_OUTPUT or handed_back > self.session_bytes:
            raise BadInput(
                f"A session may keep {_MOST_OUTPUT >> 20} MiB of output, and hand back "
                f"{self.session_bytes >> 20} MiB of files."
            )

    @contextlib.contextmanager
    def connection(self, holder: str) -> Iterator[bool]:
        """One of the holder's connections, while the context lasts; gives false where it has too many."""
        most = MOST_CONNECTIONS if self.holders < 2 else max(_LEAST_CONNECTIONS, MOST_CONNECTIONS // self.holders)
        with self._take(self._connections, holder, 1, most) as let:
            yield let

    @contextlib.contextmanager
    def body(self, holder: str, size: int) -> Iterator[bool]:
        """Room for a request of the holder's, while the context lasts; gives false where there is none."""
        with self._take(self._bodies, holder, size, max(MESSAGE, _BODIES // self.holders)) as let:
            yield let

    @contextlib.contextmanager
    def _take(self, held: Counter[str], holder: str, count: int, most: int) -> Iterator[bool]:
        with self._lock:
            let = held[holder] + count <= most
            held[holder] += count if let else 0
        try:
            yield let
        finally:
            with self._lock:
                held[holder] -= count if let else 0
