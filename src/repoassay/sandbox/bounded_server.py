"""A small web server of the standard library: a thread a connection, few connections at once, on a socket that listens.

For the few servers of ours that nobody but this machine asks, and for that of sandboxes.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["BoundedServer", "ExchangeClock"]

HEAD = 20.0
"""Seconds in which a connection must have shown what it asks for, and by what right."""
_SLOWEST = 2**16
"""Bytes that must come or go in each second of an exchange, on the whole."""
_SLACK = 120.0


class ExchangeClock:
    """Breaks off connections that take too long as a whole, however often a byte comes. Used from any thread."""

    def __init__(self) -> None:
        self._ends: dict[socket.socket, float] = {}
        self._unheard: dict[socket.socket, None] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def watching(self, connection: socket.socket) -> Iterator[None]:
        """Break off a connection that has not shown in time what it asks for; `allow` gives it more."""
        with self._lock:
            self._ends[connection] = time.monotonic() + HEAD
            self._unheard[connection] = None
        try:
            yield
        finally:
            self.release(connection)

    def allow(self, connection: socket.socket, size: int) -> None:
        """Give a connection from now on as long as `size` bytes take on a slow line, and the answer to begin."""
        with self._lock:
            self._ends[connection] = time.monotonic() + _SLACK + size / _SLOWEST
            self._unheard.pop(connection, None)

    def release(self, connection: socket.socket) -> None:
        """Leave a connection alone: it lasts as long as what it carries."""
        with self._lock:
            self._ends.pop(connection, None)
            self._unheard.pop(connection, None)

    def break_off(self) -> None:
        """Shut down what is late; whoever reads or writes there ends by it."""
        now = time.monotonic()
        with self._lock:
            late = [each for each, end in self._ends.items() if end < now]
        for connection in late:
            self._shut(connection)

    def break_off_unheard(self) -> bool:
        """Shut down the connection that has been silent longest on what it asks for; whether there was one."""
        with self._lock:
            connection = next(iter(self._unheard), None)
        if connection is not None:
            self._shut(connection)
        return connection is not None

    def _shut(self, connection: socket.socket) -> None:
        self.release(connection)
        with contextlib.suppress(OSError):
            socket.socket.shutdown(connection, socket.SHUT_RDWR)  # not TLS's own, which would wait


class BoundedServer(ThreadingHTTPServer):
    """Answers at a socket that already listens; takes the socket over.

    Args:
        listening: The socket.
        handler: Answers one connection.
        most: Connections at once; for one too many, one that its `clock` watches and that has not asked yet is broken
            off, else the new one is closed.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, listening: socket.socket, handler: type[BaseHTTPRequestHandler], most: int) -> None:
        super().__init__(("127.0.0.1", 0), handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        listening.setblocking(True)
        self._free = threading.BoundedSemaphore(most)
        self.clock = ExchangeClock()

    def service_actions(self) -> None:
        """Called between connections, and several times a second."""
        self.clock.break_off()

    def process_request(self, request: object, client_address: object) -> None:
        """Start a thread for a connection, if there is room."""
        if self._free.acquire(blocking=False) or (self.clock.break_off_unheard() and self._free.acquire(timeout=1)):
            super().process_request(request, client_address)  # type: ignore[arg-type]  # as it comes
        else:
            self.shutdown_request(request)  # type: ignore[arg-type]  # the same

    def process_request_thread(self, request: object, client_address: object) -> None:
        """Answer one connection to its end."""
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]  # as it comes
        finally:
            self._free.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: whoever asks may break off as it likes."""
