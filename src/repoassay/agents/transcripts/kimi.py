"""Kimi CLI: what `kimi --print --output-format stream-json` prints, one chat message a line, without the prompt."""

from __future__ import annotations

from pathlib import Path

from repoassay.agents.transcripts.building import Building
from repoassay.agents.transcripts.files import json_lines
from repoassay.agents.transcripts.mini_swe_agent import chat_calls, chat_text
from repoassay.types import Source

__all__ = ["read"]

_FAILED = ("<system>ERROR", "<system>Command failed")


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    building.note = "it tells no tokens"
    for message in json_lines(folder / "stdout.txt", building):
        text = chat_text(message.get("content"))
        if message.get("role") == "tool":
            building.observe(message.get("tool_call_id"), text, failed=text.startswith(_FAILED))
        elif message.get("role") == "assistant":
            calls = chat_calls(message)
            building.step(Source.AGENT, text, reasoning=message.get("reasoning_content") or "", calls=calls)
            building.ending = "" if calls else "answered"
