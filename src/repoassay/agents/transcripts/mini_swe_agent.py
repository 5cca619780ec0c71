"""mini-swe-agent: one JSON file, `trajectory_format: mini-swe-agent-1` of version 1 and `-1.1` of version 2.

Version 2 calls tools, by chat completions or by responses, or takes its commands out of the text; version 1 only the
latter: one command a message, in a fence or in a tag, and what it printed is told by the user's next message.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment, money
from repoassay.agents.transcripts.files import entries, json_file, mapping, matching
from repoassay.model_proxy import Chat, Responses
from repoassay.types import Source, StepCall, Usage

__all__ = ["chat_calls", "chat_text", "read"]

_OPENING = re.compile(r"```(?P<fence>bash|sh|shell|mswea_bash_command)[ \t]*(?=\n)|<(?P<tag>mswea_bash_command)>")
_LOOKED_FOR = ("mswea_bash_command", "bash", "sh", "shell")
"""What its settings look for commands in, those that it comes with first; blocks of the others are quotations then."""
_CODE = re.compile(r"\s*<returncode>(-?[0-9]{1,9})</returncode>\s*")
_OUTPUT = re.compile(r"<output>\n?(.*?)\n?</output>\s*", re.DOTALL)


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    found = matching(folder, "files/*.traj.json")
    read_file = json_file(found[0], building) if found else None
    # Before its files had a format they were the messages alone.
    whole = {"messages": read_file} if isinstance(read_file, list) else mapping(read_file)
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
    if role == "assistant" or message.get("object") == "response":
        usage = Chat.read_usage(mapping(extra, "response", "usage")) or Responses.read_usage(mapping(message, "usage"))
        text, calls = _message_parts(message, extra)
        reasoning = message.get("reasoning_content") or ""
        building.step(
            Source.AGENT, text, reasoning=reasoning, calls=calls, time=time, usage=usage,
            dollars=money(extra.get("cost")) or None,
        )  # fmt: skip
        return usage
    refused: Usage | None = None
    if role == "user" and (answer := mapping(extra, "response")):  # without a command: kept in the complaint about it
        said = [chat_text(mapping(choice, "message").get("content")) for choice in entries(answer.get("choices"))]
        refused = Chat.read_usage(mapping(answer, "usage"))
        building.step(Source.AGENT, "\n".join(said), time=time, usage=refused, dollars=money(extra.get("cost")) or None)
    if (
        role == "tool"
        or message.get("type") == "function_call_output"
        or "returncode" in extra
        or "raw_output" in extra
    ):
        call = message.get("tool_call_id") or message.get("call_id")
        building.observe(call, _printed(message, extra), failed=bool(extra.get("returncode")), time=time)
    elif role == "user" and building.awaits_answer():
        code, text = _command_result(chat_text(message.get("content")))
        building.observe(None, text, failed=code not in ("", "0"), time=time)
    elif role in {"system", "user"}:
        building.step(Source(role), chat_text(message.get("content")), time=time)
    return refused


def _message_parts(message: dict[str, Any], extra: dict[str, Any]) -> tuple[str, list[StepCall]]:
    """What an assistant's message says and calls, in whichever way its version lays that down."""
    if message.get("object") == "response":
        return _response_items(message)
    text, calls = chat_text(message.get("content")), chat_calls(message)
    if calls:
        return text, calls
    begin, end, command = _only_command(text)
    if "actions" in extra:
        calls = [_bash(str(one.get("command") or "")) for one in entries(extra["actions"])]
    elif command:
        calls = [_bash(command)]
    if calls and command:
        text = f"{text[:begin].rstrip()}\n{text[end:].lstrip()}".strip()
    return text, calls


def _only_command(text: str) -> tuple[int, int, str]:
    """The command in a fence or tag: where it begins and ends, and what it says; empty where there is not exactly one.

    It runs a command out of a text only where there is exactly one of the kind that it looks for, and else complains.
    """
    found: dict[str, list[tuple[int, int, str]]] = {}
    last = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < last:
            continue
        closing = f"</{opening['tag']}>" if opening["tag"] else "\n```"
        at = text.find(closing, opening.end())
        if at < 0:
            break
        last = at + len(closing)
        block = (opening.start(), last, text[opening.end() : at].strip())
        found.setdefault(opening["tag"] or opening["fence"], []).append(block)
    blocks = next((found[kind] for kind in _LOOKED_FOR if kind in found), [])
    return blocks[0] if len(blocks) == 1 else (0, 0, "")


def _bash(command: str) -> StepCall:
    return StepCall(name="bash", arguments={"command": command})


def _response_items(message: dict[str, Any]) -> tuple[str, list[StepCall]]:
    """Text and calls out of the items of a response."""
    items = entries(message.get("output"))
    text = "\n".join(chat_text(item.get("content")) for item in items if item.get("type") == "message")
    calls = [
        {"id": item.get("call_id") or item.get("id"), "function": item}
        for item in items
        if item.get("type") == "function_call"
    ]
    return text, chat_calls({"tool_calls": calls})


def _printed(message: dict[str, Any], extra: dict[str, Any]) -> str:
    """What a command printed: the message has it as JSON, whose line ends are no lines."""
    raw, fault = extra.get("raw_output"), extra.get("exception_info")
    if not isinstance(raw, str):
        return chat_text(message.get("content") or message.get("output"))
    return f"{raw}\n{fault}" if isinstance(fault, str) and fault else raw


def _command_result(text: str) -> tuple[str, str]:
    """The exit code, empty where none is told, and the output of a command, out of what the user's message says."""
    code = _CODE.match(text)
    whole = _OUTPUT.fullmatch(text, code.end()) if code else None
    return code[1] if code else "", whole[1] if whole else text[code.end() :].strip() if code else text


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
        text = function.get("arguments")
        try:
            arguments = json.loads(text) if isinstance(text, str) else text
        except (ValueError, RecursionError):
            arguments = {"text": text}
        named = arguments if isinstance(arguments, dict) else {"value": arguments}
        calls.append(StepCall(id=str(call.get("id") or ""), name=str(function.get("name") or ""), arguments=named))
    return calls
