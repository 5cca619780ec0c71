"""What each dialect can say beside text and calls, as an upstream of chat completions hears and answers it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given, settings, strategies as st

from model_proxy.biller import Biller
from model_proxy.conftest import REAL_KEY, address, key_header, send
from model_proxy.test_translation import DIALECTS, through
from repoassay.model_proxy import Budget, Upstream
from repoassay.model_proxy.request_rules.parts import Outside
from repoassay.model_proxy.translation import FORMATS, UNREADABLE, Untranslatable, Upstreams, begin
from repoassay.records.calls import read_calls

PNG = "iVBORw0KGgo="
PLAIN = {"text": "Fine.", "usage": {"input": 10, "output": 3}}
SHELL = {"type": "object", "properties": {"cmd": {"type": "string"}}}
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}


def in_chat(dialect: str, body: dict[str, Any], **how: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A request as an upstream of chat completions is asked it, and what it is not told."""
    translator = begin(dialect, body, {"chat"}, "m", Upstreams(**how), stream=False)
    return translator.body, translator.dropped


MESSAGES: dict[str, Any] = {
    "max_tokens": 700, "temperature": 0.5, "top_p": 0.9, "top_k": 5, "stop_sequences": ["END"],
    "system": [{"type": "text", "text": "One."},
               {"type": "text", "text": "Two.", "cache_control": {"type": "ephemeral"}}],
    "thinking": {"type": "enabled", "budget_tokens": 2000},
    "tools": [{"name": "sh", "description": "Runs", "input_schema": SHELL}],
    "tool_choice": {"type": "tool", "name": "sh", "disable_parallel_tool_use": True},
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image", "source": {
            "type": "base64", "media_type": "image/png", "data": PNG}}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "I do."},
            {"type": "tool_use", "id": "a", "name": "sh", "input": {"cmd": "ls"}},
            {"type": "tool_use", "id": "b", "name": "sh", "input": {}}]},
        {"role": "user", "content": [
            {"type": "text", "text": "And?"},
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "two"}, {
                "type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}]},
            {"type": "tool_result", "tool_use_id": "a", "content": "one", "is_error": True}]},
    ],
}  # fmt: skip
RESPONSES: dict[str, Any] = {
    "instructions": "One.", "max_output_tokens": 700, "temperature": 0.5, "top_p": 0.9, "parallel_tool_calls": False,
    "reasoning": {"effort": "low", "summary": "auto"}, "include": ["reasoning.encrypted_content"], "store": False,
    "truncation": "auto", "prompt_cache_key": "k",
    "tools": [{"type": "function", "name": "sh", "description": "Runs", "parameters": SHELL, "strict": False}],
    "tool_choice": {"type": "function", "name": "sh"},
    "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Two."}]},
        {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "Look."},
            {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}]},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I do."}]},
        {"type": "function_call", "call_id": "a", "name": "sh", "arguments": '{"cmd": "ls"}'},
        {"type": "function_call", "call_id": "b", "name": "sh", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "b", "output": [
            {"type": "input_text", "text": "two"},
            {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}]},
        {"type": "function_call_output", "call_id": "a", "output": "one"},
        {"type": "message", "role": "user", "content": "And?"},
    ],
}  # fmt: skip
GEMINI: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "One."}, {"text": "Two."}]},
    "generationConfig": {"maxOutputTokens": 700, "temperature": 0.5, "topP": 0.9, "stopSequences": ["END"], "topK": 5,
                         "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 100}},
    "tools": [{"functionDeclarations": [{"name": "sh", "description": "Runs", "parameters": {
        "type": "OBJECT", "properties": {"cmd": {"type": "STRING"}}}}]}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["sh"]}},
    "contents": [
        {"role": "user", "parts": [{"text": "Look."}, {"inlineData": {"mimeType": "image/png", "data": PNG}}]},
        {"role": "model", "parts": [
            {"text": "hm", "thought": True}, {"text": "I "}, {"text": "do."},
            {"functionCall": {"name": "sh", "args": {"cmd": "ls"}}}, {"functionCall": {"name": "sh", "args": {}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "sh", "response": {"output": "one"}}},
            {"functionResponse": {"name": "sh", "response": {"output": "two"}, "parts": [
                {"inlineData": {"mimeType": "image/png", "data": PNG}}]}},
            {"text": "And?"}]},
    ],
}  # fmt: skip
ASKED = {"messages": MESSAGES, "responses": RESPONSES, "gemini": GEMINI}


