"""Cline: what `cline --json` prints, one event a line; it does not repeat the prompt."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment, money
from repoassay.agents.transcripts.files import entries, json_lines, mapping
from repoassay.types import Source, StepCall, Usage

__all__ = ["read"]

_SHELL = "run_commands"


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    step, usage = 0, Usage()
    for line in json_lines(folder / "stdout.txt", building):
        event, time = mapping(line, "event"), moment(line.get("ts"))
        kind, content = event.get("type"), event.get("contentType")
        if kind == "iteration_start":
            step, usage = 0, Usage()
        elif kind == "usage":
            usage = _usage(event)
        elif (kind, content) in (("content_end", "text"), ("content_end", "reasoning"), ("content_start", "tool")):
            step = step or building.step(Source.AGENT, time=time, usage=usage if usage.total else None)
            if step:
                _add(building, step, event)
        elif (kind, content) == ("content_end", "tool"):
            failed, text = _output(event.get("output"))
            building.observe(event.get("toolCallId"), text, failed=failed, time=time)
        if line.get("type") == "run_result":
            _finish(building, line)


def _add(building: Building, step: int, event: dict[str, Any]) -> None:
    text = str(event.get("text") or "")
    if event.get("contentType") == "tool":
        building.extend(step, "", "", [_call(event)])
    elif event.get("contentType") == "reasoning":
        building.extend(step, "", text, [])
    else:
        building.extend(step, text, "", [])


def _call(event: dict[str, Any]) -> StepCall:
    name, values = str(event.get("toolName") or ""), mapping(event, "input")
    commands = values.get("commands")
    if name == _SHELL and isinstance(commands, list):
        name, values = (
            "bash",
            {"command": "\n".join(one if isinstance(one, str) else json.dumps(one) for one in commands)},
        )
    return StepCall(id=str(event.get("toolCallId") or ""), name=name, arguments=values)


def _output(output: object) -> tuple[bool, str]:
    """Whether a tool failed, and what it answered: one entry a command, or an object with an error."""
    if isinstance(output, dict):
        return "error" in output, str(output.get("error") or json.dumps(output))
    parts = entries(output)
    failed = any(one.get("success") is False or one.get("error") for one in parts)
    if not parts:
        return False, str(output or "")
    return bool(failed), "\n".join(str(one.get("result") or one.get("error") or "") for one in parts)


def _finish(building: Building, line: dict[str, Any]) -> None:
    building.ending = str(line.get("finishReason") or "")
    total = mapping(line, "usage")
    building.usage = _usage(total) if total else None
    building.dollars = money(total.get("totalCost")) or None
    building.note = "" if (building.dollars or Decimal(0)) > 0 else "it knows no price of this model"


def _usage(usage: dict[str, Any]) -> Usage:
    """Tokens of one call or of all: what was read from a cache is among the input."""
    names = {
        "input": "inputTokens",
        "output": "outputTokens",
        "cached": "cacheReadTokens",
        "cache_write": "cacheWriteTokens",
    }
    counts = {name: usage.get(key) for name, key in names.items()}
    return Usage(**{name: count for name, count in counts.items() if isinstance(count, int) and 0 <= count < 10**12})
