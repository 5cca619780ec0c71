"""Trajectories as ATIF (Agent Trajectory Interchange Format), which Harbor and others read.

Written as version 1.4, of which every later 1.x is a superset. Where a step of ours has something ATIF has no place
for, it goes to `extra`, which 1.4 allows on steps, metrics and the whole.
"""

from __future__ import annotations

from typing import Any

from repoassay.types import Source, Trajectory, TrajectoryStep, Usage

__all__ = ["ATIF_VERSION", "to_atif"]

ATIF_VERSION = "ATIF-v1.4"


def to_atif(trajectory: Trajectory, *, session: str = "") -> dict[str, Any]:
    """A trajectory as a JSON document.

    Args:
        trajectory: What a transcript's reader returned.
        session: Its identity, such as the attempt's id; by default the agent's own, or `unknown`.

    Returns:
        What `json.dump` takes. Dollars are floats there, as ATIF has them.
    """
    agent = {"name": trajectory.agent, "version": trajectory.version or "unknown", "model_name": trajectory.model}
    extra = {"ending": trajectory.ending, "problems": list(trajectory.problems)}
    whole = {
        "schema_version": ATIF_VERSION,
        "session_id": session or trajectory.session or "unknown",
        "agent": _filled(agent),
        "steps": [_step(step, trajectory.model) for step in trajectory.steps],
        "notes": trajectory.own.note,
        "final_metrics": _final(trajectory),
        "extra": _filled(extra),
    }
    return {**_filled(whole), "steps": whole["steps"]}


def _step(step: TrajectoryStep, model: str) -> dict[str, Any]:
    ours = step.source is Source.AGENT
    # ATIF knows no source `tool`: what nobody asked for comes from the system.
    source = "system" if step.source is Source.TOOL else step.source.value
    ids = [call.id or f"call-{step.index}-{number}" for number, call in enumerate(step.calls, 1)]
    calls = [
        {"tool_call_id": key, "function_name": call.name or "unknown", "arguments": call.arguments}
        for key, call in zip(ids, step.calls, strict=True)
    ]
    results = [
        # An observation may name only a call of its own step.
        _filled({"source_call_id": item.call if item.call in ids else None, "content": item.text or " "})
        for item in step.observations
    ]
    told = {
        "step_id": step.index,
        "timestamp": step.time.isoformat() if step.time else None,
        "source": source,
        "model_name": model if ours else None,
        "reasoning_content": step.reasoning if ours else None,
        "tool_calls": calls if ours else None,
        "observation": {"results": results} if results else None,
        "metrics": _metrics(step) if ours else None,
        "extra": {"failed_calls": [item.call for item in step.observations if item.failed]}
        if any(item.failed for item in step.observations)
        else None,
    }
    return {**_filled(told), "message": step.text}


def _metrics(step: TrajectoryStep) -> dict[str, Any]:
    usage = step.usage
    if usage is None and step.dollars is None:
        return {}
    tokens = _tokens(usage, "") if usage is not None else {}
    return _filled({**tokens, "cost_usd": float(step.dollars) if step.dollars is not None else None})


def _final(trajectory: Trajectory) -> dict[str, Any]:
    own = trajectory.own
    tokens = _tokens(own.usage, "total_") if own.usage is not None else {}
    cost = float(own.dollars) if own.dollars is not None else None
    return _filled({**tokens, "total_cost_usd": cost, "total_steps": len(trajectory.steps)})


def _tokens(usage: Usage, prefix: str) -> dict[str, Any]:
    told: dict[str, Any] = {
        f"{prefix}prompt_tokens": usage.input,
        f"{prefix}completion_tokens": usage.output,
        f"{prefix}cached_tokens": usage.cached,
    }
    if usage.reasoning or usage.cache_write:
        told["extra"] = {"reasoning_tokens": usage.reasoning, "cache_write_tokens": usage.cache_write}
    return told


def _filled(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty; ATIF leaves it out."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}
