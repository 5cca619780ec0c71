"""What one attempt or run may spend, and what the model proxy bears from either side."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

__all__ = ["Budget", "CallLimits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most an attempt, or a whole run, may spend; None is no limit.

    Attributes:
        calls: Model calls that reach the upstream (retries of one call count once).
        tokens: Tokens read and written.
        dollars: US dollars; every model asked must then have a price.
        seconds: Wall time from admission; of a run, from the model proxy's start.
    """

    calls: int | None = None
    tokens: int | None = None
    dollars: Decimal | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """Bounds on requests, responses and waiting. Sizes in bytes, times in seconds.

    Attributes:
        request: Largest request body; larger ones are answered 413.
        response: Largest response body; a larger one is cut and the fault is `too_large`.
        concurrency: Calls of one attempt under way at once; further ones are answered 429.
        connect: Time to reach an upstream.
        idle: Longest silence of an upstream, before the first byte and between chunks.
        retries: How often a call is tried again after a passing fault.
        first_wait: Wait before the first retry, doubled each time, with jitter.
        longest_wait: Longest wait before a retry; an upstream that asks for longer is not retried.
        settle: How long closing a session waits for calls under way.
    """

    request: int = 64 << 20
    response: int = 256 << 20
    concurrency: int = 32
    connect: float = 30.0
    idle: float = 600.0
    retries: int = 5
    first_wait: float = 1.0
    longest_wait: float = 120.0
    settle: float = 5.0
