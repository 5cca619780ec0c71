"""Asking an upstream again after a passing fault, with back-off and jitter, inside the attempt's remaining time."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import orjson

from repoassay.model_proxy.ledger import BudgetLedger
from repoassay.model_proxy.limits import CallLimits
from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.sse import EventReader
from repoassay.model_proxy.upstream_client import UpstreamClient, UpstreamError, UpstreamRequest, UpstreamResponse
from repoassay.types import Retry

__all__ = ["UNTOLD_FAULTS", "AllAttemptsFailed", "OpenResponse", "open_patiently", "read_all"]

_PASSING = frozenset({429, 500, 502, 503, 504, 529})
_PASSING_FAULTS = frozenset({"unreachable", "cut", "silence", "bad_http", "malformed", "wrong_type"})
_LONGEST_ERROR = 1 << 20
_HELD_BACK = 10.0
_NOT_IMPLEMENTED = 501  # a server's word for what it will never serve, whoever asks
UNTOLD_FAULTS = frozenset({"cut", "silence", "malformed"})
"""Faults of tries that the upstream may have worked on, without telling what they cost."""


@dataclass(slots=True)
class OpenResponse:
    """A success: `first` is the body's first chunk, the whole body when the answer is not streamed."""

    answer: UpstreamResponse
    first: bytes
    rest: AsyncIterator[bytes]
    parsed: JsonObject | None
    retries: tuple[Retry, ...]


@dataclass(slots=True)
class AllAttemptsFailed:
    """The last try's fault, and the upstream's own error when it gave one."""

    fault: str
    status: int | None
    headers: Mapping[str, str]
    body: bytes
    detail: str
    retries: tuple[Retry, ...]


async def open_patiently(
    wire: UpstreamClient, ask: UpstreamRequest, limits: CallLimits, ledgers: tuple[BudgetLedger, ...]
) -> OpenResponse | AllAttemptsFailed:
    """Ask until an answer's first bytes are there, or until asking again makes no sense."""
    retries: list[Retry] = []
    while True:
        outcome = await _once(wire, ask, limits)
        if isinstance(outcome, OpenResponse):
            outcome.retries = tuple(retries)
            return outcome
        wait = _wait(outcome, len(retries), limits)
        left = min((left for ledger in ledgers if (left := ledger.remaining()) is not None), default=None)
        if wait is None or len(retries) >= limits.retries or (left is not None and wait >= left):
            outcome.retries = tuple(retries)
            return outcome
        retries.append(Retry(status=outcome.status, fault=outcome.fault, waited=round(wait, 3)))
        await asyncio.sleep(wait)


async def read_all(chunks: AsyncIterator[bytes], most: int) -> bytes:
    """The whole body.

    Raises:
        UpstreamError: It was cut, fell silent, or is larger than `most`.
    """
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            raise UpstreamError("too_large")
    return bytes(body)


async def _once(wire: UpstreamClient, ask: UpstreamRequest, limits: CallLimits) -> OpenResponse | AllAttemptsFailed:
    try:
        answer = await wire.open(ask)
    except UpstreamError as trouble:
        return AllAttemptsFailed(trouble.fault, None, {}, b"", trouble.detail, ())
    kept = False
    try:
        chunks = answer.chunks()
        if not 200 <= answer.status < 300:
            body = await read_all(chunks, _LONGEST_ERROR)
            return AllAttemptsFailed(_fault(answer.status, body), answer.status, answer.headers, body, "", ())
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        wanted = "text/event-stream" if ask.stream else "application/json"
        if kind != wanted:
            await read_all(chunks, _LONGEST_ERROR)
            return AllAttemptsFailed("wrong_type", None, {}, b"", f"{kind[:80]} instead of {wanted}", ())
        if not ask.stream:
            body = await read_all(chunks, limits.response)
            parsed = orjson.loads(body)
            if not isinstance(parsed, dict):
                return AllAttemptsFailed("malformed", None, {}, b"", "JSON, but not an object", ())
            return _error_in_answer(parsed, body, answer) or OpenResponse(answer, body, chunks, parsed, ())
        first, event, raw = await _first_event(chunks)
        if not first:
            return AllAttemptsFailed("cut", None, {}, b"", "an empty stream", ())
        if event is not None and (failed := _error_in_answer(event, raw, answer)) is not None:
            return failed
        kept = True
        return OpenResponse(answer, first, chunks, None, ())
    except orjson.JSONDecodeError:
        return AllAttemptsFailed("malformed", None, {}, b"", "not JSON", ())
    except UpstreamError as trouble:
        return AllAttemptsFailed(trouble.fault, None, {}, b"", trouble.detail, ())
    finally:
        if not kept:
            await answer.close()


