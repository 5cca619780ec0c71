"""One client's connection: refused when there are too many, closed when a request does not arrive
or an answer is not taken.

Open connections are open files, and what judges submissions needs files too: whoever holds idle connections must not be
able to make it fail, or to keep others out: where there is no room, the oldest idle one gives way of whichever address
has most, to whoever has fewer. Behind a reverse proxy all have one address, and it is the proxy that bounds them.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import resource
from collections import Counter

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["Connection", "most_connections"]

_HEAD = 20.0
"""Seconds in which a request's head must arrive."""
_SENDING = 60.0
"""Seconds in which a client must take what is sent to it."""
_MOST = 2000
_FILES = 8192
"""Open files we ask for."""
_OURS = 256
"""Open files that the rest of the server is sure to have."""


def most_connections() -> int:
    """How many connections there may be; raises the limit of open files as far as we may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):  # some systems say no to what they offer
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return _MOST if soft == resource.RLIM_INFINITY else max(16, min(_MOST, (soft - _OURS) // 2))


class Connection(H11Protocol):
    """Uvicorn's connection, but that nobody may hold it open by saying nothing, or by not reading."""

    _head: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _began = 0.0

    @property
    def network(self) -> str:
        """Whose it is: an address, or the network of one of IPv6, of which a client has as many as it likes."""
        address = ipaddress.ip_address(self.client[0].partition("%")[0]) if self.client else ""
        if isinstance(address, ipaddress.IPv6Address):
            return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))
        return str(address)

    @property
    def idle(self) -> bool:
        """Whether no request of it is being answered."""
        return self._head is not None or self.conn.our_state is h11.IDLE

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Wait for a request, or refuse at once."""
        super().connection_made(transport)
        self._began = self.loop.time()
        if self.limit_concurrency is not None and self._surplus(self.limit_concurrency):
            transport.abort()
        else:
            transport.set_write_buffer_limits(0)  # we are told of whatever the network does not take at once
            self._wait()

    def _surplus(self, most: int) -> bool:
        """Whether there is no room for this one, and nobody to give way to it."""
        others = [each for each in self.connections if isinstance(each, Connection) and not each.transport.is_closing()]
        if len(others) < most:  # from there on uvicorn answers that it is busy
            return False
        held = Counter(each.network for each in others)
        most_held = max(held[each.network] for each in others if each.idle)  # this one is
        if most_held <= held[self.network]:
            return True
        crowd = [each for each in others if each.idle and held[each.network] == most_held]
        for each in sorted(crowd, key=lambda each: each._began)[: len(others) - most + 1]:
            each.transport.abort()
        return False

    def data_received(self, data: bytes) -> None:
        """Take what has come; time runs while a head is incomplete, and while a refused body still comes."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE or self._refused():
            self._wait()
        else:
            self._arrived()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._arrived()
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Time runs while something waits to be taken, also once the connection is to be closed after it."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(_SENDING, self.transport.abort)

    def resume_writing(self) -> None:
        """All of it was taken."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def on_response_complete(self) -> None:
        """Between requests uvicorn's own clock runs."""
        super().on_response_complete()
        if self._refused():
            self._wait()

    def _refused(self) -> bool:
        """Whether there is an answer already, but no end of the request."""
        return self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY

    def _wait(self) -> None:
        if self._head is None:
            self._head = self.loop.call_later(_HEAD, self.transport.abort)

    def _arrived(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None
