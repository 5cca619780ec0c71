"""OpenHands: a folder a conversation, with a file an event and the state it ended in; or a row of its output.

A row of the output of its benchmarks has the events of one task in `history`: the SDK's, or those before it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment, money
from repoassay.agents.transcripts.files import entries, json_file, mapping, matching
from repoassay.agents.transcripts.mini_swe_agent import chat_text
from repoassay.agents.transcripts.openhands_history import HistoryEvents
from repoassay.model_proxy import Chat
from repoassay.types import Source, StepCall, Usage

__all__ = ["read"]


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    responses: dict[str, Usage] = {}
    for path in matching(folder, "conversations/*/base_state.json"):
        state = mapping(json_file(path, building))
        building.session = building.session or str(state.get("id") or "")
        building.ending = building.ending or str(state.get("execution_status") or "")
        _figures(mapping(state, "stats", "usage_to_metrics"), responses, building)
    seen: dict[str, int] = {}
    for path in matching(folder, "conversations/*/events/event-*.json"):
        _event(mapping(json_file(path, building)), responses, seen, building)
    for path in matching(folder, "files/*.json")[:1]:
        _row(mapping(json_file(path, building)), building)
    if building.dollars is None:
        building.note = "it knows no price of this model"


def _row(row: dict[str, Any], building: Building) -> None:
    """A row of the output; at first each of its events was a pair of what was done and what came of it."""
    about, metrics = mapping(row, "metadata"), mapping(row, "metrics")
    building.model = str(mapping(about, "llm_config").get("model") or mapping(about, "llm").get("model") or "")
    building.ending = str(row.get("error") or "")
    responses: dict[str, Usage] = {}
    _figures({"row": metrics}, responses, building)
    costs = found if isinstance(found := metrics.get("costs"), list) else []
    history, seen = HistoryEvents(building), dict[str, int]()
    listed = row.get("history")
    for entry in listed if isinstance(listed, list) else ():
        for event in entries(entry if isinstance(entry, list) else [entry]):
            if "kind" in event:
                _event(event, responses, seen, building)
            else:
                history.take(event)
    if building.usage is None:
        building.usage, building.calls = history.usage, history.calls or len(costs) or None


def _figures(metrics: dict[str, Any], responses: dict[str, Usage], building: Building) -> None:
    """Add up its parts (the agent, the condenser ...); its totals are cumulative, so the last state has them all."""
    for part in metrics:
        figures = mapping(metrics, part)
        for entry in entries(figures.get("token_usages")):
            if (one := _usage(entry)) is not None:
                responses[str(entry.get("response_id"))] = one
        usage = _usage(mapping(figures, "accumulated_token_usage"))
        if usage is not None:
            building.usage = usage if building.usage is None else building.usage + usage
            building.calls = (building.calls or 0) + len(entries(figures.get("token_usages")))
        if dollars := money(figures.get("accumulated_cost")):
            building.dollars = dollars + (building.dollars or 0)


def _event(event: dict[str, Any], responses: dict[str, Usage], seen: dict[str, int], building: Building) -> None:
    kind, time = event.get("kind"), moment(event.get("timestamp"))
    if kind == "SystemPromptEvent":
        building.step(Source.SYSTEM, mapping(event, "system_prompt").get("text"), time=time)
    elif kind == "MessageEvent":
        message = mapping(event, "llm_message")
        source = Source.AGENT if event.get("source") == "agent" else Source.USER
        usage = responses.get(str(event.get("llm_response_id"))) if source is Source.AGENT else None
        building.step(source, chat_text(message.get("content")), time=time, usage=usage,
                      reasoning=message.get("reasoning_content") or "")  # fmt: skip
    elif kind == "ActionEvent":
        _action(event, responses, seen, building)
    elif kind in {"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"}:
        observation = mapping(event, "observation")
        text = chat_text(observation.get("content")) or observation.get("output") or event.get("error") or ""
        code = observation.get("exit_code") or mapping(observation, "metadata").get("exit_code")
        failed = bool(observation.get("is_error") or event.get("error") or (isinstance(code, int) and code > 0))
        building.observe(event.get("tool_call_id"), text, failed=failed, time=time)


def _action(event: dict[str, Any], responses: dict[str, Usage], seen: dict[str, int], building: Building) -> None:
    """One call; calls of one response are separate events, and make one step."""
    call = mapping(event, "tool_call")
    call_arguments = call.get("arguments")
    try:
        arguments = json.loads(call_arguments) if isinstance(call_arguments, str) else {}
    except (ValueError, RecursionError):
        arguments = {"text": call_arguments}
    name = str(event.get("tool_name") or call.get("name") or "")
    calls = [StepCall(id=str(event.get("tool_call_id") or ""), name=name, arguments=mapping(arguments))]
    response = str(event.get("llm_response_id") or "")
    text, reasoning = chat_text(event.get("thought")), str(event.get("reasoning_content") or "")
    if seen.get(response, 0) > 0:
        building.extend(seen[response], text, reasoning, calls)
        return
    seen[response] = building.step(
        Source.AGENT, text, reasoning=reasoning, calls=calls, time=moment(event.get("timestamp")),
        usage=responses.get(response),
    )  # fmt: skip


def _usage(usage: dict[str, Any]) -> Usage | None:
    details = {"cached_tokens": usage.get("cache_read_tokens"), "cache_write_tokens": usage.get("cache_write_tokens")}
    reasoning = {"reasoning_tokens": usage.get("reasoning_tokens")}
    return Chat.read_usage({**usage, "prompt_tokens_details": details, "completion_tokens_details": reasoning})
