"""What a client asks of a forward proxy, read strictly, and the plain request as its server gets it."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

__all__ = ["ProxyRequest", "RequestRefused", "read_request"]

_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*")
_REQUEST = re.compile(rb"([A-Z]{1,16}) ([!-~]{1,8192}) HTTP/1\.[01]")
_HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")
_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate", "te", "trailer",
     "transfer-encoding", "upgrade", "host", "content-length", "expect"}
)  # fmt: skip


class RequestRefused(Exception):
    """What is answered with 403 (or, where it was allowed, 502) and one sentence."""

    def __init__(self, why: str, status: int = 403) -> None:
        super().__init__(why)
        self.why, self.status = why, status


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    """A request to a proxy: host in lower case, path with its query, headers by name in lower case."""

    method: str
    host: str
    port: int
    path: str
    headers: dict[str, str]

    def check(self) -> None:
        """Refuse what no package client asks.

        Raises:
            RequestRefused: It is neither CONNECT nor GET nor HEAD, or brings something along.
        """
        if self.method not in ("CONNECT", "GET", "HEAD"):
            raise RequestRefused(f"{self.method} does not pass here; only CONNECT, GET and HEAD do.")
        if self.method != "CONNECT" and any(name in self.headers for name in ("content-length", "transfer-encoding")):
            raise RequestRefused("Nothing is sent along with plain requests; only GET and HEAD without a body pass.")

    def plain(self) -> bytes:
        """The request as its server gets it: its own host, nothing of the proxy's, one answer a connection."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        named = {part.strip().lower() for part in self.headers.get("connection", "").split(",")}
        kept = [f"{name}: {value}" for name, value in self.headers.items() if name not in _HOP and name not in named]
        place = host if self.port == 80 else f"{host}:{self.port}"
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {place}", "Connection: close", *kept]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def read_request(head: bytes) -> ProxyRequest:
    """Read the head of a request, with the empty line that ends it.

    Raises:
        RequestRefused: It is malformed, or does not name a whole address.
    """
    first, *lines = head[:-4].split(b"\r\n")
    match = _REQUEST.fullmatch(first)
    if match is None:
        raise RequestRefused("This is no request to a proxy.", 400)
    headers = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not _HEADER.fullmatch(name) or re.search(rb"[\r\n\0]", value):
            raise RequestRefused("A header of the request is malformed.", 400)
        headers[name.decode().lower()] = value.strip().decode("latin-1")
    method, target = match[1].decode(), match[2].decode()
    return ProxyRequest(method, *_where(method, target), headers)


def _where(method: str, target: str) -> tuple[str, int, str]:
    """Host in lower case, port and path."""
    try:
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        raise RequestRefused("The address of the request is malformed.", 400) from None
    if method == "CONNECT":
        if port is None or parts.path or parts.query or parts.fragment or "@" in target:
            raise RequestRefused("CONNECT needs HOST:PORT.", 400)
    elif parts.scheme != "http" or "@" in parts.netloc:
        raise RequestRefused("This is a proxy: plain requests name their whole http:// address, without a password.")
    if not _is_address(host) and not _NAME.fullmatch(host):
        raise RequestRefused("The host of the request is malformed.", 400)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return host, 80 if port is None else port, path


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
