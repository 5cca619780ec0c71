"""Port forwards to a server's sandbox: for each connection inside one of ours to the server, and one to the owner."""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence

from repoassay.errors import InfraFault
from repoassay.sandbox.port_forward import local_doors
from repoassay.sandbox.protocol import PortForward
from repoassay.sandbox.remote.client import SandboxClient

__all__ = ["carry", "forward_ports"]

_WAIT = 10.0
_ENDING = 5.0
_PIECE = 1 << 16
_HELD = 1 << 18
"""Bytes that wait for a side which does not read; its other side is not read meanwhile."""
_MOST = 256
"""Connections of a port at a time."""
_NOT_YET = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


@contextlib.contextmanager
def forward_ports(
    doors: Sequence[PortForward], client: SandboxClient, path: str, over: threading.Event
) -> Iterator[None]:
    """Hand the owners of ports their sockets, and carry to them what connects inside, until `over` is set."""
    with local_doors(doors) as places:
        threads = [
            threading.Thread(target=_forward, args=(client, f"{path}/{port}", place, over), name="sandbox-port",
                             daemon=True)
            for port, place in places.items()
        ]  # fmt: skip
        for thread in threads:
            thread.start()
        yield
        for thread in threads:
            thread.join(_ENDING)


def _forward(client: SandboxClient, path: str, place: str, over: threading.Event) -> None:
    free = threading.BoundedSemaphore(_MOST)
    while not over.is_set():
        try:
            came = client.connect(path, _WAIT)
        except InfraFault:  # that the server is gone is the session's to tell
            over.wait(1)
            continue
        if came is not None:
            free.acquire()
            threading.Thread(target=_reach, args=(came, place, free), name="sandbox-port", daemon=True).start()


def _reach(came: socket.socket, place: str, free: threading.BoundedSemaphore) -> None:
    try:
        with came, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as owner, contextlib.suppress(OSError):
            owner.connect(place)
            carry(came, owner)
    finally:
        free.release()


def carry(one: socket.socket, other: socket.socket) -> None:
    """Carry bytes between two connections, either of which may be encrypted, until both directions have ended.

    One thread does both, since a connection under TLS must not be used by two. Raises `OSError` where either breaks.
    """
    ends = (_End(one), _End(other))
    ends[0].peer, ends[1].peer = ends[1], ends[0]
    with selectors.DefaultSelector() as selector:
        for end in ends:
            end.connection.setblocking(False)
        while any(end.reads or end.waiting for end in ends):
            for end in ends:
                end.register(selector)
            ready = any(end.has_pending for end in ends)
            selector.select(0 if ready else None)
            for end in ends:
                end.send()
                end.receive()


class _End:
    """One side: what waits to be sent to it, and whether it still sends."""

    peer: _End

    def __init__(self, connection: socket.socket) -> None:
        self.connection, self.waiting, self.reads, self.done, self._events = connection, bytearray(), True, False, 0

    @property
    def _may_read(self) -> bool:
        return self.reads and len(self.peer.waiting) < _HELD

    @property
    def has_pending(self) -> bool:
        """Whether something was decrypted that can be read, of which the kernel knows nothing."""
        return self._may_read and isinstance(self.connection, ssl.SSLSocket) and self.connection.pending() > 0

    def register(self, selector: selectors.BaseSelector) -> None:
        """Have the selector look for what can be done next."""
        events = selectors.EVENT_READ * self._may_read | selectors.EVENT_WRITE * bool(self.waiting)
        if events != self._events:
            if self._events:
                selector.unregister(self.connection)
            if events:
                selector.register(self.connection, events)
            self._events = events

    def receive(self) -> None:
        """Take what came, for the other side; its end is passed on as well."""
        if not self._may_read:
            return
        try:
            data = self.connection.recv(_PIECE)
        except _NOT_YET:
            return
        self.peer.waiting += data
        self.reads = bool(data)
        self.peer.send()

    def send(self) -> None:
        """Send what waits; once the other side has ended and nothing waits, no more comes from us."""
        with contextlib.suppress(*_NOT_YET):
            while self.waiting:
                sent = self.connection.send(self.waiting[:_PIECE])
                del self.waiting[:sent]
        if not self.peer.reads and not self.waiting and not self.done:
            self.done = True
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self.connection, socket.SHUT_WR)  # under TLS too: the other way stays open
