"""The relay's web server: GET and HEAD, a thread a connection, and few connections at once."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar

from repoassay.errors import RepoAssayError
from repoassay.workspace.build_index.upstream import IndexDenied, NotThere

if TYPE_CHECKING:
    from repoassay.workspace.build_index.relay import Relay

__all__ = ["RelayServer"]

_AT_ONCE = 128
_MOST_TROUBLES = 100


class RelayServer(ThreadingHTTPServer):
    """Serves one relay at a socket that already listens."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, listening: socket.socket, relay: Relay) -> None:
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.relay = listening, relay
        listening.setblocking(True)
        self._free = threading.BoundedSemaphore(_AT_ONCE)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), name="relay", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop, and close the socket."""
        self.shutdown()
        self._thread.join()
        self.server_close()

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
        """Say nothing: a build may break off as it likes."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout: ClassVar[float] = 120.0
    server: RelayServer

    def do_GET(self) -> None:
        self._reply(whole=True)

    def do_HEAD(self) -> None:
        self._reply(whole=False)

    def _reply(self, *, whole: bool) -> None:
        relay = self.server.relay
        try:
            here = f"http://{self.headers.get('Host', '127.0.0.1')}"
            found = relay.answer(self.path.partition("?")[0], here, self.headers.get("Accept", "*/*"))
        except NotThere:
            found = None
        except (RepoAssayError, OSError, ValueError) as error:
            if len(relay.troubles) < _MOST_TROUBLES:
                relay.troubles.append(str(error))
            status = 403 if isinstance(error, IndexDenied) else 502  # tools ask again after the latter
            self._say(status, f"{error}\n".encode(), whole=whole)
            return
        if found is None:
            self._say(404, b"There is no such page.\n", whole=whole)
        elif isinstance(found.body, bytes):
            self._say(200, found.body, found.kind, whole=whole)
        else:
            with contextlib.closing(found.body) as stream:
                self._head(200, os.fstat(stream.fileno()).st_size, found.kind)
                if whole:
                    self.wfile.flush()
                    self.connection.sendfile(stream)

    def _say(self, status: int, body: bytes, kind: str = "text/plain", *, whole: bool) -> None:
        self._head(status, len(body), kind)
        if whole:
            self.wfile.write(body)

    def _head(self, status: int, size: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(size))
        if status == 200:
            self.send_header("Cache-Control", "max-age=600")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: what a build asks for is not news."""
