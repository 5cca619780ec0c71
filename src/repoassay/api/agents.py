"""Agents as Python programs hand them over, and as a plan has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from repoassay.agents import (
    Agent,
    CommandMaker,
    ModelledAgent,
    WorkspaceSession,
    adapt_agent,
    agent_file,
    agent_kind,
    agent_titles,
    builtin_specs,
    check_source,
    content_digest,
    find_agent,
    import_agent,
    python_kind,
    source_digest,
)
from repoassay.engine import named_file
from repoassay.errors import BadInput
from repoassay.plugins import is_dotted, plugin_version
from repoassay.text import quote
from repoassay.types import AgentEntry, Plan

__all__ = ["AgentLike", "Agents", "agents_again", "planned_agents"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

AgentLike = str | Callable[[WorkspaceSession, str], object] | CommandMaker | type[CommandMaker]
"""A name of an agent, the path of an agent's TOML file, `package.module:name`, a function of (workspace, instruction),
or an object, or a class, with a method `command(layout, limits)`."""


@dataclass(frozen=True, slots=True)
class Agents:
    """The entry of each agent by the name reports show, and by kind those that are objects."""

    entries: dict[str, AgentEntry] = field(default_factory=dict)
    own: dict[str, Agent] = field(default_factory=dict)


def planned_agents(
    agents: AgentLike | Sequence[AgentLike], *, command: str | Mapping[str, str] | None = None,
    folder: Path | None = None, template: Path | None = None,
) -> Agents:  # fmt: skip
    """Agents for a plan. `command` and `folder` are of the agent `command`, `template` of agents that ask a model.

    Raises:
        BadInput: There is no such agent, it cannot be used, or two have one name.
    """
    found = Agents()
    for agent_name in _several(agents):
        each = agent_file(agent_name) if isinstance(agent_name, str) else agent_name
        if each == "command" and isinstance(command, Mapping):
            for own, command_line in command.items():
                _check_name(own)
                found.entries[own] = _by_name("command", command_line, folder, template)[1]
            continue
        if isinstance(each, str) and not is_dotted(each):
            line = None if isinstance(command, Mapping) else command
            name, entry = _by_name(each, line, folder, template)
        else:
            thing = import_agent(each) if isinstance(each, str) else each
            agent = adapt_agent(thing)
            name, entry = agent.name, _by_source(thing, each if isinstance(each, str) else python_kind(each))
            found.own[entry.kind] = agent
        if found.entries.get(name, entry) != entry:
            raise BadInput(f"Two agents are called {quote(name)}.", "Give one of them another name.")
        found.entries[name] = entry
    return found


def _check_name(name: str) -> None:
    """Refuse a name of an own agent that reports cannot show, or that another has.

    Raises:
        BadInput: It is one.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(
            f"{quote(name)} is no name for an agent.", "Use letters, digits, dots, dashes and underscores, at most 64."
        )
    if name != "command" and (name in agent_titles() or name in builtin_specs()):
        raise BadInput(f"{quote(name)} is the name of an agent that comes along.", "Choose another.")


def agents_again(plan: Plan, agents: AgentLike | Sequence[AgentLike]) -> tuple[dict[str, Agent], tuple[Path, ...]]:
    """Agents of a run that goes on: by the plan's kind those that are objects, and the names of all, as grants.

    Raises:
        BadInput: The plan has no such agent, or its source has changed since.
    """
    own: dict[str, Agent] = {}
    names: list[Path] = []
    kinds = {entry.kind: entry for entry in plan.agents.values() if is_dotted(entry.kind)}
    for each in _several(agents):
        if isinstance(each, str) and not is_dotted(each):
            names.append(Path(agent_file(each)))
            continue
        kind = each if isinstance(each, str) else python_kind(each)
        thing = import_agent(each) if isinstance(each, str) else each
        same = [one for one in kinds if one == kind or one.partition(":")[2] == kind.partition(":")[2]]
        if not same:
            raise BadInput(f"This run has no agent {quote(kind)}.", f"Its agents are: {', '.join(plan.agents)}.")
        for one in same:
            check_source(one, thing, kinds[one].options.get("sha256", ""))
            own[one] = adapt_agent(thing)
            names.append(Path(one))
    return own, tuple(names)


def _several(agents: AgentLike | Sequence[AgentLike]) -> list[AgentLike]:
    found = [*agents] if isinstance(agents, list | tuple) else [cast("AgentLike", agents)]
    if not found:
        raise BadInput("No agent is named.", "Give at least one.")
    return found


def _by_name(name: str, command: str | None, folder: Path | None, template: Path | None) -> tuple[str, AgentEntry]:
    """Name and entry of an agent that RepoAssay or a plug-in has, or that a TOML file says."""
    kind, options = name, {}
    if name == "command":
        options = {"command": command or ""}
        if folder is not None:
            options |= {"folder": str(folder.absolute()), "folder_sha256": content_digest(folder)}
    elif Path(name).suffix == ".toml":
        file = named_file(Path(name))
        kind, options = file.path, {"sha256": file.sha256}
    if template is not None and "template" in agent_kind(kind).options:
        file = named_file(template)
        options |= {"template": file.path, "template_sha256": file.sha256}
    agent = find_agent(kind, options)
    if version := plugin_version("repoassay.agents", name):
        options["version"] = version
    if isinstance(agent, ModelledAgent):
        options["version"] = agent.spec.version
        if agent.spec.install.kind == "folder":
            options["folder_sha256"] = content_digest(Path(agent.spec.install.folder))
    return (agent.name if Path(name).suffix == ".toml" else name), AgentEntry(kind=kind, options=options)


def _by_source(thing: object, kind: str) -> AgentEntry:
    digest = source_digest(thing)
    return AgentEntry(kind=kind, options={"sha256": digest} if digest else {})
