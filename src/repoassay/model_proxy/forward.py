"""Sending an admitted request on and passing its answer back, while a watcher reads the usage out of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import orjson
from aiohttp import ClientConnectionError, web

from repoassay.model_proxy.charge import shorten
from repoassay.model_proxy.exchange import Exchange, passed_back
from repoassay.model_proxy.ledger import BudgetLedger
from repoassay.model_proxy.limits import CallLimits
from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.retry import AllAttemptsFailed, OpenResponse, open_patiently
from repoassay.model_proxy.sse import EventReader
from repoassay.model_proxy.upstream_client import UpstreamClient, UpstreamError, UpstreamRequest
from repoassay.model_proxy.vendors import Asks, ProviderTrouble, Vendor, Watcher

__all__ = ["forward"]


async def forward(
    exchange: Exchange,
    wire: UpstreamClient,
    ask: UpstreamRequest,
    asked: JsonObject,
    limits: CallLimits,
    ledgers: tuple[BudgetLedger, ...],
) -> web.StreamResponse:
    """Ask the upstream and answer the client. `asked` is the body as the agent sent it.

    Never raises for anything an upstream does; what went wrong is in the exchange's `fault`.
    """
    exchange.forwarded = True
    outcome = await open_patiently(wire, ask, limits, ledgers)
    while isinstance(outcome, AllAttemptsFailed) and (again := shorten(ask, outcome, wire.output_field)) is not None:
        ask = again
        outcome = await open_patiently(wire, ask, limits, ledgers)
    exchange.retries = outcome.retries
    if isinstance(outcome, AllAttemptsFailed):
        return _failed(exchange, ask.dialect, outcome)
    try:
        exchange.answered = ask.route.asks is Asks.REPLY
        exchange.mark_first_byte()
        if ask.stream:
            return await _stream(exchange, ask.dialect.watcher(asked), ask.dialect, outcome, limits)
        if exchange.answered:
            exchange.usage = ask.dialect.usage(outcome.parsed or {})
            exchange.seen = len(outcome.first)
        return exchange.reply(outcome.answer.status, outcome.first, passed_back(outcome.answer.headers))
    finally:
        await outcome.answer.close()


def _failed(exchange: Exchange, dialect: Vendor, failed: AllAttemptsFailed) -> web.Response:
    exchange.fault, exchange.detail = failed.fault, failed.detail
    if failed.fault == "credentials":
        # What the vendor says of a key may hold a part of it.
        return exchange.error(
            dialect.refuse(ProviderTrouble.UPSTREAM, "The upstream refused the harness's own credentials.")
        )
    if failed.status is not None and failed.status >= 400:
        exchange.detail = exchange.clean(failed.body[:600]).decode("utf-8", "replace")
        return exchange.reply(failed.status, failed.body, passed_back(failed.headers))
    trouble = ProviderTrouble.SILENCE if failed.fault == "silence" else ProviderTrouble.UPSTREAM
    return exchange.error(dialect.refuse(trouble, f"The upstream gave no usable answer ({failed.fault})."))


async def _stream(
    exchange: Exchange, watcher: Watcher, dialect: Vendor, opened: OpenResponse, limits: CallLimits
) -> web.StreamResponse:
    headers = {**passed_back(opened.answer.headers), "Cache-Control": "no-cache"}
    response = web.StreamResponse(status=opened.answer.status, headers=headers)
    exchange.status = opened.answer.status
    client = _Client(exchange, response)
    reader = EventReader()
    try:
        await client.prepare()
        async for chunk in _whole(opened):
            exchange.seen += len(chunk)
            if exchange.seen > limits.response:
                raise UpstreamError("too_large")  # noqa: TRY301 - the same end as a trouble the wire raises
            shown = _read_along(exchange, watcher, dialect, reader, chunk)
            await client.write(shown if watcher.hides else chunk)
        if watcher.hides:
            await client.write(reader.rest())
        if not watcher.finished and not watcher.error:
            raise UpstreamError("cut", "the stream ended early")  # noqa: TRY301 - the same end again
        exchange.fault = "client_gone" if client.gone else exchange.fault or watcher.error
    except UpstreamError as trouble:
        exchange.fault, exchange.detail = "client_gone" if client.gone else trouble.fault, trouble.detail
        _hang_up(exchange.request)
    except asyncio.CancelledError:
        exchange.fault = "closed"
        raise
    finally:
        exchange.usage = watcher.usage
    return response


class _Client:
    """Who is told the answer. When it hangs up the answer is still read to its end: the vendor charges for it, and
    only its end tells how much; until then the call counts as under way.
    """

    def __init__(self, exchange: Exchange, response: web.StreamResponse) -> None:
        self.gone = False
        self._exchange, self._response = exchange, response

    async def prepare(self) -> None:
        """Send the head."""
        try:
            await self._response.prepare(self._exchange.request)
        except (ConnectionError, ClientConnectionError):
            self.gone = True

    async def write(self, data: bytes) -> None:
        """Pass a piece on."""
        out = self._exchange.clean(data)
        if self.gone or not out:
            return
        self._exchange.keep(out)
        try:
            await self._response.write(out)
        except (ConnectionError, ClientConnectionError):
            self.gone = True


async def _whole(opened: OpenResponse) -> AsyncIterator[bytes]:
    yield opened.first
    async for chunk in opened.rest:
        yield chunk


def _read_along(exchange: Exchange, watcher: Watcher, dialect: Vendor, reader: EventReader, chunk: bytes) -> bytes:
    """Look at the events that `chunk` completes; returns those the client may see."""
    shown = bytearray()
    for raw, data in reader.feed(chunk):
        hide = False
        if not data:
            pass
        elif data == dialect.end_marker:
            watcher.finished = True
        elif not (data.startswith(b"{") and data.endswith(b"}")):
            exchange.fault = "malformed"
        elif watcher.wants(data):
            hide = _see(exchange, watcher, data)
        if not hide:
            shown += raw
    if reader.overflowed:
        exchange.fault = "malformed"
    return bytes(shown)


def _see(exchange: Exchange, watcher: Watcher, data: bytes) -> bool:
    try:
        event = orjson.loads(data)
    except orjson.JSONDecodeError:
        exchange.fault = "malformed"
        return False
    return watcher.see(event) if isinstance(event, dict) else False


def _hang_up(request: web.BaseRequest) -> None:
    """End the connection without the chunk that would say that the answer is whole."""
    if request.transport is not None:
        request.transport.close()
