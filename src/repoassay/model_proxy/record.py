"""Making a dialogue out of a live run, for the scripted upstream to repeat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from repoassay.model_proxy.dialogue import Turn
from repoassay.model_proxy.sse import EventReader
from repoassay.model_proxy.tool_schemas import as_neutral
from repoassay.model_proxy.vendors import VENDORS
from repoassay.types import Call, Usage

__all__ = ["CallRecorder"]

_MOST_TURNS = 10_000


class CallRecorder:
    """Notes the answers of one attempt and writes them as a JSONL dialogue when the session is closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turns: list[tuple[int, Turn]] = []

    def note(self, call: Call, answer: bytes) -> None:
        """Take note of one answered call; `answer` is the body the agent was sent. What cannot be read is left out."""
        vendor = VENDORS.get(call.dialect)
        if vendor is None or call.fault or len(self._turns) >= _MOST_TURNS:
            return
        try:
            body = vendor.join_events(_events(answer)) if call.stream else json.loads(answer)
            text, calls = vendor.read_response(body)
            turn = Turn.model_validate(
                {
                    "text": text,
                    "calls": [as_neutral(name, arguments) for name, arguments in calls],
                    "usage": call.usage or Usage(),
                }
            )
        except (ValueError, TypeError, AttributeError, KeyError, IndexError):
            return
        self._turns.append((call.seq, turn))

    def write(self) -> None:
        """Write the dialogue, turns in the order their requests came."""
        lines: list[dict[str, Any]] = [{"kind": "settings", "end": "error"}]
        for _, turn in sorted(self._turns, key=lambda pair: pair[0]):
            lines.append({"kind": "turn", **turn.model_dump(exclude_defaults=True, exclude={"usage"})})
            lines[-1]["usage"] = turn.usage.model_dump()
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(text, "utf-8")


def _events(answer: bytes) -> list[dict[str, Any]]:
    events = []
    for _, data in EventReader().feed(answer + b"\n\n"):
        if data.startswith(b"{"):
            event = json.loads(data)
            if isinstance(event, dict):
                events.append(event)
    return events
