"""Agents by name, by a dotted path, or by the file of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from repoassay import plugins
from repoassay.agents.model_agent import ModelledAgent
from repoassay.agents.plugin_agent import configure_agent, plugin_agent
from repoassay.agents.protocol import Agent, AgentKind
from repoassay.agents.spec import builtin_specs, read_spec
from repoassay.errors import BadInput
from repoassay.text import suggest

__all__ = ["agent_file", "agent_kind", "agent_titles", "find_agent", "find_modelled", "is_own"]

_GROUP = "repoassay.agents"


def agent_titles() -> dict[str, str]:
    """Every bundled agent that asks no model, with what it is for."""
    return {plugin.name: plugins.resolve(plugin).title for plugin in plugins.bundled_plugins(_GROUP).values()}


def agent_kind(name: str) -> AgentKind:
    """What a plan may say of the agent `find_agent` knows by this name; no file is looked at."""
    if name in builtin_specs() or not plugins.offers(_GROUP, name):
        return ModelledAgent.kind
    kind = getattr(plugins.load(_GROUP, name), "kind", None)
    return kind if isinstance(kind, AgentKind) else ModelledAgent.kind


def is_own(name: str) -> bool:
    """Whether what `find_agent` knows by this name runs a program that did not come along with the package."""
    return name == "command" or name not in plugins.bundled_plugins(_GROUP)


def agent_file(name: str) -> str:
    """The path of an agent's TOML file, where a name is one or the folder of one; else the name."""
    folder = Path(name)
    return str(folder / "agent.toml") if "/" in name and folder.is_dir() else name


def find_agent(name: str, options: Mapping[str, str] | None = None) -> Agent:
    """Return an agent by name, configured with its options.

    Args:
        name: A bundled agent, a plug-in's, a dotted path `package.module:Name`, or the path of an agent's TOML file.
        options: `command` and `folder` of the agent `command`; `template`, the path of a prompt template, of those
            that ask a model.

    Raises:
        BadInput: When there is no such agent or an option is missing.
        Unavailable: When a plug-in cannot be imported.
    """
    options = options or {}
    if name in plugins.bundled_plugins(_GROUP):
        agent: Agent = configure_agent(plugins.load(_GROUP, name), options)
        return agent
    template = options.get("template")
    if name in builtin_specs():
        return find_modelled(name, Path(template) if template else None)
    if plugins.is_dotted(name):
        from repoassay.agents.function import adapt_agent, import_agent

        return adapt_agent(import_agent(name, options.get("sha256", "")))
    if plugins.offers(_GROUP, name):
        return plugin_agent(plugins.find(_GROUP, name), options)
    return find_modelled(name, Path(template) if template else None)


def find_modelled(name: str, template: Path | None = None) -> ModelledAgent:
    """An agent that has a TOML file: a bundled one or a plug-in's by name, or one's own by the file's path.

    Raises:
        BadInput: There is no such agent, or its file is wrong.
    """
    builtin = builtin_specs()
    name = agent_file(name)
    if name in builtin:
        return ModelledAgent(read_spec(builtin[name]), template)
    if name.endswith(".toml") or "/" in name:
        return ModelledAgent(read_spec(Path(name)), template)
    if plugins.offers(_GROUP, name):
        if name not in plugins.bundled_plugins(_GROUP):
            found = plugin_agent(plugins.find(_GROUP, name), {"template": str(template)} if template else {})
            if isinstance(found, ModelledAgent):
                return found
        raise BadInput(f"The agent {name} has no TOML file.", "Only agents that have one are installed and checked.")
    known = [*plugins.bundled_plugins(_GROUP), *builtin, *plugins.installed_plugins(_GROUP)]
    raise BadInput(
        f"There is no agent called {name!r}.",
        f"For the folder of that name write ./{name}."
        if (Path(name) / "agent.toml").is_file()
        else f"{suggest(name, known, list_known=False)} Choose one of: {', '.join(known)}; "
        "or give the path of an agent's TOML file.".strip(),
    )
