"""Requests made of very many small values: none may hold up the loop that every attempt shares.

What is quadratic in them would take an hour here, and the suite's time limit ends it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from model_proxy.conftest import TURN, send
from repoassay.model_proxy.exchange import parse_bounded
from repoassay.model_proxy.request_rules import confine
from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.step_recorder import _conversation
from repoassay.model_proxy.translation import Upstreams, begin
from repoassay.model_proxy.translation.neutral import TextPart
from repoassay.model_proxy.vendors import VENDORS

_MANY = 60_000


def _chat() -> JsonObject:
    told = [{"role": "system", "content": "x" * 500}] * _MANY
    tools = [{"type": "function", "function": {"name": "f"}}] * _MANY + [{"type": "web_search"}] * _MANY
    return {"messages": told, "tools": tools, **{f"field{number}": 1 for number in range(_MANY)}}


def _messages() -> JsonObject:
    edits = [{"type": "clear_tool_uses", "number": number} for number in range(_MANY)]
    return {"messages": [], "context_management": {"edits": edits + [{"type": "compact"}] * _MANY}}


def _gemini() -> JsonObject:
    said = [{"text": "x"}] * _MANY + [{"functionCall": {"name": "f", "args": {}}}] * _MANY
    results = [{"functionResponse": {"name": "f", "response": {"output": "x"}}}] * _MANY
    return {"contents": [{"role": "model", "parts": said}, {"role": "user", "parts": results}]}


@pytest.mark.long
@pytest.mark.parametrize(("dialect", "make"), [("chat", _chat), ("messages", _messages), ("gemini", _gemini)])
def test_the_rules_and_the_translation_look_at_each_value_once(dialect: str, make: Callable[[], JsonObject]) -> None:
    body = make()
    exempt = confine(VENDORS[dialect].confine, json.loads(json.dumps(body)), ("function", "web_search"))
    assert not exempt.refused
    found = confine(VENDORS[dialect].confine, body)
    assert not found.refused and bool(found.left_out) == (dialect != "gemini")
    other = "responses" if dialect == "gemini" else "gemini"
    assert begin(dialect, body, {other}, "m", Upstreams(), stream=False).body


def test_a_message_of_many_fields_is_not_copied_for_each_of_its_parts() -> None:
    parts: list[dict[str, Any]] = [{"type": "text", "text": "x"}] * _MANY + [{"type": "image"}]
    message = {"role": "user", "content": parts, **{f"field{number}": 1 for number in range(_MANY)}}
    whole = {"role": "user", "content": "whole"}
    said = _conversation("messages", {"messages": [message, whole]}).turns[-1].parts[-1]
    assert isinstance(said, TextPart) and said.text == "whole"


@pytest.mark.parametrize("fill", [b"{},", b'"a",', b'{"a":0},', b"[[]],"])
def test_a_body_of_too_many_values_is_refused_and_a_long_text_is_not(build: Any, fill: bytes) -> None:
    rig = build(TURN)
    entry = rig.admit()
    url = entry.urls(rig.gateway.origin)["chat"] + "/chat/completions"
    for count in (120_000, 3_000_000):
        answer = send(url, b'{"messages":[' + fill * count + b"{}]}", timeout=60)
        assert answer.status == 413 and "too many values" in answer.json["error"]["message"]
    assert rig.ask(entry, text="[1,2]," * 150_000).status == 200
    assert entry.close().calls == 1
    with pytest.raises(OverflowError):
        parse_bounded(b"[" + b"0," * 100_000 + b"0]")
