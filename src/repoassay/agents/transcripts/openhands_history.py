"""Events of OpenHands before its SDK, as a row of its output holds them: actions and observations, of three ages.

The newest name the tool that the model called; before that an action has its arguments in `args`, and at first beside
its name, without ids: there an observation answers the action before it.
"""

from __future__ import annotations

import json
from typing import Any

from repoassay.agents.transcripts.building import Building, moment
from repoassay.agents.transcripts.files import entries, mapping
from repoassay.model_proxy import Chat
from repoassay.types import Source, StepCall, Usage

__all__ = ["HistoryEvents"]

_EDITOR = "str_replace_editor"
_TOOLS = {"run": "execute_bash", "run_ipython": "execute_ipython_cell", "browse": "browser",
          "browse_interactive": "browser", "delegate": "delegate"}  # fmt: skip
_SAID = ("finish", "think", "reject", "message", "system")
_OWN = ("recall", "null", "agent_state_changed", "change_agent_state", "condensation")
"""What it does with itself."""
_THOUGHTS = ("thought", "final_thought", "content")
_BESIDES = {"thought", "is_confirmed", "confirmation_state", "action_risk", "security_risk", "keep_prompt", "hidden",
            "blocking", "action", "observation", "id", "timestamp", "source", "message"}  # fmt: skip
"""What an action's arguments hold that its tool was not given."""


class HistoryEvents:
    """Takes the events of one row in order; `usage` and `calls` are those of its model calls, as far as they tell."""

    def __init__(self, building: Building) -> None:
        self._building = building
        self._steps: dict[str, int] = {}
        self._last = ""
        self._number = 0
        self.usage: Usage | None = None
        self.calls = 0

    def take(self, event: dict[str, Any]) -> None:
        """Add one event."""
        self._number += 1
        if event.get("action") in _OWN or event.get("observation") in _OWN:
            return
        if isinstance(event.get("observation"), str):
            self._observation(event)
        elif isinstance(event.get("action"), str):
            self._action(event)

    def _action(self, event: dict[str, Any]) -> None:
        action = event["action"]
        details = mapping(event, "args") or event
        text = next((value for key in _THOUGHTS if isinstance(value := details.get(key), str) and value), "")
        source = self._source(event, action)
        calls = [] if action in _SAID else [self._call(event, action, details)]
        response = mapping(event, "tool_call_metadata", "model_response")
        name = str(response.get("id") or "")
        if calls and self._steps.get(name):  # several calls of one response
            self._building.extend(self._steps[name], "", "", calls)
            return
        usage = Chat.read_usage(mapping(response, "usage")) if response else None
        if usage is not None:
            self.usage, self.calls = (self.usage or Usage()) + usage, self.calls + 1
            self._building.model = self._building.model or str(response.get("model") or "")
        index = self._building.step(source, text, calls=calls, time=moment(event.get("timestamp")), usage=usage)
        if name:
            self._steps[name] = index

    def _source(self, event: dict[str, Any], action: str) -> Source:
        if action == "system":
            return Source.SYSTEM
        # At first no event said who spoke: the task is what was said first.
        first = "source" not in event and self._number == 1
        return Source.USER if action == "message" and (event.get("source") == "user" or first) else Source.AGENT

    def _call(self, event: dict[str, Any], action: str, details: dict[str, Any]) -> StepCall:
        self._last = f"event-{event.get('id', self._number)}"
        metadata = mapping(event, "tool_call_metadata")
        for choice in entries(mapping(metadata, "model_response").get("choices")):
            for call in entries(mapping(choice, "message").get("tool_calls")):
                if call.get("id") == metadata.get("tool_call_id"):
                    name = str(metadata.get("function_name") or mapping(call, "function").get("name") or action)
                    return StepCall(id=self._last, name=name, arguments=_parsed(mapping(call, "function")))
        arguments = {key: value for key, value in details.items() if key not in _BESIDES and value is not None}
        if action == "read":
            return StepCall(id=self._last, name=_EDITOR, arguments={**arguments, "command": "view"})
        if action == "write":
            content = arguments.pop("content", "")
            return StepCall(
                id=self._last, name=_EDITOR, arguments={**arguments, "command": "create", "file_text": content}
            )
        if action == "edit":
            return StepCall(id=self._last, name=_EDITOR, arguments={"command": "str_replace", **arguments})
        return StepCall(id=self._last, name=_TOOLS.get(action, action), arguments=arguments)

    def _observation(self, event: dict[str, Any]) -> None:
        if event["observation"] == "think":
            return
        details = {**event, **mapping(event, "extras")}
        code = mapping(details, "metadata").get("exit_code", details.get("exit_code"))
        failed = event["observation"] == "error" or (isinstance(code, int) and code not in (0, -1))
        cause = event.get("cause")
        call = self._last if cause is None else f"event-{cause}"
        self._building.observe(call, event.get("content") or "", failed=failed, time=moment(event.get("timestamp")))


def _parsed(function: dict[str, Any]) -> dict[str, Any]:
    text = function.get("arguments")
    try:
        return mapping(json.loads(text)) if isinstance(text, str) else mapping(text)
    except (ValueError, RecursionError):
        return {"text": text}
