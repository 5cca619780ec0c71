"""Sending an admitted request on and passing its answer back, while a watcher reads the usage out of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import orjson
from aiohttp import ClientConnectionError, web

from repoassay.model_proxy.charge import shorten
from repoassay.model_proxy.exchange import Exchange
from repoassay.model_proxy.ledger import BudgetLedger
from repoassay.model_proxy.limits import CallLimits
from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.retry import UNTOLD_FAULTS, AllAttemptsFailed, OpenResponse, open_patiently
from repoassay.model_proxy.sse import EventReader
from repoassay.model_proxy.upstream_client import UpstreamClient, UpstreamError, UpstreamRequest
from repoassay.model_proxy.vendors import Asks, ErrorReply, ProviderTrouble, Vendor, Watcher
from repoassay.model_proxy.vendors.parts import dollar_amount, told_cost
from repoassay.types import Usage

if TYPE_CHECKING:
    from repoassay.model_proxy.translation import Translator

__all__ = ["forward"]

_COST_HEADER = "x-litellm-response-cost"
"""Dollars, as LiteLLM's proxy tells them of answers that are not streamed; those come after their head."""


async def forward(
    exchange: Exchange,
    wire: UpstreamClient,
    ask: UpstreamRequest,
    request: JsonObject,
    limits: CallLimits,
    ledgers: tuple[BudgetLedger, ...],
    translator: Translator | None = None,
) -> web.StreamResponse:
    """Ask the upstream and answer the client. `asked` is the body as the agent sent it, in the dialect it was sent to;
    `translator` puts answers into the agent's, where that is another.

    Never raises for anything an upstream does; what went wrong is in the exchange's `fault`.
    """
    exchange.forwarded = True
    outcome = await open_patiently(wire, ask, limits, ledgers)
    while isinstance(outcome, AllAttemptsFailed) and (again := shorten(ask, outcome, wire.output_field)) is not None:
        ask = again
        outcome = await open_patiently(wire, ask, limits, ledgers)
    exchange.retries = outcome.retries
    exchange.untold = sum(retry.fault in UNTOLD_FAULTS for retry in outcome.retries)
    if isinstance(outcome, AllAttemptsFailed):
        return _failed(exchange, ask.dialect, outcome)
    try:
        exchange.answered = ask.route.asks is Asks.REPLY
        exchange.mark_first_byte()
        if ask.stream:
            return await _stream(exchange, ask.dialect.watcher(request), ask.dialect, outcome, limits, translator)
        return _reply(exchange, ask, outcome, translator)
    finally:
        await outcome.answer.close()


def _reply(
    exchange: Exchange, ask: UpstreamRequest, outcome: OpenResponse, translator: Translator | None
) -> web.Response:
    """An answer that is not streamed."""
    data, parsed = outcome.first, outcome.parsed or {}
    if exchange.answered:
        exchange.usage = _plausible(ask.dialect.usage(parsed))
        exchange.seen = len(data)
        exchange.answered_by = ask.dialect.told_model(parsed)
        header = outcome.answer.headers.get(_COST_HEADER)
        exchange.told_cost = dollar_amount(header) if header else told_cost(parsed.get(ask.dialect.usage_field))
    if translator is not None:
        from repoassay.model_proxy.translation import UNREADABLE

        try:
            data = orjson.dumps(translator.answer(parsed, exchange.usage))
        except UNREADABLE:
            failed = AllAttemptsFailed("malformed", None, {}, b"", f"no answer in {translator.spoken}", ())
            return _failed(exchange, ask.dialect, failed)
    return exchange.reply(outcome.answer.status, data, exchange.passed_back(outcome.answer.headers))


def _plausible(usage: Usage | None) -> Usage | None:
    """Usage as it was told; no prompt is empty, so that zeros, as some servers send them, are no word on it."""
    return None if usage is not None and usage.total == 0 else usage


def _failed(exchange: Exchange, spoken: Vendor, failed: AllAttemptsFailed) -> web.Response:
    exchange.fault, exchange.detail = failed.fault, failed.detail
    exchange.untold += failed.fault in UNTOLD_FAULTS and not exchange.answered
    dialect = exchange.dialect or spoken
    if failed.fault == "credentials":
        # What the vendor says of a key may hold a part of it.
        return exchange.error(
            dialect.refuse(ProviderTrouble.UPSTREAM, "The upstream refused the harness's own credentials.")
        )
    if failed.status is not None and failed.status >= 400:
        exchange.detail = exchange.clean(failed.body)[:600].decode("utf-8", "replace")
        if dialect is not spoken:
            return exchange.error(error_in(dialect, failed.status, failed.body))
        return exchange.reply(failed.status, failed.body, exchange.passed_back(failed.headers))
    trouble = ProviderTrouble.SILENCE if failed.fault == "silence" else ProviderTrouble.UPSTREAM
    return exchange.error(dialect.refuse(trouble, f"The upstream gave no usable answer ({failed.fault})."))


