"""Port forwards of the sandbox: sockets that listen on its own loopback, and are answered from outside.

A socket belongs to the network namespace it was made in, whoever holds it. So the host accepts what the command sends
to a port forward without there being any way from this namespace to another.
"""

from __future__ import annotations

import _socket  # socket.py would bring enum and selectors, a third of what a sandbox costs
import struct

__all__ = ["open_doors"]

_BACKLOG = 256


def open_doors(ports: list[int], descriptor: int) -> None:
    """Listen on every port of this namespace's 127.0.0.1 and send the sockets over the local socket `descriptor`.

    Neither they nor `descriptor` stay open here. Raises OSError with the port that could not be had.
    """
    host = _socket.socket(-1, -1, -1, descriptor)
    doors = []
    for port in ports:
        door = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        doors.append(door)
        try:
            door.bind(("127.0.0.1", port))
            door.listen(_BACKLOG)
        except OSError as error:
            raise OSError(f"no door at port {port}: {error}") from None
    numbers = struct.pack(f"{len(doors)}i", *(door.fileno() for door in doors))
    host.sendmsg([b"d"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)])
    for held in (*doors, host):
        held.close()
