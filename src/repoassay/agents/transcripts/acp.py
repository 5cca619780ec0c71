"""The Agent Client Protocol: the messages between an agent and our client, one a line of `acp.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment
from repoassay.agents.transcripts.files import entries, json_lines, mapping, matching
from repoassay.types import Source, StepCall, Usage

__all__ = ["read"]

_NAMES = {"execute": "bash", "edit": "edit", "delete": "delete", "move": "move", "read": "read", "search": "search"}
_ENDED = ("completed", "failed")


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    building.note = "the protocol asks for no tokens"
    lines = [line for path in matching(folder, "files/acp.jsonl") for line in json_lines(path, building)]
    if not lines:
        building.problem("There is no readable acp.jsonl.")
    calls, printed = _calls(lines), _printed(lines)
    step, done = 0, set[str]()
    for line in lines:
        message, time = mapping(line, "message"), moment(line.get("at"))
        update = mapping(message, "params", "update")
        kind, name = update.get("sessionUpdate"), str(update.get("toolCallId") or "")
        if message.get("method") == "session/prompt":
            building.step(Source.USER, "\n".join(_texts(mapping(message, "params").get("prompt"))), time=time)
        elif kind in ("agent_message_chunk", "agent_thought_chunk"):
            step = _add_text(building, step, done, update, kind, time)
        elif kind in ("tool_call", "tool_call_update") and name:
            if name not in done:
                done.add(name)
                step = step or building.step(Source.AGENT, time=time)
                building.extend(step, "", "", [_call(name, calls[name])])
            if update.get("status") in _ENDED:
                building.observe(name, _answer(calls[name], printed), failed=update["status"] == "failed", time=time)
                step = 0
        if tokens := mapping(update, "_meta", "usage"):
            building.usage = (building.usage or Usage()) + _usage(tokens)
        if line.get("from") == "agent":
            _read_session_result(building, message)


def _add_text(building: Building, step: int, done: set[str], update: dict[str, Any], kind: str, time: Any) -> int:
    """Add a part of what it says or thinks to the step under way; parts join without a gap."""
    text = str(mapping(update, "content").get("text") or "")
    if not step:
        step = building.step(Source.AGENT, time=time)
    if step:
        building.append(step, text, reasoning="thought" in kind)
    return step


def _read_session_result(building: Building, message: dict[str, Any]) -> None:
    """What an answer says of the agent, the session and the end."""
    result = mapping(message, "result")
    about = mapping(result, "agentInfo")
    building.version = building.version or str(about.get("version") or "")
    building.session = building.session or str(result.get("sessionId") or "")
    building.ending = str(result.get("stopReason") or building.ending)
    if "error" in message:
        building.ending = str(mapping(message, "error").get("message") or "error")


def _usage(tokens: dict[str, Any]) -> Usage:
    """Tokens of one call of the model, which some agents add to their messages (Qwen Code does)."""
    names = {
        "input": "inputTokens",
        "output": "outputTokens",
        "cached": "cachedReadTokens",
        "reasoning": "thoughtTokens",
    }
    counts = {name: tokens.get(key) for name, key in names.items()}
    return Usage(**{name: value for name, value in counts.items() if isinstance(value, int) and 0 <= value < 10**12})


def _calls(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Each call of a tool as all of its updates together have it."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        update = mapping(line, "message", "params", "update")
        if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            known = {key: value for key, value in update.items() if value not in (None, [], {}, "")}
            if update["sessionUpdate"] == "tool_call_update" and "content" in known:
                known["answer"] = known["content"]  # a call's first content says what it is about to do
            found.setdefault(str(update.get("toolCallId") or ""), {}).update(known)
    return found


def _call(name: str, call: dict[str, Any]) -> StepCall:
    arguments = dict(mapping(call, "rawInput"))
    title, kind = str(call.get("title") or ""), str(call.get("kind") or "")
    if kind == "execute":
        arguments.setdefault("command", title.strip("`"))
    content = entries(call.get("content"))
    diffs = [item for item in content if item.get("type") == "diff"]
    if diffs:  # one a file, with the whole of it or the part; what it was asked for may say less
        arguments["edits"] = [
            {"path": one.get("path"), "old_text": one.get("oldText"), "new_text": one.get("newText")} for one in diffs
        ]
    for place in entries(call.get("locations"))[:1]:
        arguments.setdefault("path", place.get("path"))
    return StepCall(id=name, name=_NAMES.get(kind) or title or kind or "tool", arguments=arguments or {"title": title})


def _answer(call: dict[str, Any], printed: dict[str, str]) -> str:
    parts = list(_texts(call.get("answer")))
    parts += [printed.get(str(item.get("terminalId")), "") for item in entries(call.get("content"))]
    text = "\n".join(part for part in parts if part)
    raw = call.get("rawOutput")
    if text or raw is None:
        return text
    output = mapping(raw).get("output") if isinstance(raw, dict) else raw
    return output if isinstance(output, str) else json.dumps(raw)


def _printed(lines: list[dict[str, Any]]) -> dict[str, str]:
    """What each terminal printed."""
    ended = (mapping(line, "message") for line in lines if line.get("from") == "terminal")
    return {str(one.get("terminalId")): str(one.get("output") or "") for one in ended}


def _texts(content: object) -> Iterator[str]:
    """The texts of blocks, which may be wrapped once."""
    for block in entries(content):
        inner = mapping(block, "content") or block
        if isinstance(inner.get("text"), str):
            yield inner["text"]
