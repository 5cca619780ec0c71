"""Requests made of very many small values, or very large: none may hold up what every attempt shares.

What is quadratic in them would take an hour here, and the suite's time limit ends it.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from model_proxy.conftest import TURN, send
from repoassay.model_proxy import Upstream
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


class _Patient(BaseHTTPRequestHandler):
    """An upstream that answers once nothing more comes, and knows how much it held."""

    held = most = 0
    lock = threading.Condition()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        with self.lock:
            _Patient.held += 1
            _Patient.most = max(self.most, self.held)
            self.lock.notify_all()
            self.lock.wait_for(lambda: self.held > 2, 1.0)
        answer = b'{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        with self.lock:
            _Patient.held -= 1
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Sending a large body")
def test_few_large_bodies_of_an_attempt_are_held_at_a_time(build: Any) -> None:
    """Without it 32 requests of 300 KB, compressed, held 15 GB of the harness's memory."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Patient) as upstream:
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{upstream.server_address[1]}/v1"
        rig = build(TURN, upstreams=[Upstream(name="patient", base_url=place, dialects=("chat",), key_env="RIG_KEY")])
        entry = rig.admit(model="patient/m")
        url = entry.urls(rig.gateway.origin)["chat"] + "/chat/completions"
        body = gzip.compress(b'{"messages":[{"role":"user","content":"' + b"x" * (9 << 20) + b'"}]}', 1)
        with ThreadPoolExecutor(6) as pool:
            asked = [pool.submit(send, url, body, {"Content-Encoding": "gzip"}, timeout=60) for _ in range(6)]
            assert [one.result().status for one in asked] == [200] * 6
        upstream.shutdown()
    assert _Patient.most == 2 and entry.close().calls == 6
