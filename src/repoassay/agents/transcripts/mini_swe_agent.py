"""mini-swe-agent: one JSON file, `trajectory_format: mini-swe-agent-1.x`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment, money
from repoassay.agents.transcripts.files import entries, json_file, mapping, matching
from repoassay.model_proxy import Chat
from repoassay.types import Source, StepCall, Usage

__all__ = ["chat_calls", "chat_text", "read"]


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    found = matching(folder, "files/*.traj.json")
    whole = mapping(json_file(found[0], building)) if found else {}
    if not whole:
        building.problem("There is no readable .traj.json.")
    info = mapping(whole, "info")
    building.version = str(info.get("mini_version") or "")
    building.ending = str(info.get("exit_status") or "")
    total, known = Usage(), False
    for message in entries(whole.get("messages")):
        usage = _step(message, building)
        if usage is not None:
            total, known = total + usage, True
    stats = mapping(info, "model_stats")
    building.usage = total if known else None
    calls = stats.get("api_calls")
    building.calls = calls if isinstance(calls, int) and calls >= 0 else None
    building.dollars = money(stats.get("instance_cost"))
    if not building.dollars:
        building.dollars, building.note = None, "it knows no price of this model"


def _step(message: dict[str, Any], building: Building) -> Usage | None:
    extra = mapping(message, "extra")
    role, time = message.get("role"), moment(extra.get("timestamp"))
    if role == "assistant":
        usage = Chat.read_usage(mapping(extra, "response", "usage"))
        building.step(
            Source.AGENT,
            chat_text(message.get("content")),
            reasoning=message.get("reasoning_content") or "",
            calls=chat_calls(message),
            time=time,
            usage=usage,
            dollars=money(extra.get("cost")) or None,
        )
        return usage
    if role == "tool" or "returncode" in extra or "raw_output" in extra:
        code = extra.get("returncode")
        building.observe(message.get("tool_call_id"), _printed(message, extra), failed=bool(code), time=time)
    elif role in {"system", "user"}:
        building.step(Source(role), chat_text(message.get("content")), time=time)
    return None


def _printed(message: dict[str, Any], extra: dict[str, Any]) -> str:
    """What a command printed: the message has it as JSON, whose line ends are no lines."""
    raw, fault = extra.get("raw_output"), extra.get("exception_info")
    if not isinstance(raw, str):
        return chat_text(message.get("content"))
    return f"{raw}\n{fault}" if isinstance(fault, str) and fault else raw


def chat_text(content: object) -> str:
    """The text of a chat message, which may come in parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in entries(content))
    return content if isinstance(content, str) else ""


def chat_calls(message: dict[str, Any]) -> list[StepCall]:
    """The tool calls of a chat message."""
    calls = []
    for call in entries(message.get("tool_calls")):
        function = mapping(call, "function")
        given = function.get("arguments")
        try:
            arguments = json.loads(given) if isinstance(given, str) else given
        except (ValueError, RecursionError):
            arguments = {"text": given}
        named = arguments if isinstance(arguments, dict) else {"value": arguments}
        calls.append(StepCall(id=str(call.get("id") or ""), name=str(function.get("name") or ""), arguments=named))
    return calls
