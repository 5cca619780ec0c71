"""Port forwards of a box, on the host's side: what connects inside reaches the owner's listening socket.

That is a local socket in a folder of ours alone, so that no other program of the host comes to it.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Self

from repoassay.sandbox.box.frames import CHUNK
from repoassay.sandbox.port_forward import host_doors, local_doors
from repoassay.sandbox.protocol import PortForward

__all__ = ["BoxRelay"]

_HELD = 1024
"""Pieces of at most 64 KiB that wait for an owner who does not read; more than these end the connection."""


class BoxRelay:
    """Connections of one box; a context manager, left when everything inside is dead.

    Args:
        doors: What answers.
        private: Whether the box has a loopback of its own; else doors are opened on the host's.
        send: Sends a frame to the box.
    """

    def __init__(self, doors: Sequence[PortForward], private: bool, send: Callable[[bytes, int, bytes], None]) -> None:
        self._doors, self._private, self._send = doors, private, send
        self._ends = contextlib.ExitStack()
        self._places: dict[int, str] = {}
        self._open: dict[int, queue.Queue[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.clear()
        self._ends.close()

    def hand_over(self) -> None:
        """Give each owner its listening socket; once."""
        if not self._private:
            self._ends.enter_context(host_doors(self._doors))
            return
        self._places = self._ends.enter_context(local_doors(self._doors))

    def connect(self, number: int, port: int) -> None:
        """Something inside has connected to `port`."""
        waiting: queue.Queue[bytes] = queue.Queue(_HELD)
        self._open[number] = waiting
        threading.Thread(target=self._carry, args=(number, port, waiting), name="box-relay", daemon=True).start()

    def take(self, number: int, data: bytes) -> None:
        """Pass on what came from inside; nothing: it sends no more."""
        waiting = self._open.get(number)
        if waiting is not None:
            try:
                waiting.put_nowait(data)
            except queue.Full:
                self._open.pop(number, None)  # its thread tells the box: nobody may wait here

    def forget(self, number: int) -> None:
        """The connection is over inside."""
        self._open.pop(number, None)

    def _carry(self, number: int, port: int, waiting: queue.Queue[bytes]) -> None:
        owner = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with owner, contextlib.suppress(OSError, KeyError, ValueError):
            owner.connect(self._places[port])
            back = threading.Thread(target=self._back, args=(number, owner), name="box-relay", daemon=True)
            back.start()
            self._forth(number, owner, waiting)
            back.join()
        self._tell_end(number)

    def _forth(self, number: int, owner: socket.socket, waiting: queue.Queue[bytes]) -> None:
        """Carry what is sent inside until that ends, or the connection is over."""
        while number in self._open or not waiting.empty():
            try:
                data = waiting.get(timeout=0.5)
            except queue.Empty:
                continue
            if not data:
                owner.shutdown(socket.SHUT_WR)
                return
            owner.sendall(data)
        owner.shutdown(socket.SHUT_RDWR)

    def _back(self, number: int, owner: socket.socket) -> None:
        """Carry what the owner answers until it closes."""
        with contextlib.suppress(OSError, ValueError):
            while number in self._open and (data := owner.recv(CHUNK)):
                self._send(b"d", number, data)
        self._tell_end(number)

    def _tell_end(self, number: int) -> None:
        with contextlib.suppress(Exception):  # the box may be gone
            self._send(b"d", number, b"")
