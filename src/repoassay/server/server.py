"""Running the service: listen, judge, and end without losing anything."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn

from repoassay.errors import BadInput
from repoassay.server.app import build_app
from repoassay.server.connection import Connection, most_connections
from repoassay.server.service import Service
from repoassay.text import quote

__all__ = ["configure", "listen", "run"]

_HEADERS = [("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store")]
_BACKLOG = 2048
_DRAIN = 5
"""Seconds that answers under way may take once we are told to stop."""


def listen(host: str, port: int) -> socket.socket:
    """Bind a socket; port 0 takes a free one.

    Raises:
        BadInput: When it cannot be had.
    """
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, number)
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or "it is not a host name"
        raise BadInput(f"{quote(host)} is no address to listen on: {said}.", "Give --host an address.") from error
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(_BACKLOG)  # now, so that of two servers started at once one is told
    except OSError as error:
        found.close()
        raise BadInput(
            f"Port {port} of {quote(host)} cannot be had: {error.strerror}.", "Choose another with --port or --host."
        ) from error
    return found


def configure(service: Service) -> uvicorn.Config:
    """How uvicorn is to serve: plain HTTP/1.1, bounded in everything."""
    return uvicorn.Config(
        build_app(service), http=Connection, ws="none", log_level="error", access_log=False, server_header=False,
        headers=_HEADERS, backlog=_BACKLOG, limit_concurrency=most_connections(), timeout_graceful_shutdown=_DRAIN,
    )  # fmt: skip


def run(service: Service, bound: socket.socket, grace: float, ready: Callable[[], None]) -> int:
    """Serve until SIGTERM or SIGINT; a second one gives up what is under way.

    Args:
        service: What to serve; its workers are started here, and its queue closed.
        bound: Where to listen.
        grace: Seconds that what is under way may take to finish.
        ready: Called once requests are answered.

    Returns:
        How many submissions were under way and put back.
    """
    server = _Server(configure(service), service, ready)
    service.workers.start()
    try:
        with server.signals():
            server.run([bound])
            return service.workers.stop(grace, lambda: server.told > 1)
    finally:
        service.queue.database.close()


class _Server(uvicorn.Server):
    """Uvicorn's server, but that signals end the workers too."""

    def __init__(self, config: uvicorn.Config, service: Service, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.told = 0
        self._service = service
        self._ready = ready

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        """Handle signals until the workers have ended, which is after the server has."""
        before = {each: signal.signal(each, self._handle) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `signals`: uvicorn would raise them again before the workers have ended."""
        yield

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.told += 1
        self.should_exit = True
        self.force_exit = self.told > 1

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams first, so that their connections can close."""
        self._service.drain()
        await super().shutdown(sockets)