@pytest.mark.parametrize("dialect", ASKED)
def test_a_whole_conversation_is_the_same_in_chat(dialect: str) -> None:
    body, dropped = in_chat(dialect, json.loads(json.dumps(ASKED[dialect])))
    first, question, answer, *results, last = body["messages"]
    assert first["role"] == "system" and first["content"].split() == ["One.", "Two."]
    assert question == {"role": "user", "content": [{"type": "text", "text": "Look."}, IMAGE]}
    assert answer["content"] == "I do."
    calls = [(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
             for call in answer["tool_calls"]]  # fmt: skip
    assert [call[1:] for call in calls] == [("sh", {"cmd": "ls"}), ("sh", {})]
    said = {one["tool_call_id"]: one["content"] for one in results}
    assert said == {calls[0][0]: "one", calls[1][0]: "two"} and all(one["role"] == "tool" for one in results)
    assert last["role"] == "user" and IMAGE in last["content"] and {"type": "text", "text": "And?"} in last["content"]
    assert body["tools"] == [
        {"type": "function", "function": {"name": "sh", "description": "Runs", "parameters": SHELL}}
    ]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "sh"}}
    assert (body["max_tokens"], body["temperature"], body["top_p"]) == (700, 0.5, 0.9)
    assert body.get("stop", ["END"]) == ["END"]
    assert {"reasoning", "earlier thinking"} <= set(dropped)
    assert set(dropped) - {"reasoning", "earlier thinking"} <= {"top_k", "topK", "truncation"}
    with_reasoning, dropped = in_chat(dialect, json.loads(json.dumps(ASKED[dialect])), reasoning=True)
    assert with_reasoning["reasoning_effort"] and with_reasoning["messages"][2]["reasoning_content"] == "hm"
    assert not {"reasoning", "earlier thinking"} & set(dropped)


@pytest.mark.parametrize("dialect", ["chat", *ASKED])
@pytest.mark.parametrize("there", ["chat", *ASKED])
def test_what_one_format_writes_it_reads_again(dialect: str, there: str) -> None:
    source = ASKED.get(dialect) or in_chat("messages", json.loads(json.dumps(MESSAGES)))[0]
    before = FORMATS[dialect].parse(json.loads(json.dumps(source)))
    after = FORMATS[there].parse(FORMATS[there].compose(before, Upstreams()))
    assert after.system == before.system and after.tools == before.tools and after.limit == before.limit
    assert [turn.role for turn in after.turns] == [turn.role for turn in before.turns]
    assert [turn.text for turn in after.turns] == [turn.text for turn in before.turns]
    assert after.history_calls == before.history_calls


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("messages", {"messages": [{"role": "user", "content": [{"type": "document", "source": {
            "type": "base64", "media_type": "application/pdf", "data": "x"}}]}]}),
        ("messages", {"tools": [{"type": "computer_20250124", "name": "computer"}]}),
        ("messages", {"messages": 7}),
        ("messages", {"messages": ["x"]}),
        ("responses", {"input": [{"type": "compaction", "encrypted_content": "x"}]}),
        ("responses", {"input": [{"type": "message", "role": "user", "content": [
            {"type": "input_image", "image_url": "data:image/png,raw"}]}]}),
        ("gemini", {"contents": [{"parts": [{"inlineData": {"mimeType": "audio/wav", "data": "x"}}]}]}),
        ("gemini", {"generationConfig": {"candidateCount": 2}}),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_refused_in_one_sentence(build: Any, dialect: str, body: dict[str, Any]) -> None:
    with pytest.raises(Untranslatable):
        in_chat(dialect, json.loads(json.dumps(body)))
    rig = through(build, [PLAIN], "chat")
    entry = rig.admit(model="only/m")
    url = address(entry.urls(rig.gateway.origin), dialect, stream=False)
    answer = send(url, {"model": "m", "max_tokens": 9, **body}, key_header(dialect, entry.key))
    assert answer.status == 400 and answer.json["error"]["message"].count(". ") <= 1
    assert not rig.upstream.bodies and entry.close().calls == 0


