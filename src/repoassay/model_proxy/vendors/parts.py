"""What the vendors' classes share: counts and limits out of a request, the text of a message, pieces of a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

__all__ = [
    "arguments",
    "bearer",
    "count_of",
    "dollar_amount",
    "inner_object",
    "read_count",
    "split_text",
    "sse_event",
    "text_of",
    "token_limit",
    "told_cost",
]

_MOST_CHOICES = 128
_MOST_DOLLARS = 1_000_000  # no call costs more
_MOST_TOKENS = 1 << 53  # no count of tokens is larger; a hostile upstream may send any number


def bearer(headers: Mapping[str, str]) -> str:
    """The token of an `Authorization: Bearer` header, empty when there is none."""
    kind, _, token = headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def token_limit(value: object) -> int | None:
    """A limit of tokens as a request says it, None when that is no number of tokens."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def count_of(value: object) -> int:
    """How many answers a request asks for; what is no number may be read as many."""
    return 1 if value is None else min(token_limit(value) or _MOST_CHOICES, _MOST_CHOICES)


def read_count(usage: Mapping[str, object], name: str) -> int | None:
    """A number of tokens in a report of usage, None when it is not there or cannot be one."""
    value = usage.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_TOKENS:
        return None
    return int(value)


def inner_object(usage: Mapping[str, object], name: str) -> Mapping[str, object]:
    """An object in a report of usage, empty when it is none."""
    value = usage.get(name)
    return value if isinstance(value, Mapping) else {}


def told_cost(usage: object) -> Decimal | None:
    """US dollars told beside tokens, None when there are none: OpenRouter's, or LiteLLM's in a stream.

    With a key of one's own, OpenRouter's `cost` is its fee alone, and the vendor's charge stands in the details.
    """
    if not isinstance(usage, Mapping):
        return None
    cost = dollar_amount(usage.get("cost"))
    if cost is not None and usage.get("is_byok") is True:
        vendors = dollar_amount(inner_object(usage, "cost_details").get("upstream_inference_cost"))
        return None if vendors is None else cost + vendors
    return cost


def dollar_amount(value: object) -> Decimal | None:
    """An amount of money, None when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(str(value)[:40])
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount < _MOST_DOLLARS else None


def text_of(content: object) -> str:
    """The text in a message's content, whatever parts it is made of."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, (text_of(part) for part in content)))
    if isinstance(content, dict):
        names = ("text", "content", "output", "parts", "functionResponse", "response")
        return "\n".join(filter(None, (text_of(content[name]) for name in names if name in content)))
    return ""


def sse_event(value: dict[str, Any], event: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def split_text(text: str, size: int = 24) -> list[str]:
    """`text` cut as a stream would have it."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def arguments(text: object) -> dict[str, Any]:
    """The arguments of a tool call, from their JSON; empty when they are none, or nested without end.

    Models write them: halves of surrogate pairs, which no message may hold, become question marks.
    """
    import orjson  # of the extra that proxies need: vendors are also named where nothing is asked of a model

    try:
        value = json.loads(text) if isinstance(text, str) else text
        value = orjson.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        orjson.dumps(value)
    except (ValueError, TypeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
