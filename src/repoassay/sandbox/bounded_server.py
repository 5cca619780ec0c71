"""A small web server of the standard library: a thread a connection, few connections at once, on a socket that listens.

For the few servers of ours that nobody but this machine asks: the relay of builds, and the viewer of runs.
"""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["BoundedServer"]


class BoundedServer(ThreadingHTTPServer):
    """Answers at a socket that already listens; takes the socket over.

    Args:
        listening: The socket.
        handler: Answers one connection.
        most: Connections at once; one too many is closed.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, listening: socket.socket, handler: type[BaseHTTPRequestHandler], most: int) -> None:
        super().__init__(("127.0.0.1", 0), handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        listening.setblocking(True)
        self._free = threading.BoundedSemaphore(most)

    def process_request(self, request: object, client_address: object) -> None:
        """Start a thread for a connection; one too many is closed."""
        if self._free.acquire(blocking=False):
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