async def _stream(
    exchange: Exchange, watcher: Watcher, dialect: Vendor, opened: OpenResponse, limits: CallLimits,
    translator: Translator | None,
) -> web.StreamResponse:  # fmt: skip
    headers = {**exchange.passed_back(opened.answer.headers), "Cache-Control": "no-cache"}
    response = web.StreamResponse(status=opened.answer.status, headers=headers)
    exchange.status = opened.answer.status
    client = _Client(exchange, response)
    along = _Along(exchange, watcher, dialect, translator)
    try:
        await client.prepare()
        async for chunk in _whole(opened):
            exchange.seen += len(chunk)
            if exchange.seen > limits.response:
                raise UpstreamError("too_large")  # noqa: TRY301 - the same end as a trouble the wire raises
            await client.write(along.read(chunk))
        await client.write(along.rest(), last=True)
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
        exchange.usage = _plausible(watcher.usage)
        exchange.told_cost, exchange.answered_by = watcher.cost, watcher.model
    return response


class _Client:
    """Who is told the answer. When it hangs up the answer is still read to its end: the vendor charges for it, and
    only its end tells how much; until then the call counts as under way.
    """

    def __init__(self, exchange: Exchange, response: web.StreamResponse) -> None:
        self.gone = False
        self._held = b""
        self._exchange, self._response = exchange, response

    async def prepare(self) -> None:
        """Send the head."""
        try:
            await self._response.prepare(self._exchange.request)
        except (ConnectionError, ClientConnectionError):
            self.gone = True

    async def write(self, data: bytes, *, last: bool = False) -> None:
        """Pass a piece on; keys are hidden wherever the pieces are cut."""
        out, self._held = (
            (self._exchange.clean(self._held + data), b"") if last else self._exchange.whole(self._held + data)
        )
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


class _Along:
    """Reads along with a stream: what the watcher wants to see, and what the client is shown of it."""

    def __init__(self, exchange: Exchange, watcher: Watcher, dialect: Vendor, translator: Translator | None) -> None:
        self._exchange, self._watcher, self._dialect, self._translator = exchange, watcher, dialect, translator
        self._reader = EventReader()

    def read(self, chunk: bytes) -> bytes:
        """What the client is shown of a chunk; all of it, unless some of it must be hidden or translated.

        Raises:
            UpstreamError: It must be translated, and cannot.
        """
        shown = bytearray()
        for raw, data in self._reader.feed(chunk):
            if self._translator is None:
                shown += b"" if self._event(data) else raw
            elif data:
                shown += self._translated(self._translator, data)
        if self._reader.overflowed:
            self._exchange.fault = "malformed"
        passes = self._translator is None and not self._watcher.hides
        return chunk if passes else bytes(shown)

    def rest(self) -> bytes:
        """What the client is shown after the last event."""
        if self._translator is None:
            return self._reader.rest() if self._watcher.hides else b""
        return self._translator.end(self._watcher.usage) if self._watcher.finished else b""

    def _event(self, data: bytes) -> bool:
        """Look at one event; returns whether it must be hidden."""
        if not data:
            return False
        if data == self._dialect.end_marker:
            self._watcher.finished = True
        elif not (data.startswith(b"{") and data.endswith(b"}")):
            self._exchange.fault = "malformed"
        elif self._watcher.wants(data):
            event = self._parsed(data)
            return event is not None and self._watcher.see(event)
        return False

    def _parsed(self, data: bytes) -> JsonObject | None:
        try:
            event = orjson.loads(data)
        except orjson.JSONDecodeError:
            self._exchange.fault = "malformed"
            return None
        return event if isinstance(event, dict) else None

    def _translated(self, translator: Translator, data: bytes) -> bytes:
        if data == self._dialect.end_marker:
            self._watcher.finished = True
            return translator.end(self._watcher.usage)
        event = self._parsed(data)
        if event is None:
            raise UpstreamError("malformed", f"an event that is not of {translator.spoken}")
        self._watcher.see(event)
        from repoassay.model_proxy.translation import UNREADABLE

        try:
            return translator.event(event)
        except UNREADABLE as error:
            raise UpstreamError("malformed", f"an event that is not of {translator.spoken}") from error


def error_in(dialect: Vendor, status: int, body: bytes) -> ErrorReply:
    """An upstream's error in the words of another dialect, with its status."""
    text = body.decode("utf-8", "replace")
    try:
        document = orjson.loads(body)
        error = document.get("error", document) if isinstance(document, dict) else document
        text = str(error.get("message") or text) if isinstance(error, dict) else str(error)
    except orjson.JSONDecodeError:
        pass
    text = text[:2000]
    trouble = ProviderTrouble.UPSTREAM if status >= 500 else ProviderTrouble.BAD_REQUEST
    if status in _TROUBLES:
        trouble = _TROUBLES[status]
    elif status == 400 and _TOO_LONG.search(text):
        trouble = ProviderTrouble.CONTEXT
    reply = dialect.refuse(trouble, text)
    return ErrorReply(status, reply.body, reply.headers if status < 500 else {})


_TROUBLES = {
    404: ProviderTrouble.NOT_FOUND, 413: ProviderTrouble.TOO_LARGE, 429: ProviderTrouble.BUSY,
    504: ProviderTrouble.SILENCE,
}  # fmt: skip
_TOO_LONG = re.compile(r"context[ _](?:length|window|size)|prompt is too long|input token count", re.IGNORECASE)
"""How servers say that a prompt does not fit; agents look for their own vendor's words to shorten it."""


def _hang_up(request: web.BaseRequest) -> None:
    """End the connection without the chunk that would say that the answer is whole."""
    if request.transport is not None:
        request.transport.close()
