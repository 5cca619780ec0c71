"""The forward proxy of the network policy `packages`: package indexes and declared hosts, nothing else, all journalled.

It passes TLS through (CONNECT) and fetches plain `http://` pages; names are resolved here, on the host, and the address
that is connected to is the one that was looked at, so a name that changes its address between two looks gains nothing.
What it cannot see is what is said inside TLS, and so to which of a shared server's names it is said.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from repoassay.package_proxy.egress_rules import HostRule, refusal_of
from repoassay.package_proxy.event_loop_thread import LoopThread
from repoassay.package_proxy.proxy_request import RequestRefused, read_request
from repoassay.package_proxy.tunnel import CHUNK, Idle, Stream, fetch, part, tunnel

__all__ = ["PackageProxy", "ProxyLimits", "Visit", "Visitor"]

_HEAD = 32 * 1024
_BACKLOG = 64  # also how many descriptors a flood can cost beyond `at_once`
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """What one attempt may use: bytes both ways, connections at once and in all; seconds without a byte, of waiting."""

    bytes: int = 16 * 2**30
    at_once: int = 128
    connections: int = 20_000
    idle: float = 180.0
    connecting: float = 20.0
    head: float = 30.0


@dataclass(slots=True)
class Visit:
    """One request to the proxy: what was asked for, whether it was allowed, and what went through."""

    at: str
    method: str = ""
    host: str = ""
    port: int = 0
    allowed: bool = False
    why: str = ""
    """Why it was refused, or why an allowed one came to nothing or was cut."""
    rule: str = ""
    """`sources` when it was refused because the host hands out packages or sources."""
    address: str = ""
    sent: int = 0
    received: int = 0
    seconds: float = 0.0

    def line(self) -> str:
        """As a line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


class PackageProxy:
    """Runs the visitors' proxies, on a thread of its own. A context manager."""

    def __enter__(self) -> Self:
        self._thread = LoopThread("packages")
        self._visitors: set[Visitor] = set()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for visitor in list(self._visitors):
            visitor.close()
        self._thread.stop()

    def admit(
        self, rules: Iterable[HostRule], journal: Callable[[Visit], None], limits: ProxyLimits | None = None,
        is_closed: Callable[[str], bool] = lambda _: False,
    ) -> Visitor:  # fmt: skip
        """Let an attempt in.

        Args:
            rules: Where to.
            journal: Called on the proxy's thread at every end.
            limits: What it may use.
            is_closed: Whether a host, in lower case, is refused whatever the rules say.
        """
        visitor = Visitor(
            self._thread, tuple(rules), journal, limits or ProxyLimits(), is_closed, self._visitors.discard
        )
        self._visitors.add(visitor)
        return visitor


