"""Claude Code: what it prints as `stream-json`, and its sessions, which have each message's whole usage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from math import inf
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment, money
from repoassay.agents.transcripts.files import entries, json_lines, mapping, matching
from repoassay.model_proxy import Messages
from repoassay.types import Source, StepCall, Usage

__all__ = ["read"]


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    usages = _usages(folder, building)
    story = list(json_lines(folder / "stdout.txt", building))
    if not any(entry.get("type") == "assistant" for entry in story):
        files = (json_lines(path, building) for path in matching(folder, "projects/**/*.jsonl"))
        story = [entry for _, entry in merge(*map(_timed, files), key=lambda one: one[0])]
    prompt = (folder.parent / "prompt.md").read_text("utf-8") if (folder.parent / "prompt.md").is_file() else ""
    if prompt:
        building.step(Source.USER, prompt)
    steps: dict[str, int] = {}
    for entry in story:
        kind = entry.get("type")
        if kind == "system":
            building.version = building.version or str(entry.get("claude_code_version") or "")
            building.session = building.session or str(entry.get("session_id") or "")
        elif kind == "assistant":
            building.version = building.version or str(entry.get("version") or "")
            building.session = building.session or str(entry.get("sessionId") or "")
            _read_entry(entry, building, steps, usages)
        elif kind == "user":
            _heard(entry, building)
        elif kind == "result":
            _result(entry, building)
    if building.usage is None and usages:
        building.usage = sum(usages.values(), Usage())
    if building.calls is None and steps:
        building.calls = len(steps)


def _timed(lines: Iterable[dict[str, Any]]) -> Iterator[tuple[float, dict[str, Any]]]:
    """The lines of one session, each with its time, never before the line above; without times it is the last."""
    read = [(moment(entry.get("timestamp")), entry) for entry in lines]
    last = -inf if any(time for time, _ in read) else inf
    for time, entry in read:
        last = max(last, time.timestamp()) if time else last
        yield last, entry


def _usages(folder: Path, building: Building) -> dict[str, Usage]:
    """The usage of each message: blocks of one repeat it, and the last has the whole."""
    found: dict[str, Usage] = {}
    for path in matching(folder, "projects/**/*.jsonl"):
        for entry in json_lines(path, building):
            message = mapping(entry, "message")
            usage = Messages.read_usage(mapping(message, "usage"))
            if entry.get("type") == "assistant" and usage is not None:
                found[str(message.get("id"))] = usage
    return found


def _read_entry(entry: dict[str, Any], building: Building, steps: dict[str, int], usages: dict[str, Usage]) -> None:
    message = mapping(entry, "message")
    key = str(message.get("id"))
    named = str(message.get("model") or "")
    building.model = building.model or ("" if named.startswith("<") else named)  # <synthetic> is none
    text, reasoning, calls = [], [], []
    for block in entries(message.get("content")):
        if block.get("type") == "text":
            text.append(str(block.get("text") or ""))
        elif block.get("type") == "thinking":
            reasoning.append(str(block.get("thinking") or ""))
        elif block.get("type") == "tool_use":
            calls.append(StepCall(id=str(block.get("id") or ""), name=str(block.get("name") or ""),
                                  arguments=mapping(block, "input")))  # fmt: skip
    if key in steps and steps[key] > 0:
        building.extend(steps[key], "\n".join(text), "\n".join(reasoning), calls)
        return
    usage = usages.get(key) or Messages.read_usage(mapping(message, "usage"))
    time = moment(entry.get("timestamp"))
    steps[key] = building.step(
        Source.AGENT, "\n".join(text), reasoning="\n".join(reasoning), calls=calls, usage=usage, time=time
    )


def _heard(entry: dict[str, Any], building: Building) -> None:
    for text, call, failed in _blocks(mapping(entry, "message").get("content")):
        if call is None:
            building.step(Source.USER, text, time=moment(entry.get("timestamp")))
        else:
            building.observe(call, text, failed=failed)


def _blocks(content: object) -> Iterator[tuple[str, str | None, bool]]:
    if isinstance(content, str):
        yield content, None, False
    for block in entries(content):
        if block.get("type") == "tool_result":
            inner = block.get("content")
            text = inner if isinstance(inner, str) else "\n".join(str(i.get("text") or "") for i in entries(inner))
            yield text, str(block.get("tool_use_id") or ""), bool(block.get("is_error"))
        elif block.get("type") == "text":
            yield str(block.get("text") or ""), None, False


def _result(entry: dict[str, Any], building: Building) -> None:
    building.ending = str(entry.get("terminal_reason") or entry.get("subtype") or "")
    models = mapping(entry, "modelUsage")
    total: Usage | None = None
    for model in models:
        model_usage = mapping(models, model)
        named = {
            "input_tokens": model_usage.get("inputTokens"),
            "output_tokens": model_usage.get("outputTokens"),
            "cache_read_input_tokens": model_usage.get("cacheReadInputTokens"),
            "cache_creation_input_tokens": model_usage.get("cacheCreationInputTokens"),
        }
        usage = Messages.read_usage(named)
        total = usage if total is None else total if usage is None else total + usage
    building.usage = total or Messages.read_usage(mapping(entry, "usage"))
    turns = entry.get("num_turns")
    building.calls = turns if isinstance(turns, int) and turns >= 0 else None
    building.dollars = money(entry.get("total_cost_usd"))
    building.note = "its dollars are of its own price list, whatever the model; its turns are not its calls"
