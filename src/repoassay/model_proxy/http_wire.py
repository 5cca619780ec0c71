"""The wire to an upstream over HTTP: no redirects, bounded heads, an idle timeout, and errors without keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from urllib.parse import urlsplit

import aiohttp

from repoassay.model_proxy.limits import CallLimits
from repoassay.model_proxy.upstream_client import UpstreamError, UpstreamRequest
from repoassay.model_proxy.upstreams import Upstream
from repoassay.types import is_local

__all__ = ["HttpWire"]


class _HttpAnswer:
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _trouble(error) from None

    async def close(self) -> None:
        self._response.close()


class HttpWire:
    """One upstream's connection pool. Made and used on the model proxy's loop."""

    def __init__(self, upstream: Upstream, key: str, limits: CallLimits) -> None:
        self.name = upstream.name
        self.dialects = frozenset(upstream.dialects)
        self.concurrency = upstream.concurrency
        self.output_field: str = upstream.output_field
        self.translate = upstream.translate
        self.reasoning = upstream.reasoning
        self.tells_cost = upstream.tells_cost
        self.allow = upstream.allow
        self.secret = key
        self._upstream = upstream
        local = is_local(urlsplit(upstream.base_url).hostname)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(
                total=None, connect=limits.connect, sock_connect=limits.connect, sock_read=limits.idle
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=not local,  # the harness's own proxy, if it has one
        )

    async def open(self, ask: UpstreamRequest) -> _HttpAnswer:
        """See `UpstreamClient`."""
        headers = {**ask.headers, **self._upstream.headers, "Accept-Encoding": "identity"}
        headers.update(ask.dialect.sign(self.secret))
        url = ask.dialect.url(self._upstream.base_url, ask.route, ask.model)
        try:
            response = await self._session.post(url, data=ask.raw, headers=headers, allow_redirects=False)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise _trouble(error) from None
        return _HttpAnswer(response)

    async def close(self) -> None:
        """See `UpstreamClient`."""
        await self._session.close()


def _trouble(error: Exception) -> UpstreamError:
    # The text of some of these errors holds the address; none holds headers. The class says enough.
    kind = type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return UpstreamError("unreachable", kind)
    if isinstance(error, TimeoutError):
        return UpstreamError("silence", kind)
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError | OSError):
        return UpstreamError("cut", kind)
    return UpstreamError("bad_http", kind)
