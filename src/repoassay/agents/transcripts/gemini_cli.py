"""Gemini CLI: its chat files, where a message comes again as it grows, and the JSON it prints at the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment
from repoassay.agents.transcripts.files import entries, json_file, json_lines, mapping, matching, text_file
from repoassay.model_proxy import Gemini
from repoassay.types import Source, StepCall, Usage

__all__ = ["read"]


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    building.note = "it tells no dollars"
    total: Usage | None = None
    calls = 0
    for path in matching(folder, "tmp/**/chats/session-*.json*"):
        for message in _messages(path, building):
            usage = _step(message, building)
            if usage is not None:
                total, calls = usage if total is None else total + usage, calls + 1
    document = _printed(folder / "stdout.txt", building)
    building.session = building.session or str(document.get("session_id") or "")
    building.ending = str(mapping(document, "error").get("type") or ("completed" if "response" in document else ""))
    building.usage, building.calls = _stats(mapping(document, "stats", "models")) or (total, calls or None)


def _messages(path: Path, building: Building) -> list[dict[str, Any]]:
    """Messages by id, each as it last was, in the order they first came."""
    found: dict[str, dict[str, Any]] = {}
    if path.suffix == ".json":  # until 2026 one document, written again and again
        entry = mapping(json_file(path, building))
        building.session = building.session or str(entry.get("sessionId") or "")
        return entries(entry.get("messages"))
    for entry in json_lines(path, building):
        building.session = building.session or str(entry.get("sessionId") or "")
        whole = entries(mapping(entry, "$set").get("messages"))
        for message in [*whole, *([entry] if "type" in entry else [])]:
            found[str(message.get("id"))] = message
    return list(found.values())


def _step(message: dict[str, Any], building: Building) -> Usage | None:
    time, content = moment(message.get("timestamp")), message.get("content")
    if message.get("type") == "user":
        # Answers of tools stand with their calls too, so these are passed over.
        text = (
            content if isinstance(content, str) else "\n".join(str(p["text"]) for p in entries(content) if "text" in p)
        )
        if text:
            building.step(Source.USER, text, time=time)
        return None
    if message.get("type") != "gemini":
        building.step(Source.SYSTEM, content, time=time)
        return None
    building.model = building.model or str(message.get("model") or "")
    tokens = mapping(message, "tokens")
    named = {"promptTokenCount": tokens.get("input"), "candidatesTokenCount": tokens.get("output"),
             "thoughtsTokenCount": tokens.get("thoughts"), "cachedContentTokenCount": tokens.get("cached"),
             "toolUsePromptTokenCount": tokens.get("tool")}  # fmt: skip
    usage = Gemini.read_usage(named)
    used = entries(message.get("toolCalls"))
    thoughts = [
        f"{item.get('subject', '')}: {item.get('description', '')}" for item in entries(message.get("thoughts"))
    ]
    calls = [StepCall(id=str(call.get("id") or ""), name=str(call.get("name") or ""), arguments=mapping(call, "args"))
             for call in used]  # fmt: skip
    building.step(Source.AGENT, content, reasoning="\n".join(thoughts), calls=calls, time=time, usage=usage)
    for call in used:
        response = mapping(next(iter(entries(call.get("result"))), {}), "functionResponse", "response")
        answer = response.get("output") or response.get("error") or call.get("resultDisplay")
        building.observe(call.get("id"), answer, failed=call.get("status") != "success")
    return usage


def _printed(path: Path, building: Building) -> dict[str, Any]:
    """The JSON at the end of what it printed, warnings before it passed over."""
    text = text_file(path, building)
    start = text.find("{\n")
    try:
        return mapping(json.loads(text[start:])) if start >= 0 else {}
    except (ValueError, RecursionError):
        building.problem("What it printed does not end with whole JSON.")
        return {}


def _stats(models: dict[str, Any]) -> tuple[Usage, int] | None:
    total, calls, has_usage = Usage(), 0, False
    for model in models:
        tokens = mapping(models, model, "tokens")
        named = {"promptTokenCount": tokens.get("prompt"), "candidatesTokenCount": tokens.get("candidates"),
                 "thoughtsTokenCount": tokens.get("thoughts"), "cachedContentTokenCount": tokens.get("cached"),
                 "toolUsePromptTokenCount": tokens.get("tool")}  # fmt: skip
        usage = Gemini.read_usage(named)
        requests = mapping(models, model, "api").get("totalRequests")
        if usage is not None:
            total, has_usage = total + usage, True
            calls += requests if isinstance(requests, int) and requests >= 0 else 0
    return (total, calls) if has_usage else None
