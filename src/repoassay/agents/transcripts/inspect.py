"""Inspect AI: its evaluation log as JSON, or as the zip of JSON files that `.eval` is."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from repoassay.agents.transcripts.building import Building, moment, money
from repoassay.agents.transcripts.eval_file import EvalFile
from repoassay.agents.transcripts.files import entries, json_file, mapping, matching
from repoassay.errors import Unavailable
from repoassay.model_proxy import Messages
from repoassay.text import printable
from repoassay.types import Source, StepCall, Usage

__all__ = ["UNTIMED", "read"]

_LARGEST = 64 * 2**20
UNTIMED = "repoassay_untimed"
"""Mark of events that we wrote of calls of which nothing tells the time; Inspect's events have one."""


def read(folder: Path, building: Building) -> None:
    """See `read_transcript`."""
    logs = [path for path in matching(folder, "files/*.json") if path.name != "logs.json"]
    if logs:
        log = mapping(json_file(logs[-1], building))
        samples = entries(log.get("samples"))
    else:
        log, samples = _zipped(matching(folder, "files/*.eval"), building)
    if not log:
        building.problem("There is no readable evaluation log.")
    building.version = str(mapping(log, "eval", "packages").get("inspect_ai") or "")
    building.session = str(mapping(log, "eval").get("run_id") or "")
    building.ending = str(log.get("status") or "")
    for sample in samples:
        _sample(sample, building)
    usages = _dictionaries(mapping(log, "stats", "model_usage"))
    usages = usages or [usage for sample in samples for usage in _dictionaries(mapping(sample, "model_usage"))]
    building.usage = sum(map(_usage, usages), Usage()) if usages else None
    costs = [cost for usage in usages if (cost := money(usage.get("total_cost"))) is not None]
    if usages and len(costs) == len(usages):
        building.dollars = sum(costs, Decimal(0))
    else:
        building.note = "it tells no dollars"


def _dictionaries(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [value for value in found.values() if isinstance(value, dict)]


def _zipped(paths: list[Path], building: Building) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    if not paths:
        return {}, []
    samples: list[dict[str, Any]] = []
    log: dict[str, Any] = {}
    try:
        with EvalFile(paths[-1], _LARGEST) as file:
            log = file.header
            samples.extend(sample for _, sample in file.samples())
    except (zipfile.BadZipFile, Unavailable) as error:
        building.problem(f"{paths[-1].name} is not a whole .eval file: {printable(str(error), 200)}")
    return log, samples


def _sample(sample: dict[str, Any], building: Building) -> None:
    outputs: dict[str, tuple[Usage | None, Decimal | None, datetime | None]] = {}
    calls = 0
    for event in entries(sample.get("events")):
        if event.get("event") == "model":
            calls += 1
            output = mapping(event, "output")
            for choice in entries(output.get("choices")):
                usage = mapping(output, "usage")
                untimed = mapping(event, "metadata").get(UNTIMED) is True
                outputs[str(mapping(choice, "message").get("id"))] = (
                    _usage(usage) if usage else None,
                    money(usage.get("total_cost")),
                    None if untimed else moment(event.get("timestamp")),
                )
    building.calls = (building.calls or 0) + calls if calls else building.calls
    for message in entries(sample.get("messages")):
        role = message.get("role")
        if role == "tool":
            error = mapping(message, "error")
            text, _ = _content(message.get("content"))
            building.observe(message.get("tool_call_id"), text or error.get("message"), failed=bool(error))
        elif role in {"system", "user"}:
            building.step(Source(role), _content(message.get("content"))[0])
        elif role == "assistant":
            text, reasoning = _content(message.get("content"))
            used = [
                StepCall(id=str(call.get("id") or ""), name=str(call.get("function") or ""),
                         arguments=mapping(call, "arguments"))
                for call in entries(message.get("tool_calls"))
            ]  # fmt: skip
            hosted = [part for part in entries(message.get("content")) if part.get("type") == "tool_use"]
            used += map(_hosted, hosted)
            known, dollars, time = outputs.get(str(message.get("id")), (None, None, None))
            step = building.step(
                Source.AGENT, text, reasoning=reasoning, calls=used, usage=known, dollars=dollars, time=time
            )
            for part in hosted:
                answer = part.get("error") or part.get("result")
                building.observe_at(step, part.get("id"), answer, failed=bool(part.get("error")))


def _hosted(part: dict[str, Any]) -> StepCall:
    """A call of a tool that the model's vendor runs, a search of the web mostly, which stands among what was said."""
    text = part.get("arguments")
    try:
        arguments = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        arguments = {"text": text}
    named = arguments if isinstance(arguments, dict) else {"value": arguments}
    return StepCall(
        id=str(part.get("id") or ""), name=str(part.get("name") or part.get("tool_type") or ""), arguments=named
    )


def _content(content: object) -> tuple[str, str]:
    if isinstance(content, str):
        return content, ""
    parts = entries(content)
    text = "\n".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")
    thought = "\n".join(str(part.get("reasoning") or "") for part in parts if part.get("type") == "reasoning")
    return text, thought


def _usage(counts: dict[str, Any]) -> Usage:
    """Its `input_tokens` leaves out what came from or went into a cache, for every vendor."""
    named = {
        "input_tokens": counts.get("input_tokens"),
        "output_tokens": counts.get("output_tokens"),
        "cache_read_input_tokens": counts.get("input_tokens_cache_read"),
        "cache_creation_input_tokens": counts.get("input_tokens_cache_write"),
    }
    usage = Messages.read_usage(named) or Usage()
    reasoning = counts.get("reasoning_tokens")
    known = reasoning if isinstance(reasoning, int) and not isinstance(reasoning, bool) and reasoning >= 0 else 0
    return usage.model_copy(update={"reasoning": known})
