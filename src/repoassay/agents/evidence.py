"""Which commands an agent ran, as its own transcript has it: the evidence that comes with a pull request."""

from __future__ import annotations

from collections.abc import Mapping

from repoassay.model.pull_request import CommandRun
from repoassay.model.trajectory import StepCall, Trajectory

__all__ = ["commands_run"]

_KEYS = ("command", "cmd", "commands", "keystrokes", "bash_command", "script", "code", "input")
"""Arguments that hold a command, whatever the agent calls its tool."""
_LONGEST = 20_000
_MOST = 2000


def commands_run(trajectory: Trajectory) -> tuple[CommandRun, ...]:
    """Commands of every step in order, at most 2000, with what came back; both are hostile and cut at 20,000."""
    found: list[CommandRun] = []
    answers = {seen.call: seen for step in trajectory.steps for seen in step.observations if seen.call}
    for step in trajectory.steps:
        alone = step.observations[0] if len(step.calls) == 1 and len(step.observations) == 1 else None
        for call in step.calls:
            command = _command(call)
            if command:
                seen = answers.get(call.id) if call.id else None
                seen = seen or alone
                found.append(
                    CommandRun(
                        step=step.index,
                        command=command[:_LONGEST],
                        output=seen.text[-_LONGEST:] if seen else "",
                        failed=seen.failed if seen else None,
                    )
                )
    return tuple(found[:_MOST])


def _command(call: StepCall) -> str:
    """The command of a tool's call; empty where it is no shell's."""
    arguments: Mapping[str, object] = call.arguments
    for key in _KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return " ".join(map(str, value))
    return ""
