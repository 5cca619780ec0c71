"""Requests to a server of sandboxes: one connection each, with a token, a deadline, and a bound on what is taken."""

from __future__ import annotations

import http
import http.client
import ipaddress
import os
import re
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Self, TypeVar
from urllib.parse import urlencode, urlsplit

from pydantic import BaseModel

from repoassay.errors import BadInput, InfraFault
from repoassay.sandbox.remote.messages import read_message, write_message
from repoassay.sandbox.trees import write_tree
from repoassay.text import one_line, printable

__all__ = ["TOKEN", "URL", "Refusal", "SandboxClient", "open_client"]

URL = "REPOASSAY_SANDBOX_URL"
"""The environment variable that names the server where `--isolation http` does not."""
TOKEN = "REPOASSAY_SANDBOX_TOKEN"  # noqa: S105 - the variable's name
_SILENCE = 60.0
"""Seconds that a server may say nothing beside what it was asked to wait."""
_SENDING = 3600.0
_Answer = TypeVar("_Answer", bound=BaseModel)


class Refusal(InfraFault):
    """A server refused a request, with a status and its reason."""

    def __init__(self, place: str, status: int, body: bytes) -> None:
        reason = printable(body.decode(errors="replace"), 300)
        super().__init__(f"The sandbox server {place} refused: {reason} ({status}).")
        self.status, self.body = status, body


class SandboxClient:
    """Asks one server; usable from any thread.

    Args:
        url: `http://HOST[:PORT]`, of this machine alone, or `https://HOST[:PORT]`.
        token: Who we are.
    """

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        self.place = f"{parts.scheme}://{parts.netloc}"
        self._host, self._port, self._token = parts.hostname or "", parts.port, token
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None

    def ask(
        self, model: type[_Answer], method: str, path: str, body: BaseModel | None = None, *,
        limit: int = 2**20, wait: float = 0.0, query: Mapping[str, object] | None = None,
    ) -> _Answer:  # fmt: skip
        """Send a request and read its answer, of at most `limit` bytes; `wait` is what the server may wait.

        Raises:
            Refusal: The server answers with an error.
            InfraFault: It cannot be reached, or answers what it should not.
        """
        data = b"" if body is None else write_message(body)
        query = {**(query or {}), "wait": wait}
        found = self.fetch(method, path, data, limit=limit, seconds=wait + _SILENCE, query=query)
        try:
            return read_message(model, found)
        except ValueError as error:
            raise InfraFault(
                f"The sandbox server {self.place} answered what it should not: {one_line(str(error))}."
            ) from None

    def fetch(
        self, method: str, path: str, data: bytes = b"", *,
        limit: int, seconds: float = _SILENCE, query: Mapping[str, object] | None = None,
    ) -> bytes:  # fmt: skip
        """Send bytes, and return the bytes of the answer; as `ask`."""
        with self._exchange(method, path, len(data), seconds, query or {}) as exchange:
            exchange.write(data)
            return b"".join(_pieces(exchange.receive(), limit, self.place))

    def send_tree(self, path: str, tree: Path, size: int) -> None:
        """Send a tree's archive, which has `size` bytes; as `ask`."""
        with self._exchange("PUT", path, size, _SENDING, {}) as exchange:
            write_tree({"tree": tree}, exchange)  # type: ignore[arg-type]  # all that tarfile asks of a stream
            b"".join(_pieces(exchange.receive(), 4096, self.place))

    @contextmanager
    def open_answer(self, path: str, limit: int) -> Iterator[IO[bytes]]:
        """The answer to a GET as a stream, of which at most `limit` bytes can be read; as `ask`."""
        with self._exchange("GET", path, 0, _SENDING, {}) as exchange:
            yield _Bounded(exchange.receive(), limit)  # type: ignore[misc]  # all that tarfile asks of a stream

    def connect(self, path: str, seconds: float) -> socket.socket | None:
        """A connection that something inside makes; None when none came within `seconds`. As `ask`."""
        with self._exchange("GET", path, 0, seconds + _SILENCE, {"wait": seconds}) as exchange:
            if exchange.receive().status != http.HTTPStatus.SWITCHING_PROTOCOLS:
                return None
            return exchange.detach()

    @contextmanager
    def _exchange(
        self, method: str, path: str, size: int, seconds: float, query: Mapping[str, object]
    ) -> Iterator[_Exchange]:
        """One request on a connection of its own, which a timer closes should the whole take too long."""
        connection: http.client.HTTPConnection
        if self._tls is None:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=_SILENCE)
        else:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=_SILENCE, context=self._tls)
        late, ends = threading.Event(), ExitStack()
        ends.callback(connection.close)

        try:
            connection.connect()
            connection.sock.settimeout(min(seconds, 2 * _SILENCE))
            timer = threading.Timer(seconds, _break_off, (connection.sock, late))
            timer.daemon = True
            timer.start()
            ends.callback(timer.cancel)
            target = path + ("?" + urlencode(query) if query else "")
            connection.putrequest(method, target, skip_accept_encoding=True)
            connection.putheader("Authorization", f"Bearer {self._token}")
            connection.putheader("Content-Type", "application/json")
            connection.putheader("Content-Length", str(size))
            connection.endheaders()
            yield ends.enter_context(_Exchange(connection, self.place))
        except (OSError, http.client.HTTPException, ValueError) as error:
            how = "did not answer in time" if late.is_set() else f"cannot be used: {_reason(error)}"
            raise InfraFault(f"The sandbox server {self.place} {how}.") from None
        finally:
            ends.close()


