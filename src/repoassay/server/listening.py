"""The socket that a server answers at."""

from __future__ import annotations

import socket

from repoassay.errors import BadInput
from repoassay.text import quote

__all__ = ["BACKLOG", "listen"]

BACKLOG = 2048
"""Connections that may wait to be taken."""


def listen(host: str, port: int) -> socket.socket:
    """Bind a socket; port 0 takes a free one.

    Raises:
        BadInput: When it cannot be had.
    """
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, number)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a host name"
        raise BadInput(f"{quote(host)} is no address to listen on: {reason}.", "Give --host an address.") from error
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(BACKLOG)  # now, so that of two servers started at once one is told
    except OSError as error:
        found.close()
        raise BadInput(
            f"Port {port} of {quote(host)} cannot be had: {error.strerror}.", "Choose another with --port or --host."
        ) from error
    return found
