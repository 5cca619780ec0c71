"""From a neutral tool call to the tool an agent offers, and back; told by the tools in the agent's own request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["as_neutral", "finish_call", "shell_call"]

_SHELLS = (
    "bash", "exec_command", "Bash", "run_shell_command", "execute_bash", "terminal", "shell", "shell_command", "Shell",
    "run_command", "execute_command", "run_commands",
)  # fmt: skip
_COMMANDS = ("command", "cmd", "commands", "script", "code")
_FINISHES = ("submit", "finish", "complete")
_MINI_ENDS = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


def shell_call(tools: Mapping[str, Mapping[str, Any]], command: str) -> tuple[str, dict[str, Any]] | None:
    """The shell tool's name and arguments; None when no tool looks like a shell.

    Args:
        tools: Name of each offered tool and the JSON schema of its arguments.
        command: A line for the shell.
    """
    name = next((name for name in _SHELLS if name in tools), None)
    if name is None:
        return None
    schema = tools[name]
    properties = schema.get("properties") or {}
    key = next((key for key in _COMMANDS if key in properties), "command")
    kind = (properties.get(key) or {}).get("type", "string")
    several = [command] if key == "commands" else ["bash", "-lc", command]
    arguments: dict[str, Any] = {key: several if str(kind).lower() == "array" else command}
    for required in schema.get("required") or []:
        if required not in arguments:
            arguments[required] = _filler(properties.get(required) or {})
    return name, arguments


def finish_call(dialect: str, tools: Mapping[str, Mapping[str, Any]]) -> tuple[str, dict[str, Any]] | None:
    """How this agent is told that the work is done by a tool; None when an answer without calls tells it."""
    for name in _FINISHES:
        if name in tools:
            required = tools[name].get("required") or []
            properties = tools[name].get("properties") or {}
            return name, {key: _filler(properties.get(key) or {}) for key in required}
    if dialect in {"chat", "responses"} and set(tools) == {"bash"}:
        return shell_call(tools, _MINI_ENDS)  # mini-swe-agent
    return None


def as_neutral(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A recorded call as a dialogue has it: neutral when it is a shell's, else as it stands."""
    if name in _FINISHES:
        return {"tool": "finish"}
    if name in _SHELLS:
        command = next((arguments[key] for key in _COMMANDS if key in arguments), None)
        if isinstance(command, list) and command and all(isinstance(part, str) for part in command):
            command = command[-1]
        if command == _MINI_ENDS:
            return {"tool": "finish"}
        if isinstance(command, str) and command:
            return {"tool": "shell", "command": command}
    return {"name": name, "arguments": dict(arguments)}


def _filler(schema: Mapping[str, Any]) -> Any:
    kind = str(schema.get("type", "string")).lower()
    fillers: dict[str, Any] = {"boolean": False, "integer": 0, "number": 0, "array": [], "object": {}}
    return fillers.get(kind, (schema.get("enum") or ["scripted"])[0])
