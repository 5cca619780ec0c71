"""Running the service: listen, judge, and end without losing anything."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn

from repoassay.errors import Unavailable
from repoassay.server.app import build_app
from repoassay.server.connection import Connection, most_connections
from repoassay.server.listening import BACKLOG
from repoassay.server.service import Service

__all__ = ["configure", "run"]

_HEADERS = [("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store")]
_DRAIN = 5
"""Seconds that answers under way may take once we are told to stop."""


def configure(service: Service) -> uvicorn.Config:
    """How uvicorn is to serve: plain HTTP/1.1, bounded in everything."""
    return uvicorn.Config(
        build_app(service), http=Connection, ws="none", log_config=None, log_level="error", access_log=False,
        server_header=False, headers=_HEADERS, backlog=BACKLOG, limit_concurrency=most_connections(),
        timeout_graceful_shutdown=_DRAIN,
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

    Raises:
        BadInput: When other servers of the queue serve other tasks by the same names, or by other terms.
        Unavailable: When it ended because the cluster whose nodes judged is gone.
    """
    server = _Server(configure(service), service, ready)
    try:
        service.workers.start()
        with server.signals():
            server.run([bound])
            left = service.workers.stop(grace, lambda: server.stop_signals > 1)
    finally:
        service.queue.database.close()
    if service.workers.lost:
        raise Unavailable(
            f"The server ended, since nobody judges any more. {service.workers.lost}",
            "Start it again when there is a cluster; what was accepted waits in the queue.",
        )
    return left


class _Server(uvicorn.Server):
    """Uvicorn's server, but that signals end the workers too."""

    def __init__(self, config: uvicorn.Config, service: Service, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.stop_signals = 0
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
        self.stop_signals += 1
        self.should_exit = True
        self.force_exit = self.stop_signals > 1

    async def on_tick(self, counter: int) -> bool:
        """Whether to end: when told to, and when nothing can be judged here any more."""
        return await super().on_tick(counter) or bool(self._service.workers.lost)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams first, so that their connections can close."""
        self._service.drain()
        await super().shutdown(sockets)
        if self.force_exit:  # uvicorn leaves it out then, and logs the traceback of a task that was cancelled
            await self.lifespan.shutdown()
