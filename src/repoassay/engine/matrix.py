"""Entries of a plan out of lists: every agent with every model and every combination of what is swept."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from repoassay.agents import agent_kind
from repoassay.engine.agent_settings import read_entry
from repoassay.errors import BadInput
from repoassay.model_proxy import split_model
from repoassay.types import LIMITS, AgentEntry, limit_value

__all__ = ["number", "parse_sweeps", "spread"]

_METERED = LIMITS[1:]
_MOST = 1000


def parse_sweeps(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read `NAME=VALUE,VALUE,...`.

    Raises:
        BadInput: A name is unknown or given twice, or a value is no number above 0.
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or name not in LIMITS:
            raise BadInput(
                f"--sweep {text!r} cannot be read.", f"Write NAME=1,2,3; NAME is one of {', '.join(LIMITS)}."
            )
        if name in found:
            raise BadInput(f"--sweep has {name} twice.", "Give all its values at once: NAME=1,2,3.")
        found[name] = tuple(dict.fromkeys(number(name, value) for value in values.split(",")))
    return found


def number(name: str, value: str) -> str:
    """A setting's value as a plan has it.

    Raises:
        BadInput: It is no number above 0, or no whole one where it counts something.
    """
    try:
        return format(limit_value(name, value).normalize(), "f")
    except ValueError as error:
        raise BadInput(f"{value.strip()!r} is no value for {name}.", str(error)) from None


def spread(
    agents: Mapping[str, AgentEntry | Mapping[str, object]],
    models: Sequence[str],
    limits: Mapping[str, str],
    sweeps: Mapping[str, Sequence[str]],
) -> dict[str, AgentEntry]:
    """The entries of a plan, by the names reports show: `AGENT`, `AGENT @ MODEL`, `AGENT @ MODEL, NAME=VALUE`.

    Args:
        agents: Settings of each agent. One whose kind takes no model is never given one, and only `timeout` is set or
            swept for it.
        models: `provider/name` of each model; empty for runs without.
        limits: What holds for every attempt.
        sweeps: Values of what is swept; they replace `limits`.

    Raises:
        BadInput: A model names no provider, no agent takes one, limits of model use are given without a model, a
            setting is unknown or impossible, or there are too many.
    """
    for model in models:
        split_model(model)
    metered = [name for name in (*limits, *sweeps) if name in _METERED]
    if metered and not models:
        raise BadInput(f"{metered[0]} limits the use of a model, and none is named.", "Add --model provider/name.")
    found: dict[str, AgentEntry] = {}
    for name, settings in agents.items():
        entry = read_entry(name, settings)
        asks = agent_kind(entry.kind or name).takes_model
        usable = [setting for setting in sweeps if (asks and models) or setting not in _METERED]
        for model in models if asks and models else [""]:
            for values in itertools.product(*(sweeps[setting] for setting in usable)):
                swept = dict(zip(usable, values, strict=True))
                kept = {key: value for key, value in limits.items() if model or key not in _METERED}
                title = f"{name} @ {model}" if model else name
                title = ", ".join([title, *(f"{key}={value}" for key, value in swept.items())])
                found[title] = _with(name, entry, {**({"model": model} if model else {}), **kept, **swept})
    if models and agents and not any(entry.model for entry in found.values()):
        raise BadInput(
            f"No agent of {', '.join(agents)} asks a model, and {models[0]} is named.",
            "Leave --model out, or add an agent that asks one.",
        )
    if len(found) > _MOST:
        raise BadInput(f"That makes {len(found)} combinations; at most {_MOST} are possible.", "Sweep less at once.")
    return found


def _with(name: str, entry: AgentEntry, more: Mapping[str, str]) -> AgentEntry:
    return AgentEntry.of({"kind": name, **entry.settings, **more})
