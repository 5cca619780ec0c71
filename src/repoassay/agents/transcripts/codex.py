"""Codex: its rollout files, which have every response and its tokens; what it prints, where there is none."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment
from repoassay.agents.transcripts.codex_log import is_codex_log, read_codex_log
from repoassay.agents.transcripts.files import entries, json_lines, mapping, matching, text_file
from repoassay.model_proxy import Responses
from repoassay.types import Source, StepCall, Usage

__all__ = ["read"]


_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_ANSWERS = ("function_call_output", "custom_tool_call_output")
_ITEMS = ("message", "reasoning", *_CALLS, *_ANSWERS)


@dataclass
class _Response:
    """What one response said, until its tokens are told."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[StepCall] = field(default_factory=list)


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    building.note = "it tells no dollars"
    printed = list(json_lines(folder / "stdout.txt", building))
    rollouts = matching(folder, "sessions/**/rollout-*.jsonl")
    earlier = set[bytes]()
    for path in rollouts:
        _rollout(path, earlier, building)
    if not rollouts:
        _printed(printed, building)
    for path in matching(folder, "files/*.txt")[:1] if not rollouts and not printed else ():
        if is_codex_log(text := text_file(path, building)):
            read_codex_log(text, building)
    for entry in printed:
        if entry.get("type") in {"turn.completed", "turn.failed"}:
            building.ending = str(entry["type"])
        if entry.get("type") == "turn.completed" and not rollouts:
            usage = _usage(mapping(entry, "usage"))
            building.usage = usage if building.usage is None or usage is None else building.usage + usage


def _rollout(path: Path, earlier: set[bytes], building: Building) -> None:
    """Add a rollout, but for what rollouts before it have: a subagent's begins with what it inherited."""
    response, total, calls, totals = _Response(), None, 0, dict[str, Any]()
    read = [(_digest(line), line) for line in json_lines(path, building)]
    lines = [line for digest, line in read if digest not in earlier]
    earlier.update(digest for digest, _ in read)
    counted = "token_usage_record" if any(line.get("type") == "token_usage_record" for line in lines) else "token_count"
    for entry in lines:
        payload, time = mapping(entry, "payload"), moment(entry.get("timestamp"))
        kind = str(payload.get("type") if entry.get("type") == "event_msg" else entry.get("type"))
        if "payload" not in entry and kind in _ITEMS:  # until the summer of 2025 an item was the line itself
            payload, kind = entry, "response_item"
        if kind == "session_meta":
            building.version = building.version or str(payload.get("cli_version") or "")
            building.session = building.session or str(payload.get("id") or "")
            base = mapping(payload, "base_instructions").get("text")
            if base:
                building.step(Source.SYSTEM, base, time=time)
        elif kind == "turn_context":
            building.model = building.model or str(payload.get("model") or "")
        elif kind == counted:
            # Before the record there was an event with the sum, too, which comes again when nothing new was used.
            if (sums := mapping(payload, "info", "total_token_usage")) and sums == totals:
                continue
            totals, usage = sums, _usage(mapping(payload, "usage") or mapping(payload, "info", "last_token_usage"))
            response = _flush(response, building, usage, time)
            if usage is not None:
                total, calls = usage if total is None else total + usage, calls + 1
        elif kind == "response_item":
            response = _item(payload, response, building, time)
    _flush(response, building, None, None)
    if total is not None:
        building.usage = total if building.usage is None else building.usage + total
        building.calls = (building.calls or 0) + calls


def _digest(line: dict[str, Any]) -> bytes:
    """What tells a line from others, but for when it was written."""
    fields = {key: value for key, value in line.items() if key != "timestamp"}
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).digest()


def _item(payload: dict[str, Any], response: _Response, building: Building, time: Any) -> _Response:
    kind = payload.get("type")
    if kind == "message" and payload.get("role") == "assistant":
        response.text.append(_text(payload))
    elif kind == "message":
        response = _flush(response, building, None, time)
        building.step(Source.USER if payload.get("role") == "user" else Source.SYSTEM, _text(payload), time=time)
    elif kind == "reasoning":
        response.reasoning.extend(str(part.get("text") or "") for part in entries(payload.get("summary")))
        response.reasoning.extend(str(part.get("text") or "") for part in entries(payload.get("content")))
    elif kind in _CALLS:
        response.calls.append(_call(payload))
    elif kind in _ANSWERS:
        response = _flush(response, building, None, time)
        output = payload.get("output")
        content = output if isinstance(output, list) else mapping(output).get("content") or output
        building.observe(payload.get("call_id"), _parts(content) if isinstance(content, list) else content, time=time)
    return response


def _flush(response: _Response, building: Building, usage: Usage | None, time: Any) -> _Response:
    if response.text or response.reasoning or response.calls or usage is not None:
        building.step(Source.AGENT, "\n".join(response.text), reasoning="\n".join(response.reasoning),
                      calls=response.calls, usage=usage, time=time)  # fmt: skip
    return _Response()


def _call(payload: dict[str, Any]) -> StepCall:
    text = payload.get("arguments") if "arguments" in payload else payload.get("input", payload.get("action"))
    try:
        arguments = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        arguments = {"text": text}
    named = arguments if isinstance(arguments, dict) else {"value": arguments}
    name = str(payload.get("name") or payload.get("type") or "")
    return StepCall(id=str(payload.get("call_id") or ""), name=name, arguments=named)


def _text(payload: dict[str, Any]) -> str:
    return _parts(payload.get("content"))


def _parts(content: object) -> str:
    """The texts of a message or an output that comes in parts; an image is named."""
    return "\n".join(str(part.get("text") or f"[{part.get('type')}]") for part in entries(content))


def _usage(usage: dict[str, Any]) -> Usage | None:
    details = {
        "cached_tokens": usage.get("cached_input_tokens"),
        "cache_write_tokens": usage.get("cache_write_input_tokens"),
    }
    reasoning = {"reasoning_tokens": usage.get("reasoning_output_tokens")}
    return Responses.read_usage({**usage, "input_tokens_details": details, "output_tokens_details": reasoning})


def _printed(lines: list[dict[str, Any]], building: Building) -> None:
    for entry in lines:
        item = mapping(entry, "item")
        if entry.get("type") == "thread.started":
            building.session = str(entry.get("thread_id") or "")
        elif entry.get("type") != "item.completed":
            continue
        elif item.get("type") == "agent_message":
            building.step(Source.AGENT, item.get("text"))
        elif item.get("type") == "reasoning":
            building.step(Source.AGENT, reasoning=item.get("text"))
        elif item.get("type") == "command_execution":
            key = str(item.get("id") or "")
            call = StepCall(id=key, name="shell", arguments={"command": item.get("command")})
            building.step(Source.AGENT, calls=[call])
            building.observe(key, item.get("aggregated_output"), failed=item.get("exit_code") not in (0, None))