@dataclass(slots=True, eq=False)
class Visitor:
    """One attempt's proxy. `serve` and `close` suit a `PortForward`."""

    _thread: LoopThread
    _rules: tuple[HostRule, ...]
    _journal: Callable[[Visit], None]
    _limits: ProxyLimits
    _closed_to: Callable[[str], bool]
    _left: Callable[[Visitor], None]
    _servers: list[asyncio.Server] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closed: bool = False
    used: int = 0
    """Bytes both ways."""
    connections: int = 0

    def serve(self, listening: socket.socket) -> None:
        """Answer at a socket that already listens, and own it from now on."""
        listening.setblocking(False)
        self._thread.run(self._serve(listening, None))

    def relay(self, host: str, port: int) -> Callable[[socket.socket], None]:
        """What serves a port forward by passing everything on to one address, for an index on the host's own loopback.

        No proxy's settings bring a client to 127.0.0.1; so such an index gets a port forward of its own.
        """

        def serve(listening: socket.socket) -> None:
            listening.setblocking(False)
            self._thread.run(self._serve(listening, (host, port)))

        return serve

    def close(self) -> None:
        """Let go of every socket, journalling what was under way. Safe to repeat."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._left(self)
        self._thread.run(self._end())

    async def _serve(self, listening: socket.socket, to: tuple[str, int] | None) -> None:
        async def guest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                await self._guest(reader, writer, to)
            finally:
                self._tasks.discard(task)

        self._servers.append(await asyncio.start_server(guest, sock=listening, limit=_HEAD, backlog=_BACKLOG))

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=5)

    async def _guest(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, to: tuple[str, int] | None
    ) -> None:
        self.connections += 1
        visit, started = Visit(datetime.now(UTC).isoformat(timespec="milliseconds")), time.monotonic()
        if self.connections > self._limits.connections + 1:
            writer.transport.abort()  # the first one too many is journalled
            return
        try:
            self._check_limits()
            if to is None:
                await self._proxied(reader, writer, visit)
            else:
                visit.method, visit.host, visit.port, visit.allowed = "RELAY", *to, True
                await self._pass_on((reader, writer), await self._connect([to[0]], to[1]), visit)
        except RequestRefused as refused:
            visit.why = refused.why
            if to is None and not visit.address:
                await _say(reader, writer, refused)
        except Idle:
            visit.why = f"Nothing moved for {self._limits.idle:g} seconds."
        except asyncio.CancelledError:
            visit.why = visit.why or "The attempt ended."
        except (OSError, EOFError) as error:
            visit.why = visit.why or f"The connection broke: {str(error) or type(error).__name__}."
        finally:
            visit.seconds = round(time.monotonic() - started, 4)
            try:
                self._journal(visit)
            finally:
                await part(writer, 0.0 if visit.why else self._limits.idle)

    def _check_limits(self) -> None:
        if self.connections > self._limits.connections:
            raise RequestRefused(f"This attempt has made {self._limits.connections} connections, which is all it may.")
        if len(self._tasks) > self._limits.at_once:
            raise RequestRefused(f"More than {self._limits.at_once} connections at once.", 503)
        self._count(0)

    def _count(self, size: int) -> None:
        self.used += size
        if self.used > self._limits.bytes:
            raise RequestRefused(f"This attempt has moved {self._limits.bytes} bytes, which is all it may.")

    async def _proxied(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, visit: Visit) -> None:
        head = await self._head(reader)
        visit.method = head.partition(b" ")[0][:16].decode("ascii", "replace")
        request = read_request(head)
        visit.host, visit.port = request.host, request.port
        rules = [rule for rule in self._rules if rule.allows(request.host, request.port)]
        if self._closed_to(request.host):
            visit.rule = "sources"
            raise RequestRefused(f"{visit.host} is not open to this task: packages come from its own index alone.")
        if not rules:
            raise RequestRefused(
                f"The network policy of this workspace does not allow {visit.host} at port {visit.port}."
            )
        request.check()
        addresses = await self._addresses(visit.host, visit.port, trusted=any(rule.trusted for rule in rules))
        visit.allowed = True
        far = await self._connect(addresses, visit.port)
        if request.method == "CONNECT":
            await self._pass_on((reader, writer), far, visit, greeting=_ESTABLISHED)
        else:
            await self._pass_on((reader, writer), far, visit, request=request.plain())

    async def _head(self, reader: asyncio.StreamReader) -> bytes:
        try:
            async with asyncio.timeout(self._limits.head):
                return await reader.readuntil(b"\r\n\r\n")
        except TimeoutError:
            raise RequestRefused(f"No request came within {self._limits.head:g} seconds.", 408) from None
        except asyncio.LimitOverrunError:
            raise RequestRefused(f"The head of the request is longer than {_HEAD} bytes.", 431) from None
        except asyncio.IncompleteReadError as error:
            raise RequestRefused("The connection was closed without a request." if not error.partial
                           else "The request broke off.", 400) from None  # fmt: skip

    async def _addresses(self, host: str, port: int, *, trusted: bool) -> list[str]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._limits.connecting):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, TimeoutError, UnicodeError):
            raise RequestRefused(f"The name {host} cannot be resolved.", 502) from None
        addresses = list(dict.fromkeys(str(item[4][0]) for item in found))
        if trusted:
            return addresses
        reasons = {address: refusal_of(address) for address in addresses}
        good = [address for address, reason in reasons.items() if not reason]
        if not good:
            address, reason = next(iter(reasons.items()))
            raise RequestRefused(f"The name {host} leads to {address}, which {reason}.")
        return good

    async def _connect(self, addresses: list[str], port: int) -> Stream:
        why = "no address"
        for address in addresses[:8]:
            try:
                async with asyncio.timeout(self._limits.connecting):
                    return await asyncio.open_connection(address, port, limit=CHUNK)
            except TimeoutError:
                why = f"no answer within {self._limits.connecting:g} seconds"
            except OSError as error:
                why = error.strerror or str(error)
        raise RequestRefused(f"The host cannot be reached: {why}.", 502)

    async def _pass_on(
        self, near: Stream, far: Stream, visit: Visit, *, greeting: bytes = b"", request: bytes = b""
    ) -> None:
        def moved(sent: int, received: int) -> None:
            visit.sent += sent
            visit.received += received
            self._count(sent + received)

        visit.address = far[1].get_extra_info("peername")[0]
        try:
            near[1].write(greeting)
            if request:
                await fetch(near, far, request, moved, self._limits.idle)
            else:
                await tunnel(near, far, moved, self._limits.idle)
        finally:
            far[1].transport.abort()


async def _say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, refused: RequestRefused) -> None:
    """Refuse, and hear the other side out for a moment, since a reset would take the answer from it."""
    words = {
        400: "Bad Request",
        403: "Forbidden",
        408: "Request Timeout",
        431: "Head Too Large",
        502: "Bad Gateway",
        503: "Too Many Connections",
    }
    body = f"{refused.why}\n".encode()
    head = f"HTTP/1.1 {refused.status} {words[refused.status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
    head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    with contextlib.suppress(OSError, TimeoutError):
        writer.write(head.encode() + body)
        writer.write_eof()
        async with asyncio.timeout(1 if refused.status != 503 else 0):  # a flood is not heard out
            while await reader.read(CHUNK):
                pass
