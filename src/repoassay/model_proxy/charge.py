"""What a call may cost and what it did: a request as a need of the budgets, a finished exchange as a charge."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from decimal import Decimal

import orjson

from repoassay.model_proxy.admission import Need
from repoassay.model_proxy.estimate import LARGEST_PROMPT, most_tokens
from repoassay.model_proxy.exchange import Exchange
from repoassay.model_proxy.ledger import Reserve
from repoassay.model_proxy.prices import Prices
from repoassay.model_proxy.retry import AllAttemptsFailed
from repoassay.model_proxy.upstream_client import UpstreamRequest
from repoassay.types import Usage

__all__ = ["charge_of", "limited", "need_of", "no_limit", "shorten", "with_limit"]

_STEPS = (65_536, 32_000, 16_384, 8_192, 4_096, 1_024)
_OURS = frozenset({"closed", "gateway"})
_AT_WORK = frozenset({"closed", "silence", "too_large"})
"""Faults of calls that were not answered, though the upstream was at work on them."""


def need_of(
    ask: UpstreamRequest, likely: int, prices: Prices, model: str, at: datetime, *, reaches_out: bool = False
) -> Need:
    """What a request may take; of one that `reaches_out`, to what lies elsewhere, the bytes tell nothing."""

    def dollars(prompt: int, output: int) -> Decimal:
        # What is written to a cache may cost more than what is only read.
        usages = (Usage(input=prompt, output=output, cache_write=written) for written in (0, prompt))
        return max(prices.cost(model, usage, at).dollars or Decimal(0) for usage in usages)

    most_asked, choices = ask.dialect.most_output(ask.body), ask.dialect.choices(ask.body)
    priced = prices.find(model, at.date()) is not None
    most = max(likely, most_tokens(ask.body, len(ask.raw)), LARGEST_PROMPT if reaches_out else 0)
    return Need(likely, most, most_asked, choices, dollars, priced)


def no_limit() -> Need:
    """The need of a call that no budget of tokens or dollars watches."""
    return Need(0, 0, 0, 1, lambda *_: Decimal(0))


def charge_of(exchange: Exchange, need: Need, allowed: int, price: Decimal | None) -> Reserve | None:
    """What an exchange is charged; None when it is none of the budget's calls.

    An answer that told no usage is charged the likely prompt and a token for every byte that came, at most what it was
    allowed; one that we ended, or that kept silent, all of that.
    """
    most = allowed * need.choices
    if exchange.answered:
        if exchange.usage is not None:
            return Reserve(exchange.usage.total, price or Decimal(0))
        seen = most if exchange.fault in _OURS else min(most, exchange.seen)
        return Reserve(need.likely + seen, need.dollars(need.likely, seen))
    silent = sum(retry.fault == "silence" for retry in exchange.retries)
    tries = silent + (exchange.forwarded and exchange.fault in _AT_WORK)
    if tries:
        return Reserve(tries * (need.likely + most), tries * need.dollars(need.likely, most))
    return Reserve(0, Decimal(0)) if exchange.fault in {"rejected", "client_gone"} else None


def with_limit(ask: UpstreamRequest, tokens: int, field: str) -> UpstreamRequest:
    """The same request with at most so many tokens of output a choice."""
    body = dict(ask.body)
    ask.dialect.limit(body, tokens, field)
    return UpstreamRequest(
        ask.dialect, ask.route, ask.model, body, orjson.dumps(body), ask.attempt, ask.stream, ask.headers, tokens
    )


def limited(ask: UpstreamRequest, need: Need, room: int, field: str) -> UpstreamRequest:
    """The request with what the budget leaves, where that is less than it asks for or than models can write."""
    if need.asked is not None:
        # Written anew even when it stays: under a name that the upstream knows, and as a number.
        tokens = min(need.asked, room)
        return replace(with_limit(ask, tokens, field), set_limit=ask.set_limit and tokens)
    return ask if room * need.choices == need.output else with_limit(ask, room, field)


def shorten(ask: UpstreamRequest, failed: AllAttemptsFailed, field: str) -> UpstreamRequest | None:
    """A request with the next smaller limit, when the upstream took ours for more than its model can write."""
    if ask.set_limit is None or failed.status not in {400, 422}:
        return None
    words = failed.body.lower()
    if not any(word in words for word in (b"max", b"limit", b"context", b"length")):
        return None
    tokens = next((step for step in _STEPS if step < ask.set_limit), None)
    return None if tokens is None else with_limit(ask, tokens, field)
