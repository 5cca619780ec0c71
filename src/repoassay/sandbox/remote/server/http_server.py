"""The HTTP of a server of sandboxes: every request has a token, a bounded body, and one short answer."""

from __future__ import annotations

import os
import re
import socket
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from repoassay.errors import BadInput, Interrupted, RepoAssayError
from repoassay.sandbox.bounded_server import BoundedServer
from repoassay.sandbox.remote.messages import (
    MESSAGE,
    Acknowledgement,
    ExecNumber,
    ExecRequest,
    RemoteChange,
    RemoteChanges,
    SessionName,
    SessionRequest,
    SnapshotName,
    SnapshotRequest,
    TreeNames,
    write_message,
)
from repoassay.sandbox.remote.server.asked_request import AskedRequest, RefusedRequest, refuse_file
from repoassay.sandbox.remote.server.holder_shares import MOST_CONNECTIONS
from repoassay.sandbox.remote.server.sandbox_host import SandboxHost
from repoassay.sandbox.remote.tunnel import carry
from repoassay.sandbox.trees import measure_tree, write_tree

__all__ = ["SandboxServer"]

_SILENCE = 60
_BEARER = re.compile(r"Bearer ([!-~]{1,1000})")
_SESSION = r"/v1/sessions/(?P<session>[A-Za-z0-9_-]{16,64})"


