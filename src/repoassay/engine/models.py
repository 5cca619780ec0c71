"""The models of a plan: where they are, what they cost, and whether all of that still is as planned."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.model_proxy import (
    Budget,
    Prices,
    ScriptedUpstream,
    Upstream,
    check_extra,
    find_upstream,
    known_upstreams,
    split_model,
)
from repoassay.types import AgentEntry, Metering, NamedFile, Plan, Usage

__all__ = ["attempt_budget", "check_models", "named_file", "prices_of", "provider_of", "upstreams_of"]


def named_file(path: Path) -> NamedFile:
    """A file as a plan has it.

    Raises:
        BadInput: It cannot be read.
    """
    if path.exists() and not path.is_file():  # a pipe would be waited for, and is gone once it was read
        raise BadInput(f"{path} is no file.", "Give a file that stays.")
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise BadInput(f"The file {path} cannot be read: {error.strerror}.", "Check its name.") from error
    return NamedFile(path=str(path.absolute()), sha256=digest)


def provider_of(entry: AgentEntry) -> str:
    """The provider of an entry of the plan; empty where it has no model."""
    return split_model(entry.model)[0] if entry.model else ""


def upstreams_of(metering: Metering) -> dict[str, Upstream | ScriptedUpstream]:
    """Every upstream a plan may use, by name.

    Raises:
        BadInput: A file is not what it should be.
    """
    found: dict[str, Upstream | ScriptedUpstream] = {}
    found.update(known_upstreams(Path(file.path) for file in metering.upstreams))
    if metering.dialogue is not None:
        found["scripted"] = ScriptedUpstream(Path(metering.dialogue.path))
    return found


def prices_of(metering: Metering) -> Prices:
    """The price table of a plan.

    Raises:
        BadInput: A file is not a price table.
    """
    return Prices.shipped(*(Path(file.path) for file in metering.prices))


def attempt_budget(entry: AgentEntry, seconds: float | None = None) -> Budget:
    """What one attempt of an entry of the plan may spend."""
    return Budget(calls=entry.max_calls, tokens=entry.max_tokens, dollars=entry.budget_usd, seconds=seconds)


def check_models(plan: Plan, dialects: Mapping[str, str] | None = None) -> None:
    """Look at everything about models that can be known before the first attempt.

    Args:
        plan: The plan.
        dialects: What those of its agents speak that say so, by the plan's names.

    Raises:
        BadInput: A file has changed since the run was planned, a provider is unknown, its key is not set, an agent and
            its model's server speak different dialects, dollars are limited and a model has no price, or the scripted
            model has nothing to say.
        MissingExtra: What the model proxy needs is not installed.
    """
    for file in plan.metering.files:
        if named_file(Path(file.path)) != file:
            raise BadInput(
                f"{file.path} has changed since this run was planned.",
                "Start a new run; figures of different settings must not be mixed.",
            )
    upstreams, prices = upstreams_of(plan.metering), prices_of(plan.metering)
    today = datetime.now(UTC)
    if any(entry.model for entry in plan.agents.values()):
        check_extra()
    for name, entry in plan.agents.items():
        model = entry.model
        if not model:
            continue
        upstream = find_upstream(model, upstreams.values())
        dialect = (dialects or {}).get(name)
        if dialect and isinstance(upstream, Upstream) and not upstream.serves(dialect):
            raise BadInput(
                f"{name} speaks {dialect}, which the upstream {upstream.name!r} does not, and nothing is translated "
                f"for it; it speaks {', '.join(upstream.dialects)}.",
                f"Set its translate to true, choose another agent or provider, or give an endpoint that speaks "
                f"{dialect} with --model-upstream FILE (docs/model-proxy.md).",
            )
        limited = plan.metering.budget_usd is not None or entry.budget_usd is not None
        cost = prices.cost(model, Usage(), today)
        tells_cost = isinstance(upstream, Upstream) and upstream.tells_cost
        if limited and cost.dollars is None and not tells_cost:
            raise BadInput(
                f"A budget in dollars needs a price for {model} ({cost.note}).",
                "Give a price table that has it with --prices FILE, or limit calls or tokens instead.",
            )
