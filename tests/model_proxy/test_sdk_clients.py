"""The vendors' published clients before an upstream that speaks chat completions alone: each takes it for its own.

Each is asked the same: to use a tool twice at once, then to go on with what the tools said; whole and streamed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

import pytest

from model_proxy.conftest import REAL_KEY
from model_proxy.test_translation import through
from repoassay.records.calls import read_calls
from repoassay.types.usage import Usage

SYSTEM, TASK, SAID = "You are terse.", "What is there?", "I look, ünïcode included."
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
RESULTS = ("a.txt", "b.txt")
TURNS: list[dict[str, Any]] = [
    {
        "text": SAID,
        "calls": [{"tool": "shell", "command": "ls a"}, {"tool": "shell", "command": "ls b"}],
        "usage": {"input": 300, "output": 40, "cached": 200, "reasoning": 7},
    },
    {"text": "Two files.", "usage": {"input": 400, "output": 9, "cached": 300}},
]
Told = tuple[str, list[str], tuple[int, int, int]]
"""Text, commands, and tokens read (cached ones among them) and written, as a client tells them."""


@pytest.fixture
def place(build: Any) -> Any:
    rig = through(build, TURNS, "chat")
    entry = rig.admit(model="only/served-model", keep_bodies=True)
    return rig, entry, entry.urls(rig.gateway.origin)


def with_anthropic(url: str, key: str, *, stream: bool) -> Generator[Told]:
    tools = [{"name": "bash", "description": "Run", "input_schema": SCHEMA}]
    messages: list[Any] = [{"role": "user", "content": TASK}]
    with closing(pytest.importorskip("anthropic").Anthropic(base_url=url, api_key=key, max_retries=0)) as client:
        while True:
            asked = {"model": "any", "max_tokens": 500, "system": SYSTEM, "messages": messages, "tools": tools}
            if stream:
                with client.messages.stream(**asked) as streamed:
                    assert "".join(streamed.text_stream)
                    answer = streamed.get_final_message()
            else:
                answer = client.messages.create(**asked)
            uses = [block for block in answer.content if block.type == "tool_use"]
            assert answer.stop_reason == ("tool_use" if uses else "end_turn")
            usage = answer.usage
            read = usage.input_tokens + (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
            text = "".join(block.text for block in answer.content if block.type == "text")
            yield (
                text,
                [use.input["command"] for use in uses],
                (read, usage.cache_read_input_tokens, usage.output_tokens),
            )
            results = [
                {"type": "tool_result", "tool_use_id": use.id, "content": said}
                for use, said in zip(uses, RESULTS, strict=True)
            ]
            messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]


def with_responses(url: str, key: str, *, stream: bool) -> Generator[Told]:
    tools = [{"type": "function", "name": "bash", "description": "Run", "parameters": SCHEMA, "strict": False}]
    items: list[Any] = [{"role": "user", "content": TASK}]
    with closing(pytest.importorskip("openai").OpenAI(base_url=url, api_key=key, max_retries=0)) as client:
        while True:
            asked = {"model": "any", "instructions": SYSTEM, "input": items, "tools": tools}
            if stream:
                with client.responses.stream(**asked) as streamed:
                    assert {"response.created", "response.completed"} <= {event.type for event in streamed}
                    answer = streamed.get_final_response()
            else:
                answer = client.responses.create(**asked)
            assert answer.status == "completed"
            calls = [item for item in answer.output if item.type == "function_call"]
            usage = answer.usage
            counts = (usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens)
            yield answer.output_text, [json.loads(call.arguments)["command"] for call in calls], counts
            items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output]
            items += [
                {"type": "function_call_output", "call_id": call.call_id, "output": said}
                for call, said in zip(calls, RESULTS, strict=True)
            ]


def with_genai(url: str, key: str, *, stream: bool) -> Generator[Told]:
    genai = pytest.importorskip("google.genai")
    types = genai.types
    declared = types.FunctionDeclaration(name="bash", description="Run", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        system_instruction=SYSTEM, tools=[types.Tool(function_declarations=[declared])]
    )
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=TASK)])]
    with closing(genai.Client(api_key=key, http_options=types.HttpOptions(base_url=url))) as client:
        while True:
            asked = {"model": "any", "contents": contents, "config": config}
            if stream:
                chunks = list(client.models.generate_content_stream(**asked))
            else:
                chunks = [client.models.generate_content(**asked)]
            parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
            calls = [part.function_call for part in parts if part.function_call]
            usage = chunks[-1].usage_metadata
            assert chunks[-1].candidates[0].finish_reason == "STOP"
            written = usage.candidates_token_count + usage.thoughts_token_count
            counts = (usage.prompt_token_count, usage.cached_content_token_count, written)
            yield "".join(part.text or "" for part in parts), [call.args["command"] for call in calls], counts
            answers = [
                types.Part(
                    function_response=types.FunctionResponse(id=call.id, name=call.name, response={"output": said})
                )
                for call, said in zip(calls, RESULTS, strict=True)
            ]
            contents += [types.Content(role="model", parts=parts), types.Content(role="user", parts=answers)]


CLIENTS = {"messages": with_anthropic, "responses": with_responses, "gemini": with_genai}


@pytest.mark.by_day(3)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", CLIENTS)
@pytest.mark.long
def test_published_clients(place: Any, dialect: str, stream: bool) -> None:
    rig, entry, urls = place
    speak: Callable[..., Generator[Told]] = CLIENTS[dialect]
    with closing(speak(urls[dialect], entry.key, stream=stream)) as told:
        first, second = next(told), next(told)
    assert first == (SAID, ["ls a", "ls b"], (300, 200, 40))
    assert second == ("Two files.", [], (400, 300, 9))
    entry.close()
    calls = read_calls(entry.journal.path).calls
    assert [call.usage for call in calls] == list(rig.upstream.script.sent(REAL_KEY))
    assert sum((call.usage for call in calls if call.usage), Usage()).total == 749
    assert {(call.spoken, call.fault, call.status) for call in calls} == {("chat", "", 200)}
    asked = rig.upstream.bodies[1]["messages"]
    assert [message["role"] for message in asked] == ["system", "user", "assistant", "tool", "tool"]
    assert asked[0]["content"] == SYSTEM and asked[1]["content"] == TASK
    ids = [call["id"] for call in asked[2]["tool_calls"]]
    assert asked[2]["content"] == SAID and len(set(ids)) == 2
    assert [(one["tool_call_id"], one["content"]) for one in asked[3:]] == list(zip(ids, RESULTS, strict=True))
    assert rig.upstream.bodies[0]["tools"][0]["function"] == {
        "name": "bash", "description": "Run", "parameters": SCHEMA,
    }  # fmt: skip


@pytest.mark.long
@pytest.mark.by_day(1)
@pytest.mark.parametrize("status", [400, 429, 500])
def test_errors_are_those_of_the_clients_own_vendor(build: Any, status: int) -> None:
    fault = {"status": status, "times": 99, "body": '{"error": {"message": "what the server said"}}'}
    rig = through(build, [{**TURNS[0], "fault": fault}], "chat", limits=None)
    entry = rig.admit(model="only/m")
    urls = entry.urls(rig.gateway.origin)
    anthropic, openai = pytest.importorskip("anthropic"), pytest.importorskip("openai")
    genai = pytest.importorskip("google.genai")
    with pytest.raises(anthropic.APIStatusError) as first:
        next(with_anthropic(urls["messages"], entry.key, stream=False))
    with pytest.raises(openai.APIStatusError) as second:
        next(with_responses(urls["responses"], entry.key, stream=True))
    with pytest.raises(genai.errors.APIError) as third:
        next(with_genai(urls["gemini"], entry.key, stream=False))
    assert (first.value.status_code, second.value.status_code, third.value.code) == (status,) * 3
    for told in (first.value.body["error"], second.value.body, third.value.details["error"]):
        assert told["message"] == "what the server said"