def test_custom_tools_groups_and_the_local_shell_come_back_as_what_they_were(build: Any) -> None:
    tools = [
        {"type": "custom", "name": "apply_patch", "description": "Patches",
         "format": {"type": "grammar", "definition": "G"}},
        {"type": "local_shell"},
        {"type": "namespace", "name": "mcp__x", "tools": [{"type": "function", "name": "find", "parameters": SHELL}]},
        {"type": "tool_search", "execution": "client"},
    ]  # fmt: skip
    calls = [
        {"name": "apply_patch", "arguments": {"input": "*** Begin"}},
        {"name": "local_shell", "arguments": {"command": ["ls"]}},
        {"name": "mcp__x__find", "arguments": {"cmd": "y"}},
    ]
    rig = through(build, [{**PLAIN, "calls": calls}], "chat")
    entry = rig.admit(model="only/m")

    def ask(stream: bool, given: Any = "go") -> Any:
        url = address(entry.urls(rig.gateway.origin), "responses", stream=stream)
        return send(url, {"input": given, "tools": tools, "stream": stream}, key_header("responses", entry.key))

    for stream in (False, True):
        answer = ask(stream)
        output = answer.events[-1]["response"]["output"] if stream else answer.json["output"]
        message, patch, shell, found = output
        assert message["content"][0]["text"] == "Fine."
        assert (patch["type"], patch["name"], patch["input"]) == ("custom_tool_call", "apply_patch", "*** Begin")
        assert shell["type"] == "local_shell_call" and shell["action"]["command"] == ["ls"]
        assert (found["name"], found["namespace"], json.loads(found["arguments"])) == ("find", "mcp__x", {"cmd": "y"})
    offered = {tool["function"]["name"]: tool["function"] for tool in rig.upstream.bodies[0]["tools"]}
    assert (
        set(offered) == {"apply_patch", "local_shell", "mcp__x__find"} and "G" in offered["apply_patch"]["description"]
    )
    again = [{**patch, "id": "c"}, {"type": "custom_tool_call_output", "call_id": patch["call_id"], "output": "done"},
             {**found}, {"type": "function_call_output", "call_id": found["call_id"], "output": "{}"}]  # fmt: skip
    ask(False, again)
    said = rig.upstream.bodies[-1]["messages"]
    assert json.loads(said[0]["tool_calls"][0]["function"]["arguments"]) == {"input": "*** Begin"}
    assert [one["role"] for one in said] == ["assistant", "tool", "assistant", "tool"]
    entry.close()
    assert read_calls(entry.journal.path).calls[0].dropped == ("tool tool_search",)


def test_tokens_are_counted_by_estimate_where_the_upstream_cannot(build: Any) -> None:
    rig = through(build, [PLAIN], "chat")
    entry = rig.admit(model="only/m")
    url = entry.urls(rig.gateway.origin)["messages"] + "/v1/messages/count_tokens"
    body = {"model": "m", "messages": [{"role": "user", "content": "word " * 400}]}
    answer = send(url, body, key_header("messages", entry.key))
    assert answer.status == 200 and 400 <= answer.json["input_tokens"] <= 800
    assert not rig.upstream.bodies and entry.close().calls == 0


def test_a_budget_bounds_a_call_in_the_upstreams_dialect(build: Any) -> None:
    rig = through(build, [PLAIN], "chat")
    entry = rig.admit(model="only/m", budget=Budget(tokens=2_000))
    assert rig.ask(entry, "gemini").status == 200
    assert 1_000 < rig.upstream.bodies[0]["max_tokens"] < 2_000
    entry.close()


class Raw:
    """An upstream of chat completions that sends prepared bytes, and more once it is told to."""

    def __init__(self, *parts: bytes) -> None:
        self.go = threading.Event()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}/v1"
        self._parts = parts
        self._thread = threading.Thread(target=self._speak)
        self._thread.start()

    def _speak(self) -> None:
        peer, _ = self._server.accept()
        with peer, self._server:
            peer.recv(1 << 20)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            for number, part in enumerate(self._parts):
                if number:
                    self.go.wait(20)
                peer.sendall(part)

    def join(self) -> None:
        self.go.set()
        self._thread.join()


