"""OpenAI chat completions, which vLLM, Ollama, DeepSeek and most others speak too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from repoassay.model_proxy.request_rules.chat import confine
from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.vendors.openai import OpenAIShaped, openai_usage, refuse_as_openai
from repoassay.model_proxy.vendors.parts import arguments, count_of, split_text, sse_event, text_of, token_limit
from repoassay.model_proxy.vendors.protocol import (
    Asks,
    ErrorReply,
    ModelQuestion,
    ProviderTrouble,
    Reply,
    RequestView,
    Route,
    ToolUse,
    Watcher,
)
from repoassay.types import Usage

__all__ = ["Chat", "chat_usage"]


class _Watch(Watcher):
    def __init__(self, hides_usage: bool) -> None:
        super().__init__()
        self.hides = hides_usage

    def wants(self, data: bytes) -> bool:
        # With include_usage every chunk says "usage":null until the last.
        return (b'"usage"' in data and b'"usage":null' not in data) or b'"error"' in data

    def see(self, data: JsonObject) -> bool:
        usage = data.get("usage")
        if isinstance(usage, dict):
            self.usage = Chat.read_usage(usage) or self.usage
            self.note(usage, data.get("model"))
        if data.get("error"):
            self.error = "stream_error"
        # The chunk that include_usage adds has no choices; a client that did not ask for it must not see it.
        return self.hides and isinstance(usage, dict) and data.get("choices") == []


class Chat(OpenAIShaped):
    """`POST /v1/chat/completions` and `GET /v1/models`."""

    name = "chat"

    def route(self, method: str, path: str, query: Mapping[str, str]) -> Route | None:
        """See `Vendor`. The `/v1` may be missing, since some clients leave it out."""
        del query
        plain = path.removeprefix("/v1")
        if method == "POST" and plain == "/chat/completions":
            return Route(Asks.REPLY)
        if method == "GET" and (plain == "/models" or plain.startswith("/models/")):
            return Route(Asks.MODELS)
        return None

    def url(self, base: str, route: Route, model: str) -> str:
        """See `Vendor`; `base` ends in `/v1` as OpenAI's clients have it."""
        del route, model
        return f"{base}/chat/completions"

    def change(self, body: JsonObject, route: Route, model: str) -> bool:
        """See `Vendor`; also asks for usage in a stream that would not tell it."""
        changed = super().change(body, route, model)
        if self.streams(body, route):
            options = body.get("stream_options")
            options = options if isinstance(options, dict) else {}
            if options.get("include_usage") is not True:
                body["stream_options"] = {**options, "include_usage": True}
                changed = True
        return changed

    def most_output(self, body: JsonObject) -> int | None:
        """See `Vendor`."""
        return token_limit(body.get("max_completion_tokens") or body.get("max_tokens"))

    def limit(self, body: JsonObject, tokens: int, field: str) -> None:
        """See `Vendor`. The other name goes: a server that does not know it would not be bound by it."""
        body.pop("max_tokens", None)
        body.pop("max_completion_tokens", None)
        body[field] = tokens

    def choices(self, body: JsonObject) -> int:
        """See `Vendor`."""
        return count_of(body.get("n"))

    def watcher(self, request: JsonObject) -> _Watch:
        """See `Vendor`."""
        options = request.get("stream_options")
        return _Watch(not (isinstance(options, dict) and options.get("include_usage") is True))

    def refuse(self, trouble: ProviderTrouble, message: str) -> ErrorReply:
        """See `Vendor`. A spent budget is 403: LiteLLM, and so mini-swe-agent, tries again after OpenAI's 429."""
        return refuse_as_openai(trouble, message, (403, "insufficient_quota", "insufficient_quota"))

    @staticmethod
    def read_usage(usage: Mapping[str, object]) -> Usage | None:
        """See `Vendor`."""
        return openai_usage(usage, "prompt_tokens", "completion_tokens")

    def confine(self, body: JsonObject) -> list[str]:
        """See `Vendor`."""
        return confine(body)

    def question(self, question: ModelQuestion) -> JsonObject:
        """See `Vendor`. OpenAI's own reasoning models refuse `max_tokens`, which most other servers alone know."""
        turns = [{"role": "system", "content": question.system}, {"role": "user", "content": question.user}]
        limit = {question.output_field: question.max_tokens}
        return {"model": question.model, "messages": turns, **limit, **question.warmth}

    def read_request(self, body: JsonObject) -> RequestView:
        """See `Vendor`."""
        messages = [message for message in body.get("messages") or [] if isinstance(message, dict)]
        tools: dict[str, JsonObject] = {}
        for tool in body.get("tools") or []:
            function = tool.get("function") if isinstance(tool, dict) else None
            if isinstance(function, dict):
                tools[str(function.get("name"))] = function.get("parameters") or {}
        return RequestView(text_of(messages[-1].get("content")) if messages else "", tools)

    def response(self, reply: Reply) -> JsonObject:
        """See `Vendor`."""
        message: JsonObject = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = [_call(call) for call in reply.calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(reply)}
        return {**_head(reply, "chat.completion"), "choices": [choice], "usage": chat_usage(reply.usage)}

    def stream_events(self, reply: Reply) -> Iterator[bytes]:
        """See `Vendor`. Usage comes in a chunk of its own, as `include_usage` has it."""
        head = _head(reply, "chat.completion.chunk")

        def chunk(delta: JsonObject, reason: str | None = None) -> bytes:
            return sse_event(
                {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], "usage": None}
            )

        yield chunk({"role": "assistant", "content": ""})
        for piece in split_text(reply.text):
            yield chunk({"content": piece})
        for index, call in enumerate(reply.calls):
            function = {"name": call.name, "arguments": ""}
            yield chunk({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
            for piece in split_text(json.dumps(call.arguments)):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield chunk({}, _reason(reply))
        yield sse_event({**head, "choices": [], "usage": chat_usage(reply.usage)})
        yield b"data: [DONE]\n\n"

    def read_response(self, answer: JsonObject) -> tuple[str, list[tuple[str, JsonObject]]]:
        """See `Vendor`."""
        choices = answer.get("choices") or [{}]
        message = choices[0].get("message") or {}
        functions = [call.get("function") or {} for call in message.get("tool_calls") or []]
        calls = [(str(function.get("name")), arguments(function.get("arguments"))) for function in functions]
        return text_of(message.get("content")), calls

    def join_events(self, events: list[JsonObject]) -> JsonObject:
        """See `Vendor`."""
        text = ""
        calls: dict[int, JsonObject] = {}
        for event in events:
            for choice in event.get("choices") or []:
                delta = choice.get("delta") or {}
                text += delta.get("content") or ""
                for part in delta.get("tool_calls") or []:
                    call = calls.setdefault(part.get("index", 0), {"function": {"name": "", "arguments": ""}})
                    for name in ("name", "arguments"):
                        call["function"][name] += (part.get("function") or {}).get(name) or ""
        message = {"content": text, "tool_calls": [calls[index] for index in sorted(calls)]}
        return {"choices": [{"message": message}]}


def _head(reply: Reply, kind: str) -> JsonObject:
    return {"id": f"chatcmpl-{reply.id}", "object": kind, "created": 0, "model": reply.model}


def _reason(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _call(call: ToolUse) -> JsonObject:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}


def chat_usage(usage: Usage) -> JsonObject:
    """Usage as the dialect tells it."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_write},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
