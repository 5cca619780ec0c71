"""Trajectories as ATIF (Agent Trajectory Interchange Format), which Harbor and others read.

What a trajectory of ours has and ATIF has no place for goes to the `extra` of its step, call, observation or whole, so
that `repoassay.agents.transcripts.atif` reads back what was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from repoassay.types import Observation, Source, Trajectory, TrajectoryStep, Usage

__all__ = ["ATIF_VERSION", "to_atif"]

ATIF_VERSION = "ATIF-v1.8"


def to_atif(
    trajectory: Trajectory, *, session: str = "", about: Mapping[str, Any] | None = None
) -> dict[str, Any]:  # fmt: skip
    """A trajectory as a JSON document.

    Args:
        trajectory: What a transcript's reader returned; readers of ATIF insist on at least one step.
        session: The identity of run and document, such as the attempt's id; by default the agent's own, or `unknown`.
        about: What else is known of the attempt, such as its task; kept below `extra`.

    Returns:
        What `json.dump` takes. Dollars are floats there, as ATIF has them, and exact in `extra`.
    """
    agent = {"name": trajectory.agent, "version": trajectory.version or "unknown", "model_name": trajectory.model}
    extra = {
        "ending": trajectory.ending, "problems": list(trajectory.problems), "session": trajectory.session,
        "attempt": dict(about or {}),
    }  # fmt: skip
    name = session or trajectory.session or "unknown"
    whole = {
        "schema_version": ATIF_VERSION,
        "session_id": name,
        "trajectory_id": name,
        "agent": {**_filled(agent), "name": trajectory.agent or "unknown"},
        "steps": [_step(step, trajectory.model) for step in trajectory.steps],
        "notes": trajectory.own.note,
        "final_metrics": _final(trajectory),
        "extra": _filled(extra),
    }
    return {**_filled(whole), "steps": whole["steps"]}


def _step(step: TrajectoryStep, model: str) -> dict[str, Any]:
    ours = step.source is Source.AGENT
    # ATIF knows no source `tool`: what nobody asked for comes from the system. Only an agent may call, think and spend.
    source = "system" if step.source is Source.TOOL else step.source.value
    ids = [call.id or f"call-{step.index}-{number}" for number, call in enumerate(step.calls, 1)]
    calls = [
        _filled({"tool_call_id": key, "function_name": call.name or "unknown"})
        | {"arguments": call.arguments}
        | ({} if call.id else {"extra": {"unnamed": True}})
        for key, call in zip(ids, step.calls, strict=True)
    ]
    results = [_result(item, ids) for item in step.observations]
    fields = {
        "step_id": step.index,
        "timestamp": step.time.isoformat() if step.time else None,
        "source": source,
        "model_name": model if ours else None,
        "reasoning_content": step.reasoning if ours else None,
        "tool_calls": calls if ours else None,
        "observation": {"results": results} if results else None,
        "metrics": _metrics(step) if ours else None,
        "extra": {"source": "tool"} if step.source is Source.TOOL else None,
    }
    return {**_filled(fields), "message": step.text}


def _result(item: Observation, ids: list[str]) -> dict[str, Any]:
    """An observation; it may name only a call of its own step."""
    named = item.call in ids
    extra = _filled({"failed": item.failed or None, "call": None if named else item.call})
    return {**_filled({"source_call_id": item.call if named else None, "extra": extra}), "content": item.text}


def _metrics(step: TrajectoryStep) -> dict[str, Any]:
    usage = step.usage
    if usage is None and step.dollars is None:
        return {}
    return _with_money(_tokens(usage, "") if usage is not None else {}, "cost_usd", step.dollars)


def _final(trajectory: Trajectory) -> dict[str, Any]:
    own = trajectory.own
    tokens = _tokens(own.usage, "total_") if own.usage is not None else {}
    metrics = _with_money(tokens, "total_cost_usd", own.dollars)
    if own.calls is not None:
        metrics["extra"] = {**metrics.get("extra", {}), "calls": own.calls}
    return {**metrics, "total_steps": len(trajectory.steps)}


def _with_money(fields: dict[str, Any], key: str, dollars: Decimal | None) -> dict[str, Any]:
    """With dollars, which ATIF has as a float; where that says less than we know, exactly beside it."""
    if dollars is None:
        return fields
    fields[key] = float(dollars)
    if Decimal(str(fields[key])) != dollars:
        fields["extra"] = {**fields.get("extra", {}), key: str(dollars)}
    return fields


def _tokens(usage: Usage, prefix: str) -> dict[str, Any]:
    fields: dict[str, Any] = {
        f"{prefix}prompt_tokens": usage.input,
        f"{prefix}completion_tokens": usage.output,
        f"{prefix}cached_tokens": usage.cached,
    }
    if usage.reasoning or usage.cache_write:
        fields["extra"] = {"reasoning_tokens": usage.reasoning, "cache_write_tokens": usage.cache_write}
    return fields


def _filled(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty; ATIF leaves it out."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}
