"""SWE-agent: one `.traj`, a JSON file with the steps and, in `info.model_stats`, its estimate of the tokens."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, money
from repoassay.agents.transcripts.files import entries, json_file, mapping, matching
from repoassay.agents.transcripts.mini_swe_agent import chat_calls, chat_text
from repoassay.model_proxy import Chat
from repoassay.types import Source, StepCall

__all__ = ["read"]

_WITH_TEXT = re.compile(
    r"\s*(?P<name>[a-z]\w{0,39})[ \t]*(?P<lines>[\w:. \t-]*)\n(?P<text>.*\n)?end_of_(?P=name)\s*", re.DOTALL
)
"""A command of its own that takes lines of text, as `edit 3:5` does: they are none of a shell."""


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    found = matching(folder, "files/**/*.traj")
    whole = mapping(json_file(found[0], building)) if found else {}
    if not whole:
        building.problem("There is no readable .traj.")
    info = mapping(whole, "info")
    building.version = str(info.get("swe_agent_version") or "")
    building.ending = str(info.get("exit_status") or "")
    history = [message for message in entries(whole.get("history")) if not message.get("is_demo")]
    for message in history:
        if message.get("role") == "assistant":
            break
        if message.get("role") in {"system", "user"}:
            building.step(Source(str(message["role"])), chat_text(message.get("content")))
    # Steps have the command line that a call became; the history has the calls, of what it still remembers.
    messages = {str(message.get("action")): message for message in history if message.get("tool_calls")}
    for number, step in enumerate(entries(whole.get("trajectory")), 1):
        _step(number, {"tool_calls": messages.get(str(step.get("action")), {}).get("tool_calls"), **step}, building)
    stats = mapping(info, "model_stats")
    named = {"prompt_tokens": stats.get("tokens_sent"), "completion_tokens": stats.get("tokens_received")}
    building.usage = Chat.read_usage(named)
    calls = stats.get("api_calls")
    building.calls = calls if isinstance(calls, int) and calls >= 0 else None
    building.dollars = money(stats.get("instance_cost")) or None
    building.note = "it estimates tokens itself and does not take the model's count"


def _step(number: int, step: dict[str, Any], building: Building) -> None:
    # One call may be made twice; ids are told apart by the step.
    calls = [call.model_copy(update={"id": f"{call.id}#{number}"}) for call in chat_calls(step)]
    if not calls and step.get("action"):
        calls = [_action(f"action-{number}", step)]
    text = step.get("thought") or step.get("response")
    building.step(Source.AGENT, text, calls=calls)
    if calls and step.get("observation") is not None:
        building.observe(calls[0].id, step["observation"])


def _action(call_id: str, step: dict[str, Any]) -> StepCall:
    """The command line of a step as a call; a text that it takes goes into the file that its window shows."""
    found = _WITH_TEXT.fullmatch(step["action"]) if isinstance(step["action"], str) else None
    if found is None:
        return StepCall(id=call_id, name="action", arguments={"command": step["action"]})
    try:
        state = json.loads(step["state"]) if isinstance(step.get("state"), str) else step.get("state")
    except (ValueError, RecursionError):
        state = None
    window = mapping(state).get("open_file")
    path = {"path": window} if isinstance(window, str) else {}
    return StepCall(
        id=call_id, name=found["name"], arguments={**path, "lines": found["lines"], "text": found["text"] or ""}
    )
