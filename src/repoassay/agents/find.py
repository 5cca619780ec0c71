"""Agents by name, or by the file of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from repoassay.agents.command import CommandAgent
from repoassay.agents.modelled import ModelledAgent
from repoassay.agents.protocol import Agent
from repoassay.agents.reference import ReferenceAgent
from repoassay.agents.scripted import SCRIPTS, ScriptedAgent
from repoassay.agents.spec import builtin_specs, is_dotted, read_spec
from repoassay.errors import BadInput
from repoassay.tasks.wording import nearest

__all__ = ["AGENTS", "find_agent", "find_modelled"]

AGENTS: dict[str, str] = {
    "reference": "runs the task's own solution; must pass every task",
    "nothing": "does nothing; must fail every task",
    "copycat": "hands inputs back as outputs; must fail every task",
    "empty": "leaves every expected file, empty; must fail every task",
    "garbage": "leaves valid files with random content; must fail every task",
    "constant": "leaves valid files of one value, word or tone; must fail every task",
    "noise": "leaves valid files of noise; must fail every task",
    "vandal": "attacks the sandbox and the grader; must fail every task and harm nothing",
    "command": "any command line of yours, given with --agent-command",
}
"""Every agent with what it is for."""


def find_agent(name: str, settings: Mapping[str, str] | None = None) -> Agent:
    """Return an agent by name, configured with its settings.

    Args:
        name: One of `AGENTS`, a built-in agent that asks a model, the path of an agent's TOML file, or where Python
            code of one is: `package.module:name`.
        settings: `command` and `folder` of the agent `command`; `template`, the path of a prompt template, of those
            that ask a model.

    Raises:
        BadInput: When there is no such agent or a setting is missing.
    """
    settings = settings or {}
    if name == "reference":
        return ReferenceAgent()
    if name in SCRIPTS:
        return ScriptedAgent(name)
    if name == "command":
        if not settings.get("command"):
            raise BadInput("The agent `command` needs a command line.", "Give it with --agent-command.")
        folder = settings.get("folder")
        return CommandAgent(settings["command"], Path(folder) if folder else None)
    if is_dotted(name):
        from repoassay.agents.function import adapt_agent, import_agent

        return adapt_agent(import_agent(name, settings.get("sha256", "")))
    template = settings.get("template")
    return find_modelled(name, Path(template) if template else None)


def find_modelled(name: str, template: Path | None = None) -> ModelledAgent:
    """An agent that asks a model: a built-in one by name, or one's own by the path of its TOML file.

    Raises:
        BadInput: There is no such agent, or its file is wrong.
    """
    builtin = builtin_specs()
    if name in builtin:
        return ModelledAgent(read_spec(builtin[name]), template)
    if name.endswith(".toml") or "/" in name:
        return ModelledAgent(read_spec(Path(name)), template)
    every = [*AGENTS, *builtin]
    raise BadInput(
        f"There is no agent called {name!r}.",
        f"{nearest(name, every)} Choose one of: {', '.join(every)}; or give the path of an agent's TOML file.".strip(),
    )
