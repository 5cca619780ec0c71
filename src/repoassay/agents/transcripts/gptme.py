"""gptme: `conversation.jsonl`, one message a line; calls of tools stand in the model's text as `@tool(id): {...}`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment
from repoassay.agents.transcripts.files import json_lines, mapping, matching
from repoassay.types import Source, StepCall, Usage

__all__ = ["read"]

_CALL = re.compile(r"^@([A-Za-z_]\w{0,63})\(([\w-]{1,128})\): (?=\{)", re.MULTILINE)
_COUNTED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "reasoning_tokens")


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    building.note = "it knows no price of this model"
    calls = 0
    for path in matching(folder, "files/*/conversation.jsonl"):
        for message in json_lines(path, building):
            time, text = moment(message.get("timestamp")), str(message.get("content") or "")
            about = mapping(message, "metadata")
            if message.get("role") == "assistant":
                calls += 1
                _step(text, about, building, time)
            elif message.get("call_id"):
                building.observe(message["call_id"], text, failed=bool(about.get("error")), time=time)
            else:
                building.step(Source.USER if message.get("role") == "user" else Source.SYSTEM, text, time=time)
                building.ending = str(about.get("error_class") or "")
    building.calls = calls or None


def _step(text: str, about: dict[str, Any], building: Building, time: Any) -> None:
    calls, rest, end = [], [], 0
    for found in _CALL.finditer(text):
        if found.start() < end:
            continue
        try:
            arguments, stop = json.JSONDecoder().raw_decode(text, found.end())
        except (ValueError, RecursionError):
            continue
        calls.append(StepCall(id=found[2], name=found[1], arguments=arguments))
        rest.append(text[end : found.start()])
        end = stop
    usage = _usage(mapping(about, "usage"))
    building.step(Source.AGENT, "".join([*rest, text[end:]]).strip(), calls=calls, time=time, usage=usage)
    if usage is not None:
        building.usage = (building.usage or Usage()) + usage
    building.ending = "" if calls else "answered"


def _usage(usage: dict[str, Any]) -> Usage | None:
    counts = [usage.get(name) for name in _COUNTED]
    if not isinstance(counts[0], int):
        return None
    fresh, out, cached, written, thought = (
        count if isinstance(count, int) and 0 <= count < 10**12 else 0 for count in counts
    )
    return Usage(input=fresh + cached + written, output=out, cached=cached, cache_write=written, reasoning=thought)
