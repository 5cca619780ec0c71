"""Streams of chat completions as vLLM, Ollama, llama.cpp and OpenRouter send them, to agents of the other dialects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from model_proxy.test_translation_details import ASKED, Raw, streamed
from repoassay.model_proxy.vendors import VENDORS
from repoassay.records.calls import read_calls

ARGUMENTS = '{"command": "ls"}'
USAGE = {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930}


def delta(fields: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": reason, "logprobs": None}], **more}


def called(text: str = "", index: int | None = 0, **call: Any) -> dict[str, Any]:
    place = {} if index is None else {"index": index}
    name = {"name": "bash"} if call else {}
    return {"tool_calls": [{**place, **call, "function": {**name, "arguments": text}}]}


FLAVOURS: dict[str, list[Any]] = {
    "vllm": [
        delta({"role": "assistant", "content": "", "reasoning_content": None}),
        delta({"reasoning_content": "hm"}),
        delta({"content": "I look."}),
        delta(called(id="chatcmpl-tool-1", type="function")),
        *[delta(called(piece)) for piece in (ARGUMENTS[:5], ARGUMENTS[5:])],
        delta({"content": ""}, "tool_calls", stop_reason=None),
        {"choices": [], "usage": USAGE},
    ],
    "ollama": [
        delta({"role": "assistant", "content": "", "reasoning": "hm"}),
        delta({"role": "assistant", "content": "I look."}),
        delta({"role": "assistant", "content": "", **called(ARGUMENTS, id="call_7", type="function")}),
        delta({"role": "assistant", "content": ""}, "stop"),
        {"choices": [], "usage": USAGE},
    ],
    "llama.cpp": [
        delta({"role": "assistant", "content": None}),
        delta({"reasoning_content": "hm"}),
        delta({"content": "I look."}),
        delta(called("{", id="xK2", type="function")),
        *[delta(called(letter)) for letter in ARGUMENTS[1:]],
        delta({}, "tool_calls"),
        {"choices": [], "usage": USAGE, "timings": {"prompt_n": 900, "predicted_ms": 12.5}},
    ],
    "openrouter": [
        b": OPENROUTER PROCESSING\n\n",
        delta({"role": "assistant", "content": "", "reasoning": "hm", "reasoning_details": []}, provider="P"),
        delta({"role": "assistant", "content": "I look."}, provider="P"),
        delta({"content": None, **called("", id="call_9", type="function")}),
        delta({"content": None, **called(ARGUMENTS)}),
        delta({"role": "assistant", "content": ""}, "tool_calls", native_finish_reason="tool_use"),
        delta({"role": "assistant", "content": ""}, None, usage={**USAGE, "cost": 0.002, "is_byok": False}),
    ],
}


@pytest.mark.parametrize("dialect", ASKED)
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_flavours_of_chat(build: Any, dialect: str, flavour: str) -> None:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "served/as-told"}
    said = b"".join(
        one if isinstance(one, bytes) else b"data: " + json.dumps({**head, **one}).encode() + b"\n\n"
        for one in FLAVOURS[flavour]
    )
    raw = Raw(said + b"data: [DONE]\n\n")
    answer, entry = streamed(build, raw, dialect)
    vendor = VENDORS[dialect]
    text, calls = vendor.read_response(vendor.join_events(answer.events))
    assert (text, calls) == ("I look.", [("bash", {"command": "ls"})]) and not answer.broken
    ends = {"messages": '"stop_reason":"tool_use"', "responses": '"status":"completed"', "gemini": '"STOP"'}
    assert ends[dialect] in answer.body.decode()
    totals = entry.close()
    (call,) = read_calls(entry.journal.path).calls
    assert (totals.usage.input, totals.usage.output, call.answered_by) == (900, 30, "served/as-told")
    assert (call.upstream_cost is not None) == (flavour == "openrouter")