def _break_off(connected: socket.socket, late: threading.Event) -> None:
    late.set()
    with suppress(OSError):  # it is over
        socket.socket.shutdown(connected, socket.SHUT_RDWR)  # not TLS's own, which would take part in what hangs


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return one_line(text or type(error).__name__)


def _pieces(response: http.client.HTTPResponse, limit: int, place: str) -> Iterator[bytes]:
    left = limit
    while data := response.read1(1 << 16):
        left -= len(data)
        if left < 0:
            raise InfraFault(f"The sandbox server {place} answered with more than {limit} bytes.")
        yield data
    if response.length:
        raise InfraFault(f"The sandbox server {place} broke off in an answer.")


class _Exchange:
    """A request whose head was sent."""

    def __init__(self, connection: http.client.HTTPConnection, place: str) -> None:
        self._connection, self._place = connection, place
        self._response: http.client.HTTPResponse | None = None
        self._is_refused = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._response is not None:
            self._response.close()

    def write(self, data: bytes) -> None:
        if not data or self._is_refused:
            return
        try:
            self._connection.send(data)
        except ConnectionError:  # the server wants no more of it; its answer may say why
            self._is_refused = True

    def receive(self) -> http.client.HTTPResponse:
        """The answer; raises `Refusal` for one that is an error."""
        response = self._response = self._connection.getresponse()
        if response.status >= 300:
            raise Refusal(self._place, response.status, b"".join(_pieces(response, 1 << 16, self._place)))
        return response

    def detach(self) -> socket.socket:
        """The connection itself, over which no HTTP is spoken from here on; our first byte lets the server begin."""
        connected: socket.socket = self._connection.sock
        self._connection.sock = None
        connected.sendall(b"\0")
        return connected


class _Bounded:
    def __init__(self, response: http.client.HTTPResponse, limit: int) -> None:
        self._response, self._left = response, limit

    def read(self, size: int) -> bytes:
        data = self._response.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("more bytes than asked for")
        return data


def open_client(url: str = "") -> SandboxClient:
    """A client of the server that is named, or of that in `REPOASSAY_SANDBOX_URL`; nothing is asked of it yet.

    Raises:
        BadInput: When no server is named, the name cannot be used, or `REPOASSAY_SANDBOX_TOKEN` holds no token.
    """
    named = url or os.environ.get(URL, "")
    example = "--isolation http@https://sandboxes.example.com"
    if not named:
        raise BadInput(
            "The isolation http needs the address of a server.", f"Name it, as in {example}, or in the variable {URL}."
        )
    try:
        parts = urlsplit(named)
        port_is_good = parts.port is None or parts.port > 0
    except ValueError:
        raise BadInput(f"{printable(named)!r} is no address of a server.", f"Name one, as in {example}.") from None
    if parts.username is not None or parts.password is not None:
        raise BadInput("The address of a sandbox server holds a login.", f"Put the token into the variable {TOKEN}.")
    plain = parts.scheme in ("http", "https") and parts.hostname and port_is_good and parts.path in ("", "/")
    if not plain or parts.query or parts.fragment or not _is_word(named):
        raise BadInput(f"{printable(named)!r} is no address of a server.", f"Name one, as in {example}.")
    if parts.scheme == "http" and not _is_this_machine(parts.hostname or ""):
        raise BadInput(
            f"The address {printable(named)!r} would send the token and the files of tasks in the clear.",
            "Use https://, or http:// with 127.0.0.1 alone.",
        )
    token = os.environ.get(TOKEN, "")
    if not _is_word(token):
        raise BadInput(
            f"There is no token for the sandbox server: the variable {TOKEN} is not set, or holds something else.",
            "Set it to what `repoassay sandbox serve` printed, or to a line of its token file.",
        )
    return SandboxClient(named, token)


def _is_word(text: str) -> bool:
    return re.fullmatch("[!-~]+", text) is not None


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