class SandboxServer(BoundedServer):
    """Answers requests for sandboxes at a socket that listens.

    Args:
        listening: The socket, which is the server's from here on.
        host: Has the sessions.
        holder: Who holds a token; None for nobody.
        tls: A certificate, where there is one.
    """

    def __init__(
        self, listening: socket.socket, host: SandboxHost, holder: Callable[[str | None], str | None],
        tls: ssl.SSLContext | None = None,
    ) -> None:  # fmt: skip
        super().__init__(listening, _Handler, MOST_CONNECTIONS)
        self.host, self.holder, self._tls = host, holder, tls
        self.parsing = threading.Lock()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Answer one connection, in a thread of its own, where a slow handshake keeps nobody waiting."""
        if self._tls is None:
            with self.clock.watching(request):
                super().finish_request(request, client_address)
            return
        request.settimeout(_SILENCE)
        private = self._tls.wrap_socket(request, server_side=True, do_handshake_on_connect=False)
        with private, self.clock.watching(private):
            private.do_handshake()
            super().finish_request(private, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection, which has one request."""

    server: SandboxServer
    timeout = _SILENCE
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "repoassay", ""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: paths are secrets of those who asked."""

    def _answer(self) -> None:
        self.close_connection = True
        try:
            answer = self._work()
            status = 200
        except RefusedRequest as refusal:
            status, answer = refusal.status, refusal.reason
        except RepoAssayError as error:
            status = {BadInput: 400, Interrupted: 409}.get(type(error), 500)
            answer = error.message.encode(errors="replace")
        except KeyError:
            status, answer = 404, b"there is no such thing"
        except ValueError as error:
            status, answer = 400, str(error).encode(errors="replace")
        if answer is not None:
            self.server.clock.allow(self.connection, len(answer))
            self.start_answer(status, len(answer))
            self.wfile.write(answer)

    def _work(self) -> bytes | None:
        """The answer to the request; None where it was sent already."""
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True, encoding="utf-8", errors="surrogateescape"))
        bearer = _BEARER.fullmatch(self.headers.get("Authorization", ""))
        holder = self.server.holder(bearer[1] if bearer else None)
        if holder is None:
            raise RefusedRequest(401, "there is no such token")
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdecimal()) or len(length) > 15 or "Transfer-Encoding" in self.headers:
            raise RefusedRequest(411, "a Content-Length is needed")
        self.server.clock.allow(self.connection, int(length))
        with self.server.host.shares.connection(holder) as let:
            if not let:
                raise RefusedRequest(503, "too many connections of this token")
            for (method, pattern), function in _ROUTES.items():
                found = pattern.fullmatch(parts.path)
                if found and method == self.command:
                    return function(AskedRequest(self, holder, int(length), found.groupdict(), query))
        raise RefusedRequest(404, "there is nothing here")

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 - as the base class calls them

    def start_answer(self, status: int, size: int) -> None:
        """Send what stands above an answer of `size` bytes."""
        self.send_response(status)
        self.send_header("Content-Length", str(size))
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Connection", "close")
        self.end_headers()


def _describe(request: AskedRequest) -> bytes:
    return write_message(request.host.describe())


def _lacking(request: AskedRequest) -> bytes:
    return write_message(TreeNames(trees=request.host.trees.lacking(request.holder, request.message(TreeNames).trees)))


def _take_tree(request: AskedRequest) -> bytes:
    stream: Any = request.handler.rfile  # of which `read` alone is asked
    request.host.trees.take(request.holder, request.names["tree"], stream, request.size)
    return write_message(Acknowledgement())


def _open(request: AskedRequest) -> bytes:
    name = request.host.open(request.holder, request.message(SessionRequest, MESSAGE))
    if name is None:
        raise RefusedRequest(503, "all places are taken")
    return write_message(SessionName(session=name))


def _state(request: AskedRequest) -> bytes:
    return write_message(request.hosted.state(request.wait, request.number("log"), request.number("channel")))


def _close(request: AskedRequest) -> bytes:
    request.hosted.close(cancelled=bool(request.number("cancelled")))
    return write_message(Acknowledgement())


def _remove(request: AskedRequest) -> bytes:
    request.host.find(request.holder, request.names["session"])
    request.host.remove(request.names["session"])
    return write_message(Acknowledgement())


def _exec(request: AskedRequest) -> bytes:
    return write_message(ExecNumber(exec=request.hosted.exec(request.message(ExecRequest, MESSAGE))))


def _exec_state(request: AskedRequest) -> bytes:
    return write_message(request.hosted.exec_state(int(request.names["number"]), request.wait))


def _kill(request: AskedRequest) -> bytes:
    request.hosted.session.kill()
    return write_message(Acknowledgement())


def _read(request: AskedRequest) -> bytes:
    try:
        return request.hosted.session.read(request.path, min(request.number("limit"), MESSAGE))
    except OSError as error:
        refuse_file(error)


def _write(request: AskedRequest) -> bytes:
    try:
        with request.body() as data:
            request.hosted.session.write(request.path, data, executable=bool(request.number("executable")))
    except OSError as error:
        refuse_file(error)
    return write_message(Acknowledgement())


def _snapshot(request: AskedRequest) -> bytes:
    try:
        name = request.hosted.session.snapshot(*request.message(SnapshotRequest).folders)
    except OSError as error:
        refuse_file(error)
    return write_message(SnapshotName(snapshot=name))


def _diff(request: AskedRequest) -> bytes:
    try:
        changes = request.hosted.session.diff(request.query["name"])
    except BadInput as error:
        raise RefusedRequest(404, error.message) from None
    except OSError as error:
        refuse_file(error)
    found = (
        RemoteChange(path=os.fsencode(each.path), change=each.change, size=each.size,
                     regular=each.regular, executable=each.executable)
        for each in changes
    )  # fmt: skip
    return write_message(RemoteChanges(changes=tuple(found)))


def _collected(request: AskedRequest) -> None:
    number = int(request.names["number"])
    places = request.hosted.collected
    if number >= len(places):
        raise KeyError(number)
    tree = {".": places[number]}
    size = measure_tree(tree)[1]
    request.handler.server.clock.allow(request.handler.connection, size)
    request.handler.start_answer(200, size)
    write_tree(tree, request.handler.wfile)


def _forward(request: AskedRequest) -> bytes | None:
    came = request.hosted.accept(int(request.names["port"]), request.wait)
    if came is None:
        return write_message(Acknowledgement())
    handler = request.handler
    with came:
        handler.send_response(101)
        handler.send_header("Connection", "Upgrade")
        handler.send_header("Upgrade", "tcp")
        handler.end_headers()
        if handler.connection.recv(1):  # the asker is ready
            handler.server.clock.release(handler.connection)
            carry(handler.connection, came)
    return None


_ROUTES: dict[tuple[str, re.Pattern[str]], Callable[[AskedRequest], bytes | None]] = {
    (method, re.compile(pattern)): function
    for method, pattern, function in (
        ("GET", r"/v1", _describe),
        ("POST", r"/v1/trees", _lacking),
        ("PUT", r"/v1/trees/(?P<tree>[0-9a-f]{64})", _take_tree),
        ("POST", r"/v1/sessions", _open),
        ("GET", _SESSION, _state),
        ("DELETE", _SESSION, _remove),
        ("POST", f"{_SESSION}/close", _close),
        ("POST", f"{_SESSION}/exec", _exec),
        ("GET", f"{_SESSION}/exec/(?P<number>[0-9]{{1,9}})", _exec_state),
        ("POST", f"{_SESSION}/kill", _kill),
        ("GET", f"{_SESSION}/file", _read),
        ("PUT", f"{_SESSION}/file", _write),
        ("POST", f"{_SESSION}/snapshots", _snapshot),
        ("GET", f"{_SESSION}/snapshots", _diff),
        ("GET", f"{_SESSION}/ports/(?P<port>[0-9]{{1,5}})", _forward),
        ("GET", f"{_SESSION}/collected/(?P<number>[0-9]{{1,4}})", _collected),
    )
}
