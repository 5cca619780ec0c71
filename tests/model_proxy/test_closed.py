"""What a vendor would do for an agent that may reach its model alone: refused or taken out; else told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model_proxy.biller import Biller
from model_proxy.conftest import address, key_header, request_body, send
from repoassay.model_proxy import CallLimits, Upstream
from repoassay.model_proxy.request_rules import confine, passed_on
from repoassay.model_proxy.server import Gateway
from repoassay.model_proxy.vendors import VENDORS
from repoassay.records.calls import read_calls

URL = "http://attacker.example/x.png"
PNG = "data:image/png;base64,iVBORw0KGgo="


def user(*parts: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": list(parts)}]


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("chat", {"web_search_options": {}, "messages": [], "plugins": [{"id": "web"}]}),
    ("chat", {"web_search_options": {"search_context_size": "low"}}),
    ("chat", {"models": ["a/expensive"]}),
    ("chat", {"tools": [{"type": "web_search_preview"}]}),
    ("chat", {"tools": {"type": "web_search"}}),
    ("chat", {"tool_choice": {"type": "web_search"}}),
    ("chat", {"n": "100"}),
    ("chat", {"n": 10**9}),
    ("chat", {"messages": user({"type": "image_url", "image_url": {"url": URL}})}),
    ("chat", {"messages": user({"type": "text", "text": "x", "image_url": URL})}),
    ("chat", {"messages": user({"type": "file", "file": {"file_id": "file-1"}})}),
    ("chat", {"messages": user({"type": "video_url", "video_url": {"url": URL}})}),
    ("responses", {"tools": [{"type": "web_search"}]}),
    ("responses", {"tools": [{"type": "mcp", "server_label": "x", "server_url": URL}]}),
    ("responses", {"tools": [{"type": "mcp", "server_label": "x", "connector_id": "connector_gmail"}]}),
    ("responses", {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]}),
    ("responses", {"tools": [{"type": "file_search", "vector_store_ids": ["v"]}]}),
    ("responses", {"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]}),
    ("responses", {"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "web_search"}]}]}),
    ("responses", {"background": True}),
    ("responses", {"previous_response_id": "resp_1"}),
    ("responses", {"conversation": "conv_1"}),
    ("responses", {"prompt": {"id": "pmpt_1"}}),
    ("responses", {"input": [{"type": "item_reference", "id": "rs_1"}]}),
    ("responses", {"input": user({"type": "input_image", "image_url": URL})}),
    ("responses", {"input": user({"type": "input_image", "file_id": "file-1", "image_url": PNG})}),
    ("responses", {"input": user({"type": "input_file", "file_url": URL})}),
    ("responses", {"input": [{"type": "function_call_output", "call_id": "c",
                              "output": [{"type": "input_image", "image_url": URL}]}]}),
    ("messages", {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
    ("messages", {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}),
    ("messages", {"tools": [{"type": "code_execution_20250825", "name": "code_execution"}]}),
    ("messages", {"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]}),
    ("messages", {"mcp_servers": [{"type": "url", "url": URL, "name": "x"}]}),
    ("messages", {"container": {"skills": []}}),
    ("messages", {"messages": user({"type": "image", "source": {"type": "url", "url": URL}})}),
    ("messages", {"messages": user({"type": "document", "source": {"type": "file", "file_id": "f"}})}),
    ("messages", {"messages": user({"type": "container_upload", "file_id": "f"})}),
    ("messages", {"messages": user({"type": "tool_result", "tool_use_id": "t", "content": [
        {"type": "image", "source": {"type": "url", "url": URL}}]})}),
    ("gemini", {"tools": [{"googleSearch": {}}]}),
    ("gemini", {"tools": [{"google_search": {}}]}),
    ("gemini", {"tools": [{"urlContext": {}}]}),
    ("gemini", {"tools": [{"code_execution": {}}]}),
    ("gemini", {"cached_content": "cachedContents/1"}),
    ("gemini", {"contents": [{"parts": [{"file_data": {"file_uri": URL}}]}]}),
    ("gemini", {"contents": {"parts": {"fileData": {"fileUri": URL}}}}),
    ("gemini", {"generationConfig": {"responseModalities": ["IMAGE"]}}),
    ("gemini", {"generationConfig": {"maxOutputTokens": 5, "max_output_tokens": 500_000}}),
    ("gemini", {"generationConfig": {}, "generation_config": {"maxOutputTokens": 500_000}}),
    ("gemini", {"generateContentRequest": {"tools": [{"googleSearch": {}}]}}),
]  # fmt: skip

TAKEN_OUT: list[tuple[str, dict[str, Any], str]] = [
    ("chat", {"service_tier": "priority"}, "service_tier"),
    ("chat", {"best_of": 9}, "best_of"),
    ("chat", {"extra_body": {"plugins": []}}, "extra_body"),
    ("chat", {"Tools": [{"type": "web_search"}]}, "Tools"),
    ("responses", {"service_tier": "flex"}, "service_tier"),
    ("messages", {"service_tier": "auto"}, "service_tier"),
    ("messages", {"speed": "fast"}, "speed"),
    ("messages", {"inference_geo": "us"}, "inference_geo"),
    ("messages", {"context_management": {"edits": [{"type": "compact_20260112"}]}},
     "context_management.compact_20260112"),
    ("messages", {"system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]},
     "cache_control.ttl"),
]  # fmt: skip

HOSTED = {
    "chat": {"type": "web_search_preview"},
    "responses": {"type": "web_search", "external_web_access": False},  # what Codex offers by itself
    "messages": {"type": "web_search_20250305", "name": "web_search"},
    "gemini": {"googleSearch": {}},
}

AS_AGENTS_ASK: list[tuple[str, dict[str, Any]]] = [
    ("messages", {  # Claude Code
        "max_tokens": 32_000, "stream": True, "metadata": {"user_id": "u"}, "temperature": 1,
        "thinking": {"type": "enabled", "budget_tokens": 31_999},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "system": [{"type": "text", "text": "You are", "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "Bash", "description": "Run", "input_schema": {"type": "object", "properties": {
            "url": {"type": "string", "default": URL}}}}, {"type": "bash_20250124", "name": "bash"}],
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "s"},
                                              {"type": "tool_use", "id": "t", "name": "Bash",
                                               "input": {"type": "image", "source": {"type": "url", "url": URL}}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [
                {"type": "text", "text": URL},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}]}]},
        ]}),
    ("responses", {  # Codex
        "instructions": "You are", "store": False, "stream": True, "include": ["reasoning.encrypted_content"],
        "prompt_cache_key": "k", "reasoning": {"effort": "high", "summary": "auto"}, "text": {"verbosity": "low"},
        "tool_choice": "auto", "parallel_tool_calls": False,
        "tools": [{"type": "function", "name": "exec_command", "strict": False, "parameters": {"type": "object"}},
                  {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}}, {"type": "local_shell"},
                  {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]}],
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"},
                                                                  {"type": "input_image", "image_url": PNG}]},
                  {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "e"},
                  {"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": "{}"},
                  {"type": "function_call_output", "call_id": "c", "output": "done"},
                  {"type": "custom_tool_call", "call_id": "d", "name": "apply_patch", "input": "x"},
                  {"type": "custom_tool_call_output", "call_id": "d", "output": "done"},
                  {"role": "user", "content": "again"}]}),
    ("chat", {  # LiteLLM, and so mini-swe-agent, Aider and OpenHands
        "temperature": 0.0, "stream": True, "stream_options": {"include_usage": True}, "max_completion_tokens": 900,
        "reasoning_effort": "high", "tool_choice": "auto", "n": 1,
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}],
        "messages": [{"role": "system", "content": [{"type": "text", "text": "x", "cache_control": {
            "type": "ephemeral"}}]}, {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PNG}}]},
            {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "done"}]}),
    ("gemini", {  # Gemini CLI
        "systemInstruction": {"role": "user", "parts": [{"text": "You are"}]},
        "generationConfig": {"temperature": 0, "topP": 1, "thinkingConfig": {"includeThoughts": True}},
        "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}],
        "contents": [{"role": "user", "parts": [{"text": "Hi"},
                                                {"inlineData": {"mimeType": "image/png", "data": "a"}}]},
                     {"role": "model", "parts": [{"functionCall": {"name": "run_shell_command", "args": {"url": URL}},
                                                  "thoughtSignature": "s"}]},
                     {"role": "user", "parts": [{"functionResponse": {"name": "run_shell_command", "response": {
                         "output": URL}}}]}]}),
]  # fmt: skip


def provider(dialect: str) -> str:
    return "up" if dialect in {"chat", "responses"} else "plain"


def ask(rig: Any, entry: Any, dialect: str, more: dict[str, Any]) -> Any:
    url = address(entry.urls(rig.gateway.origin), dialect, stream=False)
    return send(url, {**request_body(dialect), **more}, key_header(dialect, entry.key))


@pytest.mark.parametrize(("dialect", "more"), REFUSED)
def test_what_the_vendor_would_do_is_refused_in_its_own_words(build: Any, dialect: str, more: dict[str, Any]) -> None:
    rig = build({"text": "ok"})
    entry = rig.admit(model=f"{provider(dialect)}/m")
    answer = ask(rig, entry, dialect, more)
    assert answer.status == 400 and "may reach its model alone" in answer.json["error"]["message"]
    assert not rig.upstream.seen and entry.close().refused == 1


@pytest.mark.parametrize(("dialect", "more", "name"), TAKEN_OUT)
def test_what_the_agent_can_do_without_is_taken_out_and_told(
    build: Any, dialect: str, more: dict[str, Any], name: str
) -> None:
    rig = build({"text": "ok"})
    entry = rig.admit(model=f"{provider(dialect)}/m")
    assert ask(rig, entry, dialect, more).status == 200
    entry.close()
    assert read_calls(entry.journal.path).calls[0].left_out == (name,)


@pytest.mark.parametrize("dialect", HOSTED)
def test_a_hosted_tool_beside_the_agents_own_is_taken_out(dialect: str) -> None:
    body = request_body(dialect)
    own = json.dumps(body["tools"])
    body["tools"] = [HOSTED[dialect], *body["tools"]]
    found = confine(VENDORS[dialect].confine, body)
    assert json.dumps(body["tools"]) == own and len(found.left_out) == 1 and not found.refused
    if dialect == "gemini":
        body["tools"][0]["googleSearch"] = {}
        assert (
            confine(VENDORS[dialect].confine, body).left_out == ("googleSearch",) and json.dumps(body["tools"]) == own
        )


@pytest.mark.parametrize(("dialect", "body"), AS_AGENTS_ASK)
def test_what_real_agents_send_goes_on_working(dialect: str, body: dict[str, Any]) -> None:
    before = json.loads(json.dumps(body))
    found = confine(VENDORS[dialect].confine, body)
    assert not found.refused and not found.left_out and body == before


def test_beta_features_that_reach_out_are_dropped() -> None:
    asked = {
        "anthropic-beta": "claude-code-20250219, web-fetch-2025-09-10,mcp-client-2025-04-04,"
        "interleaved-thinking-2025-05-14",
        "Anthropic-Version": "2023-06-01", "OpenAI-Beta": "assistants=v2", "X-Forwarded-For": "1.2.3.4",
    }  # fmt: skip
    kept = passed_on(asked, closed=True)
    assert kept["anthropic-beta"] == "claude-code-20250219,interleaved-thinking-2025-05-14"
    assert set(kept) == {"anthropic-beta", "anthropic-version", "content-type"}
    assert "web-fetch" in passed_on(asked, closed=False)["anthropic-beta"]


def test_of_a_name_that_stands_twice_the_upstream_sees_what_we_saw(tmp_path: Path) -> None:
    with Biller() as biller, Gateway([Upstream(name="up", base_url=f"{biller.origin}/v1")]) as gateway:
        entry = gateway.admit("a", model="up/m", journal=tmp_path / "usage.jsonl")
        url = address(entry.urls(gateway.origin), "chat", stream=False)
        raw = b'{"model":"m","tools":[{"type":"web_search"}],"messages":[],"tools":[{"type":"function"}]}'
        assert send(url, raw, key_header("chat", entry.key)).status == 200
        assert biller.bodies[0]["tools"] == [{"type": "function"}]


def test_an_open_policy_lets_them_pass_and_says_that_they_have_no_price(tmp_path: Path) -> None:
    with (
        Biller() as biller,
        Gateway([Upstream(name="up", base_url=f"{biller.origin}/v1")], limits=CallLimits()) as gateway,
    ):
        entry = gateway.admit("a", model="up/gpt-4o", journal=tmp_path / "usage.jsonl", closed_world=False)
        url = address(entry.urls(gateway.origin), "chat", stream=False)
        body = {**request_body("chat"), "web_search_options": {"x": 1}, "service_tier": "priority"}
        assert send(url, body, key_header("chat", entry.key)).status == 200
        assert biller.bodies[0]["web_search_options"] == {"x": 1}  # the attack, without the defence
        totals = entry.close()
    assert totals.dollars is None and totals.dollars_known > 0 and "web_search_options" in totals.dollars_note


def test_what_is_allowed_by_name_passes_and_has_no_price_and_nothing_else_does(tmp_path: Path) -> None:
    with Biller() as biller:
        allowing = Upstream(name="up", base_url=f"{biller.origin}/v1", allow=("web_search", "service_tier", "messages"))
        with Gateway([allowing]) as gateway:
            entry = gateway.admit("a", model="up/gpt-4o", journal=tmp_path / "usage.jsonl")
            url = address(entry.urls(gateway.origin), "chat", stream=False)
            body = request_body("chat")
            body["tools"] += [{"type": "web_search"}, {"type": "code_interpreter"}]
            body |= {"service_tier": "priority", "speed": "fast"}
            assert send(url, body, key_header("chat", entry.key)).status == 200
            fetched = user({"type": "image_url", "image_url": {"url": URL}})
            assert send(url, {**body, "messages": fetched}, key_header("chat", entry.key)).status == 400
            totals = entry.close()
        (seen,) = biller.bodies
        assert [tool["type"] for tool in seen["tools"]] == ["function", "web_search"]
        assert seen["service_tier"] == "priority" and "speed" not in seen
    call = read_calls(tmp_path / "usage.jsonl").calls[0]
    assert call.left_out == ("speed", "code_interpreter") and totals.dollars is None
    assert "service_tier, web_search" in call.price_note or "web_search, service_tier" in call.price_note


@pytest.mark.parametrize("target", ["http://127.0.0.1:{port}/{token}/v1/chat/completions", "http:/{token}/v1/chat"])
def test_a_target_with_an_address_is_refused(build: Any, target: str) -> None:
    import socket

    rig = build({"text": "ok"})
    entry = rig.admit()
    port = int(rig.gateway.origin.rpartition(":")[2])
    body = json.dumps(request_body("chat")).encode()
    line = "POST " + target.format(port=port, token=entry.token) + " HTTP/1.1\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        raw.sendall(f"{line}Host: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = raw.recv(65536)
    assert answer.split()[1] in {b"400", b"401"} and not rig.upstream.seen


def test_a_tool_that_hides_another_behind_an_allowed_one_is_taken_out() -> None:
    body = request_body("gemini")
    body["tools"] += [{"googleSearch": {}}, {"googleSearch": {}, "codeExecution": {}}]
    found = confine(VENDORS["gemini"].confine, body, ("googleSearch",))
    assert found.granted == ("googleSearch",) and found.left_out == ("googleSearch",)
    assert [list(tool) for tool in body["tools"]] == [["functionDeclarations"], ["googleSearch"]]
