"""Trae Agent: one JSON file, with the answer, the calls and their results of each step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment
from repoassay.agents.transcripts.files import entries, json_file, mapping, matching
from repoassay.model_proxy import Responses
from repoassay.types import Source, StepCall, Usage

__all__ = ["read"]


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    building.note = "it tells no dollars"
    found = matching(folder, "files/*.json")
    whole = mapping(json_file(found[0], building)) if found else {}
    if not isinstance(whole.get("agent_steps"), list):
        building.problem("There is no readable file with agent_steps.")
    building.model = building.model or str(whole.get("model") or "")
    has_task = False
    for message in entries(mapping((entries(whole.get("llm_interactions")) or [{}])[0]).get("input_messages")):
        if message.get("role") in ("system", "user") and isinstance(message.get("content"), str):
            has_task = has_task or message["role"] == "user"
            building.step(Source(message["role"]), message["content"], time=moment(whole.get("start_time")))
    if not has_task and whole.get("task"):
        building.step(Source.USER, whole["task"], time=moment(whole.get("start_time")))
    total, calls = Usage(), 0
    for step in entries(whole.get("agent_steps")):
        usage = _step(step, building)
        if usage is not None:
            total, calls = total + usage, calls + 1
    building.usage, building.calls = (total, calls) if calls else (None, None)
    ended = "success" if whole.get("success") is True else "no success"
    building.ending = ended if whole.get("end_time") else "it never ended"


def _step(step: dict[str, Any], building: Building) -> Usage | None:
    answer, counts = mapping(step, "llm_response"), mapping(step, "llm_response", "usage")
    details = {"cached_tokens": counts.get("cache_read_input_tokens")}
    reasoning = {"reasoning_tokens": counts.get("reasoning_tokens")}
    usage = Responses.read_usage({**counts, "input_tokens_details": details, "output_tokens_details": reasoning})
    calls = [
        StepCall(id=str(call.get("call_id") or ""), name=str(call.get("name") or ""), arguments=_arguments(call))
        for call in entries(step.get("tool_calls")) or entries(answer.get("tool_calls"))
    ]
    if calls or answer.get("content") or usage is not None:
        building.step(
            Source.AGENT, answer.get("content") or "", reasoning=step.get("reflection") or "", calls=calls,
            time=moment(step.get("timestamp")), usage=usage,
        )  # fmt: skip
    for result in entries(step.get("tool_results")):
        text = "\n".join(str(result[key]) for key in ("result", "error") if result.get(key))
        building.observe(result.get("call_id"), text, failed=result.get("success") is False)
    if step.get("error"):
        building.problem(f"A step ended with an error: {str(step['error'])[:200]}")
    return usage


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    values = call.get("arguments")
    return values if isinstance(values, dict) else {"value": values}
