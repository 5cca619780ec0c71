"""Agents of plug-ins: a class with the one method `command` is enough; what it leaves out is filled in here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repoassay import plugins
from repoassay.agents.model_agent import ModelledAgent
from repoassay.agents.protocol import Agent, AsksModel, in_workspace
from repoassay.agents.spec import AgentSpec, read_spec
from repoassay.errors import BadInput, InfraFault, RepoAssayError
from repoassay.sandbox import Command
from repoassay.tasks import TaskFolder
from repoassay.types import Limits
from repoassay.workspace import PreparedTask

__all__ = ["PluginAgent", "configure_agent", "plugin_agent"]


class PluginAgent:
    """An object with a method `command(layout, limits)`, with a name and `needs_workspace` where it has none.

    The method returns a `Command`, a sequence of arguments, or one line for the shell; the latter two are run in the
    workspace (`/workspace`).

    Args:
        name: As the user named it, and reports show it.
        inner: The object.
    """

    def __init__(self, name: str, inner: Any) -> None:
        self.name = name
        self._inner = inner

    def needs_workspace(self, folder: TaskFolder) -> bool:
        """As the object says; true where it says nothing."""
        answer = getattr(self._inner, "needs_workspace", True)
        return bool(answer(folder)) if callable(answer) else bool(answer)

    def command(self, layout: PreparedTask, limits: Limits) -> Command:
        """Return the object's command for one task.

        Raises:
            InfraFault: When the object fails or returns something else; the attempt counts against no one.
        """
        try:
            found = self._inner.command(layout, limits)
        except RepoAssayError:
            raise
        except Exception as error:
            reason = plugins.reason_of(error)
            raise InfraFault(f"The agent {self.name} failed to say its command: {reason}.") from error
        if isinstance(found, Command):
            return found
        argv = ("/bin/sh", "-c", found) if isinstance(found, str) else found if isinstance(found, Sequence) else ()
        if not argv or not all(isinstance(part, str) for part in argv):
            raise InfraFault(f"The agent {self.name} gave no command: a Command, arguments, or a line for the shell.")
        return in_workspace(layout, limits, tuple(argv))


def configure_agent(found: Any, settings: Mapping[str, str]) -> Any:
    """Make an agent of what an entry point names: an object as it is, a class by `from_settings` or no arguments."""
    if hasattr(found, "from_settings"):
        return found.from_settings(settings)
    return found() if isinstance(found, type) else found


def plugin_agent(plugin: plugins.Plugin, settings: Mapping[str, str]) -> Agent:
    """Return the agent that a plug-in brings.

    It names an object or class with `command`, one that asks a model (see `AsksModel`), an `AgentSpec`, or the path of
    an agent's TOML file.

    Raises:
        Unavailable: When it cannot be imported.
        BadInput: When it is none of these.
    """
    found = plugins.resolve(plugin)
    template = Path(settings["template"]) if settings.get("template") else None
    if isinstance(found, AgentSpec):
        return ModelledAgent(found, template)
    if isinstance(found, Path):
        return ModelledAgent(read_spec(found), template)
    try:
        agent = configure_agent(found, settings)
    except RepoAssayError:
        raise
    except Exception as error:
        reason = plugins.reason_of(error)
        raise BadInput(f"The {plugin.title} cannot be made: {reason}.", "It must need no arguments.") from error
    if isinstance(agent, AsksModel):
        return agent
    if not callable(getattr(agent, "command", None)):
        raise BadInput(f"The {plugin.title} has no method command(layout, limits).", "See docs/plugins.md.")
    return PluginAgent(plugin.name, agent)