async def _first_event(chunks: AsyncIterator[bytes]) -> tuple[bytes, JsonObject | None, bytes]:
    """A stream to the end of its first event that has data, and that event where it is an object, with its data.

    Comments before it are held back with it: nobody has been sent anything, so that an error can still be retried. They
    keep a connection alive, so that they are not held back for long.
    """
    reader, begun, started = EventReader(), bytearray(), time.monotonic()
    async for chunk in chunks:
        begun += chunk
        for _, data in reader.feed(chunk):
            if not data:
                continue
            try:
                event = orjson.loads(data)
            except orjson.JSONDecodeError:
                event = None  # the end of the stream, or what only whoever reads on can judge
            return bytes(begun), event if isinstance(event, dict) else None, data
        if len(begun) > _LONGEST_ERROR or time.monotonic() - started > _HELD_BACK:
            break
    return bytes(begun), None, b""


def _error_in_answer(body: JsonObject, raw: bytes, answer: UpstreamResponse) -> AllAttemptsFailed | None:
    """The error inside an answer that came with status 200, as OpenRouter and others send it once they began."""
    error = body.get("error")
    choices = body.get("choices")
    if not error and isinstance(choices, list) and choices and isinstance(choices[0], dict):
        error = choices[0].get("error")
    if not error or body.get("usage"):  # one with usage was worked on, and is charged
        return None
    code = error.get("code") if isinstance(error, dict) else None
    kind = error.get("type") if isinstance(error, dict) else None
    number = int(code) if isinstance(code, int | str) and str(code).isdecimal() and len(str(code)) == 3 else 0
    status = number if 400 <= number <= 599 else _KINDS.get(str(kind), 502)
    return AllAttemptsFailed(_fault(status, raw), status, answer.headers, raw, "", ())


_KINDS = {
    "overloaded_error": 529, "rate_limit_error": 429, "invalid_request_error": 400, "authentication_error": 401,
    "permission_error": 403, "not_found_error": 404,
}  # fmt: skip
"""Statuses of errors that tell their kind alone."""


def _fault(status: int, body: bytes) -> str:
    if status == 402:
        return "quota"
    if status == 504:  # a server before the model's grew tired of waiting, and the model may be at work still
        return "silence"
    if status == 429:
        spent = b"insufficient_quota" in body or b"billing" in body.lower() or b"credit balance" in body
        return "quota" if spent else "rate_limited"
    if status in {401, 403}:
        return "credentials"
    if 300 <= status < 400:
        return "redirect"
    return "upstream_error" if status >= 500 and status != _NOT_IMPLEMENTED else "rejected"


def _wait(failed: AllAttemptsFailed, tries: int, limits: CallLimits) -> float | None:
    passing = failed.status in _PASSING if failed.status is not None else failed.fault in _PASSING_FAULTS
    if failed.fault == "silence" and tries:
        return None  # it has cost two whole idle times already
    if not passing or failed.fault == "quota" or failed.headers.get("x-should-retry") == "false":
        return None
    backoff = min(limits.longest_wait, limits.first_wait * float(1 << tries))
    wait = backoff * random.uniform(0.75, 1.25)  # noqa: S311 - spreads retries; no secret hangs on it
    seconds = _retry_after(failed.headers)
    if seconds is None:
        return wait
    return None if seconds > limits.longest_wait else max(seconds, 0.0)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "").strip()
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif value[:1].isdigit():
            seconds = float(value)
        elif value:
            moment = parsedate_to_datetime(value)
            seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) else None
