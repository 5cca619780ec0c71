"""Settings of agents that people write, checked: known names, possible values, options that the agent takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NoReturn

from repoassay.agents import Agent, ModelledAgent, agent_kind, content_digest
from repoassay.errors import BadInput
from repoassay.text import quote, suggest
from repoassay.types import LIMITS, AgentEntry, limit_value

__all__ = ["check_content", "check_entry", "check_limits", "read_entry"]

_MAX_CALLS = "max_calls"
"""Another name of `max_iterations`, the one that `AgentEntry` has for it."""


def read_entry(name: str, settings: AgentEntry | Mapping[str, object]) -> AgentEntry:
    """The entry `name` of a plan.

    Args:
        name: As reports are to show it.
        settings: An entry, or its settings by name: `kind`, `model`, limits, and options of the agent; numbers may be
            numbers or text, and None is a setting that is left out.

    Raises:
        BadInput: A setting is unknown, or its value is impossible.
    """
    if not isinstance(settings, AgentEntry):
        settings = AgentEntry.of({_option(key): _as_text(name, key, value) for key, value in _flat(settings).items()})
    check_entry(name, settings)
    return settings


def check_entry(name: str, entry: AgentEntry) -> None:
    """Refuse an entry that cannot be meant.

    Raises:
        BadInput: A setting is unknown or impossible, or its agent takes no such option.
    """
    check_limits(name, entry)
    takes = agent_kind(entry.kind or name).options
    for key, value in entry.options.items():
        if key not in takes:
            _unknown(name, key, value, ("kind", "model", *LIMITS, _MAX_CALLS, *takes))


def check_content(name: str, entry: AgentEntry, agent: Agent) -> None:
    """Make sure that what an agent is made of on this machine is what it was when the run was planned.

    Raises:
        BadInput: Its file, its prompt template or the folder it is shown has changed, or is gone.
    """
    options, kind = entry.options, entry.kind or name
    folder = agent.spec.install.folder if isinstance(agent, ModelledAgent) else options.get("folder", "")
    parts = (
        (kind if kind.endswith(".toml") else "", options.get("sha256", "")),
        (options.get("template", ""), options.get("template_sha256", "")),
        (folder, options.get("folder_sha256", "")),
    )
    for path, planned in parts:
        if path and planned and content_digest(Path(path)) != planned:
            raise BadInput(
                f"{path}, of which the agent {name} is made, has changed since this run was planned.",
                "Start a new run; figures of different agents must not be mixed.",
            )


def check_limits(name: str, entry: AgentEntry) -> None:
    """Refuse limits that have no possible value; they lie among the options, see `AgentEntry.of`.

    Raises:
        BadInput: One has none.
    """
    for key in LIMITS:
        if key in entry.options:
            try:
                limit_value(key, entry.options[key])
            except ValueError as error:
                raise BadInput(_sentence(name, key, entry.options[key], "is impossible"), str(error)) from None


def _flat(settings: Mapping[str, object]) -> dict[str, object]:
    """Settings without what is left out, and with the members of `options` among them."""
    options = settings.get("options")
    inner = dict(options) if isinstance(options, Mapping) else {}
    outer = {key: value for key, value in settings.items() if not (key == "options" and isinstance(value, Mapping))}
    return {key: value for key, value in {**outer, **inner}.items() if value is not None}


def _option(key: str) -> str:
    return "max_iterations" if key == _MAX_CALLS else key


def _as_text(name: str, key: str, value: object) -> str:
    numeric = _option(key) in LIMITS
    if not isinstance(value, str) and numeric:
        try:
            return format(limit_value(key, value), "f")
        except ValueError as error:
            raise BadInput(_sentence(name, key, value, "is impossible"), str(error)) from None
    if not isinstance(value, str):
        raise BadInput(_sentence(name, key, value, "is no text"), "Write it as text.")
    return value


def _unknown(name: str, key: str, value: str, known: Iterable[str]) -> NoReturn:
    raise BadInput(_sentence(name, key, value, "is unknown"), suggest(key, known))


def _sentence(name: str, key: str, value: object, what: str) -> str:
    return f"The agent {quote(name)} has the setting {quote(key)} with the value {quote(value)}, which {what}."