def event(delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return b"data: " + json.dumps({"model": "m", "choices": [choice]}).encode() + b"\n\n"


DONE = b'data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}\n\ndata: [DONE]\n\n'


def streamed(build: Any, raw: Raw, dialect: str, **more: Any) -> tuple[Any, Any]:
    rig = build(PLAIN, upstreams=[Upstream(name="raw", base_url=raw.url)])
    entry = rig.admit(model="raw/m")
    answer = rig.ask(entry, dialect, stream=True, **more)
    raw.join()
    return answer, entry


@pytest.mark.parametrize("dialect", ASKED)
def test_the_first_words_go_out_as_they_come(build: Any, dialect: str) -> None:
    raw = Raw(event({"role": "assistant", "content": "first"}), event({"content": " last"}, "stop") + DONE)
    rig = build(PLAIN, upstreams=[Upstream(name="raw", base_url=raw.url)])
    entry = rig.admit(model="raw/m")
    url = address(entry.urls(rig.gateway.origin), dialect, stream=True)
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=10)
    body = {"stream": True, "max_tokens": 9, "messages": [], "input": "x", "contents": []}
    mine = {"messages": ("stream", "max_tokens", "messages"), "responses": ("stream", "input"), "gemini": ("contents",)}
    connection.request("POST", f"/{path}", json.dumps({name: body[name] for name in mine[dialect]}))
    response = connection.getresponse()
    seen = b""
    while b"first" not in seen:  # while the upstream still holds the rest back
        seen += response.read1(1000)
    assert b"last" not in seen
    raw.go.set()
    assert b"last" in response.read()
    connection.close()
    raw.join()
    assert entry.close().usage.total == 7


@pytest.mark.parametrize("dialect", ASKED)
def test_an_error_in_the_middle_is_one_of_the_agents_dialect(build: Any, dialect: str) -> None:
    broken = b'data: {"error": {"code": 502, "message": "the provider is gone"}, "choices": []}\n\n'
    raw = Raw(event({"content": "so far"}), broken)
    raw.go.set()
    answer, entry = streamed(build, raw, dialect)
    last = answer.events[-1]
    words = {"messages": "error", "responses": "response.failed"}
    assert "the provider is gone" in json.dumps(last) and last.get("type") == words.get(dialect)
    assert entry.close().outage == "stream_error"


@pytest.mark.parametrize("dialect", ASKED)
@pytest.mark.parametrize("bad", [b"data: {broken\n\n", b'data: {"choices": 7}\n\n', b'data: {"choices": [{"delta": '
                                 b'{"tool_calls": [{"function": {"arguments": "x"}}]}}]}\n\n'])  # fmt: skip
def test_what_is_not_of_the_dialect_ends_the_stream_as_malformed(build: Any, dialect: str, bad: bytes) -> None:
    raw = Raw(event({"content": "so far"}), bad + DONE)
    raw.go.set()
    answer, entry = streamed(build, raw, dialect)
    assert answer.status == 200 and answer.broken
    assert entry.close().faults == {"malformed": 1}


def test_ends_thinking_and_odd_servers(build: Any) -> None:
    parts = [
        event({"reasoning": "hm"}),
        # A server that calls whole, without an index, and ends with "stop" all the same.
        event({"tool_calls": [{"id": "x:0", "function": {"name": "a", "arguments": '{"p": 1}'}}]}),
        event({"tool_calls": [{"id": "x:1", "function": {"name": "b", "arguments": {"q": 2}}}]}, "stop"),
    ]
    raw = Raw(b"".join(parts) + DONE)
    thinking = {"thinking": {"type": "adaptive"}}
    answer, entry = streamed(build, raw, "messages", **thinking)
    starts = [one["content_block"] for one in answer.events if one["type"] == "content_block_start"]
    assert [block["type"] for block in starts] == ["thinking", "tool_use", "tool_use"]
    given = [one["delta"]["partial_json"] for one in answer.events if "partial_json" in one.get("delta", {})]
    assert [json.loads(text) for text in given] == [{"p": 1}, {"q": 2}]
    assert next(one for one in answer.events if one["type"] == "message_delta")["delta"]["stop_reason"] == "tool_use"
    assert entry.close().usage.total == 7


@pytest.mark.parametrize(
    ("dialect", "found"),
    [("messages", '"stop_reason":"max_tokens"'), ("responses", '"reason":"max_output_tokens"'),
     ("gemini", '"finishReason":"MAX_TOKENS"')],
)  # fmt: skip
def test_an_answer_cut_by_its_limit_says_so(build: Any, dialect: str, found: str) -> None:
    answer, _ = streamed(build, Raw(event({"content": "so"}, "length") + DONE), dialect)
    assert found in answer.body.decode()


def test_keys_and_headers_of_the_agent_stay_on_this_side(build: Any) -> None:
    rig = through(build, [PLAIN], "chat")
    entry = rig.admit(model="only/m")
    rig.ask(entry, "messages")
    seen = rig.upstream.seen[0]
    assert seen["key"] == REAL_KEY and "x-api-key" not in seen
    entry.close()


