"""A connection between a caller and one of its nodes, both of which prove that they know the cluster's key.

Messages are bytes with a kind and a number, never pickled objects: what either end takes from the other it reads as
JSON. Nothing is encrypted.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import queue
import secrets
import socket
import struct
import threading
import time
from collections import Counter
from enum import IntEnum

__all__ = ["LinkClosed", "LinkKind", "NodeLink", "Strangers"]

_HEAD = struct.Struct(">BQQ")
_NONCE = 32
_HANDSHAKE = 10.0
"""Seconds for the whole proof, however slowly it drips."""
_SILENCE = 60
"""Seconds after which a machine that acknowledges nothing is taken for lost."""
_MOST = 4 * 2**30
"""Bytes of a message; files that come back are fewer."""


class LinkKind(IntEnum):
    """Kinds of messages. Numbers are those of jobs, but for `HELLO`: cores; and `PARCEL`, `WANTED`: requests."""

    HELLO = 1
    OPEN = 2
    JOB = 3
    CANCEL = 4
    CLOSE = 5
    ANSWER = 6
    WANTED = 7
    PARCEL = 8


class LinkClosed(Exception):
    """The other end is gone, or proved nothing."""


class NodeLink:
    """One end of a connection. One thread receives; any send.

    Args:
        connection: A connected socket.
        key: The cluster's.
        caller: Whether this is the caller's end.

    Raises:
        LinkClosed: The other end does not know the key.
    """

    def __init__(self, connection: socket.socket, key: bytes, *, caller: bool) -> None:
        self._socket = connection
        self._outgoing: queue.SimpleQueue[tuple[bytes, bytes] | None] = queue.SimpleQueue()
        try:
            self._due = time.monotonic() + _HANDSHAKE
            connection.settimeout(_HANDSHAKE)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._prove(key, caller)
            self._due = 0.0
            connection.settimeout(None)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _SILENCE // 3)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _SILENCE // 6)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _SILENCE * 1000)
        except (OSError, LinkClosed) as error:
            connection.close()
            raise LinkClosed(str(error)) from error
        threading.Thread(target=self._write, name="node-link", daemon=True).start()

    def send(self, kind: LinkKind, number: int = 0, body: bytes = b"") -> None:
        """Have a message sent, after those before it; where the other end is gone, whoever receives hears of it."""
        self._outgoing.put((_HEAD.pack(kind, number, len(body)), body))

    def receive(self) -> tuple[LinkKind, int, bytes]:
        """The next message.

        Raises:
            LinkClosed: There is none any more, or what came is no message.
        """
        try:
            kind, number, size = _HEAD.unpack(self._read(_HEAD.size))
            if size > _MOST:
                raise LinkClosed(f"a message of {size} bytes")
            return LinkKind(kind), number, self._read(size)
        except (OSError, ValueError) as error:
            raise LinkClosed(str(error)) from error

    def close(self) -> None:
        """End it; whoever receives hears of it."""
        self._outgoing.put(None)
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _write(self) -> None:
        """Send what is to be sent: a slow node must not keep others waiting."""
        while (message := self._outgoing.get()) is not None:
            try:
                for part in message:
                    self._socket.sendall(part)
            except OSError:
                self.close()
                return

    def _read(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            if self._due:
                self._socket.settimeout(max(0.001, self._due - time.monotonic()))
            more = self._socket.recv(min(size - len(parts), 1 << 20))
            if not more:
                raise LinkClosed("the other end closed the connection")
            parts += more
        return bytes(parts)

    def _prove(self, key: bytes, caller: bool) -> None:
        """Each end has the other sign both nonces, the node first, so that a stranger never hears the caller's."""
        own = secrets.token_bytes(_NONCE)
        self._socket.sendall(own)
        other = self._read(_NONCE)
        both = own + other if caller else other + own
        ends = (b"caller", b"node") if caller else (b"node", b"caller")
        mine, theirs = (hmac.digest(key, who + both, hashlib.sha256) for who in ends)
        if not caller:
            self._socket.sendall(mine)
        if not hmac.compare_digest(self._read(len(theirs)), theirs):
            raise LinkClosed("the other end does not know the key of this cluster")
        if caller:
            self._socket.sendall(mine)


class Strangers:
    """Connections that have proved nothing yet; of whichever host has most the oldest gives way. Safe for threads.

    Args:
        most: How many may.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._hosts: dict[socket.socket, str] = {}
        self._lock = threading.Lock()

    def enter(self, connection: socket.socket, host: str) -> None:
        """Take one more in; where that is one too many, another is ended, which whoever reads from it hears."""
        with self._lock:
            self._hosts[connection] = host
            if len(self._hosts) <= self._most:
                return
            (crowd, _), *_ = Counter(self._hosts.values()).most_common(1)
            oldest = next(each for each, host in self._hosts.items() if host == crowd)
            del self._hosts[oldest]
            with contextlib.suppress(OSError):  # its thread closes it
                oldest.shutdown(socket.SHUT_RDWR)

    def leave(self, connection: socket.socket) -> None:
        """One is a stranger no more, or gone."""
        with self._lock:
            self._hosts.pop(connection, None)
