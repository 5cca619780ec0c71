"""One request of an agent, from its body to the last byte of its answer and the line in the journal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal

import orjson
from aiohttp import web

from repoassay.model_proxy.prices import Cost, Prices
from repoassay.model_proxy.sessions import AttemptSession
from repoassay.model_proxy.vendors import ErrorReply, ProviderTrouble, Route, Vendor
from repoassay.types import Call, Retry, Usage

__all__ = ["Exchange", "parse_bounded"]

Whose = Literal["", "agent", "upstream", "ours"]

_PASSED_BACK = ("content-type", "request-id", "x-request-id", "retry-after", "retry-after-ms", "x-should-retry")
_PASSED_BACK_PREFIXES = ("anthropic-ratelimit-", "x-ratelimit-", "openai-")
_OURS = frozenset({"credentials", "quota", "closed", "gateway"})
_AGENTS = frozenset({"rejected", "client_gone"})
_LOOK = 0.2
"""Seconds between two looks whether the client is still there."""
_MOST_VALUES = 100_000
_MOST_SIGNS = 2_000_000
"""Commas and brackets that a body may have, those of its texts too: more than any model's context holds."""


class Exchange:
    """What is known of one request so far; `finish` writes it down."""

    def __init__(self, request: web.BaseRequest, path: str, entry: AttemptSession | None) -> None:
        self.request = request
        self.path = path
        self.entry = entry
        self.seq = entry.next_seq() if entry is not None else 0
        self.at = datetime.now(UTC)
        self.started = time.perf_counter()
        self.dialect: Vendor | None = None
        self.route: Route | None = None
        self.asked = ""
        self.served = ""
        self.stream = False
        self.status: int | None = None
        self.forwarded = False
        self.answered = False
        self.usage: Usage | None = None
        self.told_cost: Decimal | None = None
        self.answered_by = ""
        self.untold = 0
        self.retries: tuple[Retry, ...] = ()
        self.refused = ""
        self.fault = ""
        self.detail = ""
        self.first_byte: float | None = None
        self.left: float | None = None
        self.raw = b""
        self.sent = 0
        self.seen = 0
        """Bytes of the answer that came from the upstream."""
        self.left_out: tuple[str, ...] = ()
        self.spoken = ""
        self.dropped: tuple[str, ...] = ()
        self.unpriced = ""
        self.kept = bytearray()

    def begin(self) -> None:
        """The request's body is there: latency counts from now."""
        self.started = time.perf_counter()

    async def watch(self) -> None:
        """Note when the client hangs up, for as long as this runs."""
        while self.request.transport is not None:
            await asyncio.sleep(_LOOK)
        self.left = time.perf_counter()

    def mark_first_byte(self) -> None:
        """The first byte of the answer's body is here."""
        if self.first_byte is None:
            self.first_byte = time.perf_counter() - self.started

    def refuse(self, dialect: Vendor, trouble: ProviderTrouble, message: str) -> web.Response:
        """Answer with an error of our own, in the vendor's words."""
        self.refused = trouble.value
        self.detail = message
        if trouble in {ProviderTrouble.NO_PASS, ProviderTrouble.NOT_FOUND} and not self.fault:
            self.fault = "refused"
        return self.error(dialect.refuse(trouble, message))

    def error(self, refusal: ErrorReply) -> web.Response:
        """A response out of a vendor-shaped error."""
        return self.reply(refusal.status, orjson.dumps(refusal.body), refusal.headers)

    def reply(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> web.Response:
        """A complete response; JSON unless `headers` say otherwise."""
        self.status = status
        body = self.clean(body)
        self.keep(body)
        heads = {"Content-Type": "application/json", **(headers or {})}
        return web.Response(status=status, body=body, headers=heads)

    def keep(self, data: bytes) -> None:
        """Count, and if asked for keep, what the client is sent."""
        self.sent += len(data)
        if self.entry is not None and self.entry.keeps_answers:
            self.kept += data

    def clean(self, data: bytes) -> bytes:
        """`data` without keys."""
        return self.entry.journal.scrub(data) if self.entry is not None else data

    def passed_back(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The upstream's headers that an agent may see, without keys."""
        return {
            name: self.clean(value.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
            for name, value in headers.items()
            if name in _PASSED_BACK or name.startswith(_PASSED_BACK_PREFIXES)
        }

    def whole(self, data: bytes) -> tuple[bytes, bytes]:
        """A part of an answer without keys, and what of its end must wait, for a key may begin there."""
        held = self.entry.journal.begun(data) if self.entry is not None else 0
        end = len(data) - held
        return self.clean(data[:end]), data[end:]

    def call(self, prices: Prices) -> Call:
        """The journal's record."""
        cost = Cost(None)
        if self.answered and self.entry is not None:
            cost = self.cost(prices, f"{self.entry.upstream}/{self.served}")
        whose: Whose = ""
        if self.fault:
            whose = "ours" if self.fault in _OURS else "agent" if self.fault in _AGENTS or self.refused else "upstream"
        return Call(
            attempt=self.entry.attempt if self.entry is not None else "",
            seq=self.seq,
            at=self.at,
            dialect=self.dialect.name if self.dialect is not None else "",
            path=_plain(self.path[:300]),
            asked=_plain(self.asked[:200]),
            served=self.served,
            stream=self.stream,
            status=self.status,
            forwarded=self.forwarded,
            answered=self.answered,
            usage=self.usage,
            price=cost.dollars,
            price_note=cost.note or (self.unpriced if self.answered else ""),
            price_source=cost.source,
            upstream_cost=self.told_cost,
            answered_by=_plain(self.answered_by),
            untold=self.untold,
            first_byte=None if self.first_byte is None else round(self.first_byte, 6),
            seconds=round(self._ended() - self.started, 6),
            retries=self.retries,
            refused=self.refused,
            fault=self.fault,
            whose=whose,
            detail=self.detail[:1000],
            request_bytes=len(self.raw),
            response_bytes=self.sent,
            left_out=self.left_out,
            spoken=self.spoken,
            dropped=tuple(_plain(name[:60]) for name in self.dropped[:20]),
            body=f"{self.seq:06d}" if self.entry is not None and self.entry.keep_bodies and self.forwarded else "",
        )

    def _ended(self) -> float:
        """When it was over: of a call that was never answered, when nobody waited for it any more."""
        return self.left if self.left is not None and self.fault == "closed" else time.perf_counter()

    def cost(self, prices: Prices, model: str) -> Cost:
        """What it cost: by the price table, or by the upstream's own word where that has no price."""
        cost = prices.cost(model, self.usage, self.at)
        if cost.dollars is None and self.told_cost is not None:
            return Cost(self.told_cost, source="told by the upstream")
        return cost

    async def finish(self, prices: Prices) -> Call:
        """Write the call down, its bodies too when they are kept."""
        call = self.call(prices)
        entry = self.entry
        if entry is None:
            return call
        entry.record(call)
        if call.body:
            await asyncio.to_thread(entry.journal.keep, call.body, self.raw, bytes(self.kept))
        return call


def _plain(text: str) -> str:
    """`text` without the stray bytes a hostile request line smuggles in as lone surrogates."""
    return text.encode("utf-8", "replace").decode()


def parse_bounded(raw: bytes) -> Any:
    """The value of a JSON text of at most 100,000 values: no conversation has as many, and every attempt waits while
    they are looked at one by one.

    Raises:
        orjson.JSONDecodeError: It is none.
        OverflowError: It has more.
    """
    signs = sum(map(raw.count, (b",", b"{", b"[")))
    if signs > _MOST_SIGNS:
        raise OverflowError
    body = orjson.loads(raw)
    found, stack = 0, [body] if signs >= _MOST_VALUES else []
    while stack:
        value: Any = stack.pop()
        if isinstance(value, dict | list):
            found += len(value)
            if found > _MOST_VALUES:
                raise OverflowError
            stack.extend(value.values() if isinstance(value, dict) else value)
    return body