def test_a_limit_that_the_upstreams_model_does_not_take_is_lowered(build: Any) -> None:
    with Biller(most=9_000) as biller:
        rig = build(PLAIN, upstreams=[Upstream(name="local", base_url=f"{biller.origin}/v1")])
        entry = rig.admit(model="local/m")
        answer = rig.ask(entry, "messages", stream=True, max_tokens=32_000)
        assert answer.status == 200 and [body["max_tokens"] for body in biller.bodies] == [8_192]
        entry.close()


WORDS = ["type", "role", "content", "text", "messages", "input", "contents", "parts", "tools", "name", "id", "call_id",
         "user", "assistant", "function", "tool_use", "function_call", "tool_result", "custom", "namespace", "model",
         "functionCall", "functionResponse", "message", "choices", "delta", "output", "system", "output_text",
         "content_block_start", "response.output_item.added", "item", "generationConfig", "tool_calls"]  # fmt: skip
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=25,
)
OBJECT = st.dictionaries(st.sampled_from(WORDS), ANY_JSON, max_size=6)


@settings(max_examples=150, deadline=None)
@given(body=OBJECT, dialect=st.sampled_from(DIALECTS), spoken=st.sampled_from(DIALECTS))
def test_whatever_strangers_send_is_read_or_refused(body: dict[str, Any], dialect: str, spoken: str) -> None:
    with suppress(Outside, *UNREADABLE):
        begin(dialect, json.loads(json.dumps(body)), {spoken}, "m", Upstreams(), stream=False)
    translator = begin(dialect, {}, {spoken}, "m", Upstreams(), stream=True)
    with suppress(*UNREADABLE):
        translator.answer(body, None)
    with suppress(*UNREADABLE):
        translator.event(body)
    assert isinstance(translator.end(None), bytes)


@pytest.mark.parametrize("spoken", ["chat", "own"])
@pytest.mark.parametrize("dialect", ASKED)
def test_a_request_nested_without_end_is_the_agents_fault(build: Any, dialect: str, spoken: str) -> None:
    rig = through(build, [PLAIN], dialect if spoken == "own" else spoken)
    entry = rig.admit(model="only/m")
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    tools = {
        "messages": b'[{"name": "x", "input_schema": %s}]', "responses": b'[{"type": "function", "parameters": %s}]',
        "gemini": b'[{"functionDeclarations": [{"name": "x", "parameters": %s}]}]',
    }  # fmt: skip
    raw = b'{"messages": [], "input": [], "contents": [], "tools": %s}' % (tools[dialect] % deep)
    url = address(entry.urls(rig.gateway.origin), dialect, stream=False)
    answer = send(url, raw, key_header(dialect, entry.key))
    totals = entry.close()
    assert answer.status in {200, 400} and not totals.faults.get("gateway") and not totals.outage


UNSAID = {
    "half a surrogate pair": (r'{"command": "echo \ud83d"}', "echo ?"),
    "nested without end": ('{"command": "ls", "deep": ' + "[" * 900 + "]" * 900 + "}", None),
    "a number of many digits": ('{"command": "ls", "count": %s}' % ("9" * 40), "ls"),
}


@pytest.mark.parametrize("name", UNSAID)
@pytest.mark.parametrize("dialect", ["messages", "gemini"])
def test_what_a_model_writes_as_arguments_is_no_fault_of_its_server(dialect: str, name: str) -> None:
    """An agent could have its model write them, and be excused."""
    text, command = UNSAID[name]
    function = {"name": "bash", "arguments": text}
    called = {"index": 0, "id": "c", "type": "function", "function": function}
    translator = begin(dialect, {}, {"chat"}, "m", Upstreams(), stream=False)
    whole = translator.answer({"choices": [{"message": {"tool_calls": [called]}}]}, None)
    if dialect == "messages":
        (block,) = whole["content"]
        arguments = block["input"]
    else:
        arguments = whole["candidates"][0]["content"]["parts"][0]["functionCall"]["args"]
    assert orjson.dumps(whole) and arguments.get("command") == command
    translator = begin(dialect, {}, {"chat"}, "m", Upstreams(), stream=True)
    assert b"bash" in translator.event({"choices": [{"delta": {"tool_calls": [called]}}]}) + translator.end(None)
