"""pi: what `pi --mode json` prints, one event a line; whole messages come as `message_end`."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment, money
from repoassay.agents.transcripts.files import entries, json_lines, mapping
from repoassay.types import Source, StepCall, Usage

__all__ = ["read"]

_COUNTED = ("input", "output", "cacheRead", "cacheWrite")


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    calls, dollars = 0, Decimal(0)
    for event in json_lines(folder / "stdout.txt", building):
        if event.get("type") == "session":
            building.session = str(event.get("id") or "")
        message = mapping(event, "message")
        if event.get("type") != "message_end":
            continue
        if message.get("role") == "toolResult":
            building.observe(
                message.get("toolCallId"), _text(message), failed=message.get("isError") is True,
                time=moment(message.get("timestamp")),
            )  # fmt: skip
        elif message.get("role") == "assistant":
            calls += 1
            dollars += money(mapping(message, "usage", "cost").get("total")) or Decimal(0)
            building.ending = str(message.get("stopReason") or "")
            _step(message, building)
        else:
            building.step(Source.USER, _text(message), time=moment(message.get("timestamp")))
    building.calls = calls or None
    building.dollars = dollars or None
    building.note = "" if dollars else "it knows no price of this model"


def _step(message: dict[str, Any], building: Building) -> None:
    parts = entries(message.get("content"))
    calls = [
        StepCall(id=str(part.get("id") or ""), name=str(part.get("name") or ""), arguments=mapping(part, "arguments"))
        for part in parts
        if part.get("type") == "toolCall"
    ]
    thought = "\n".join(str(part.get("thinking") or "") for part in parts if part.get("type") == "thinking")
    usage = _usage(mapping(message, "usage"))
    building.step(
        Source.AGENT, _text(message), reasoning=thought, calls=calls, time=moment(message.get("timestamp")), usage=usage
    )
    if usage is not None:
        building.usage = (building.usage or Usage()) + usage


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in entries(content) if part.get("type") == "text")


def _usage(usage: dict[str, Any]) -> Usage | None:
    """Tokens of one call; it counts those read from a cache and written to it apart."""
    counts = [usage.get(name) for name in _COUNTED]
    fresh, out, cached, written = (count if isinstance(count, int) and 0 <= count < 10**12 else 0 for count in counts)
    if not any((fresh, out, cached, written)):
        return None
    return Usage(input=fresh + cached + written, output=out, cached=cached, cache_write=written)
