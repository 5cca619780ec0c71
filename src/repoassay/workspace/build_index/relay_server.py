"""The relay's web server: GET and HEAD."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, ClassVar

from repoassay.errors import RepoAssayError
from repoassay.sandbox import BoundedServer
from repoassay.workspace.build_index.upstream import IndexDenied, NotThere

if TYPE_CHECKING:
    from repoassay.workspace.build_index.relay import Relay

__all__ = ["RelayServer"]

_AT_ONCE = 128
_MOST_TROUBLES = 100


class RelayServer(BoundedServer):
    """Serves one relay at a socket that already listens."""

    def __init__(self, listening: socket.socket, relay: Relay) -> None:
        super().__init__(listening, _Handler, _AT_ONCE)
        self.relay = relay
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), name="relay", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop, and close the socket."""
        self.shutdown()
        self._thread.join()
        self.server_close()


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
