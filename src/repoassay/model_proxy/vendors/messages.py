"""Anthropic messages, the protocol of Claude Code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from repoassay.model_proxy.request_rules.messages import confine
from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.vendors.parts import (
    arguments,
    bearer,
    read_count,
    split_text,
    sse_event,
    text_of,
    token_limit,
)
from repoassay.model_proxy.vendors.protocol import (
    Asks,
    ErrorReply,
    ModelQuestion,
    ProviderTrouble,
    Reply,
    RequestView,
    Route,
    Vendor,
    Watcher,
)
from repoassay.types import Usage

__all__ = ["Messages", "message_head", "messages_usage"]

_LEAST_THINKING = 1024

_SHAPES: dict[ProviderTrouble, tuple[int, str]] = {
    ProviderTrouble.NOT_FOUND: (404, "not_found_error"),
    ProviderTrouble.NO_PASS: (401, "authentication_error"),
    ProviderTrouble.BAD_REQUEST: (400, "invalid_request_error"),
    ProviderTrouble.OUTSIDE: (400, "invalid_request_error"),
    ProviderTrouble.TOO_LARGE: (413, "request_too_large"),
    ProviderTrouble.BUSY: (429, "rate_limit_error"),
    ProviderTrouble.BUDGET: (400, "invalid_request_error"),
    ProviderTrouble.CONTEXT: (400, "invalid_request_error"),
    ProviderTrouble.UPSTREAM: (502, "api_error"),
    ProviderTrouble.SILENCE: (504, "timeout_error"),
}


class _Watch(Watcher):
    def __init__(self) -> None:
        super().__init__()
        self._counts: JsonObject = {}
        self._final = False

    def wants(self, data: bytes) -> bool:
        return b"message_" in data or b'"error"' in data

    def see(self, data: JsonObject) -> bool:
        kind = data.get("type")
        if kind == "message_start":
            message = data.get("message")
            self._take(message.get("usage") if isinstance(message, dict) else None)
            self.note(None, message.get("model") if isinstance(message, dict) else None)
        elif kind == "message_delta":
            # These counts are cumulative; the first output count of message_start is only a beginning.
            self._take(data.get("usage"))
            self.note(data.get("usage"), None)
            self._final = True
        elif kind == "message_stop":
            self.finished = True
        elif kind == "error":
            error = data.get("error")
            self.error = "overloaded" if isinstance(error, dict) and error.get("type") == "overloaded_error" else ""
            self.error = self.error or "stream_error"
        if self._final:
            self.usage = Messages.read_usage(self._counts)
        return False

    def _take(self, usage: object) -> None:
        if isinstance(usage, dict):
            self._counts.update({name: value for name, value in usage.items() if value is not None})


class Messages(Vendor):
    """`POST /v1/messages`, its `count_tokens`, and the `HEAD /` Claude Code begins with."""

    name = "messages"
    untold = ("reasoning",)
    client_headers = {"Anthropic-Version": "2023-06-01"}  # noqa: RUF012 - never changed

    def route(self, method: str, path: str, query: Mapping[str, str]) -> Route | None:
        """See `Vendor`."""
        del query
        if method == "POST" and path == "/v1/messages":
            return Route(Asks.REPLY)
        if method == "POST" and path == "/v1/messages/count_tokens":
            return Route(Asks.COUNT, stream=False)
        if method in {"HEAD", "GET"} and path in {"", "/"}:
            return Route(Asks.HELLO)
        return None

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        """See `Vendor`."""
        del query
        return headers.get("X-Api-Key", "").strip() or bearer(headers)

    def sign(self, key: str) -> dict[str, str]:
        """See `Vendor`."""
        return {"X-Api-Key": key} if key else {}

    def url(self, base: str, route: Route, model: str) -> str:
        """See `Vendor`; `base` is without `/v1` as Anthropic's clients have it."""
        del model
        return f"{base}/v1/messages/count_tokens" if route.asks is Asks.COUNT else f"{base}/v1/messages"

    def streams(self, body: JsonObject, route: Route) -> bool:
        """See `Vendor`."""
        return route.asks is Asks.REPLY and body.get("stream") is True

    def most_output(self, body: JsonObject) -> int | None:
        """See `Vendor`."""
        return token_limit(body.get("max_tokens"))

    def limit(self, body: JsonObject, tokens: int, field: str) -> None:
        """See `Vendor`. Thinking must stay below the limit, and has a least length of its own."""
        del field
        body["max_tokens"] = tokens
        thinking = body.get("thinking")
        planned = token_limit(thinking.get("budget_tokens")) if isinstance(thinking, dict) else None
        if planned is not None and planned >= tokens:
            if tokens > _LEAST_THINKING:
                body["thinking"] = {**body["thinking"], "budget_tokens": tokens - 1}
            else:
                del body["thinking"]

    def watcher(self, request: JsonObject) -> _Watch:
        """See `Vendor`."""
        del request
        return _Watch()

    def refuse(self, trouble: ProviderTrouble, message: str) -> ErrorReply:
        """See `Vendor`. Claude Code knows the first words of both budget and context errors and stops at them."""
        status, kind = _SHAPES[trouble]
        if trouble is ProviderTrouble.BUDGET:
            message = f"Your credit balance is too low to access the Anthropic API. {message}"
        elif trouble is ProviderTrouble.CONTEXT:
            message = f"prompt is too long: {message}"
        again = {} if trouble is ProviderTrouble.BUSY else {"x-should-retry": "false"}
        return ErrorReply(status, {"type": "error", "error": {"type": kind, "message": message}}, again)

    def models(self, names: list[str]) -> JsonObject:
        """See `Vendor`."""
        data = [
            {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"} for name in names
        ]
        return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}

    @staticmethod
    def read_usage(usage: Mapping[str, object]) -> Usage | None:
        """See `Vendor`; `input_tokens` excludes the two cache counts."""
        fresh, output = read_count(usage, "input_tokens"), read_count(usage, "output_tokens")
        if fresh is None or output is None:
            return None
        cached = read_count(usage, "cache_read_input_tokens") or 0
        written = read_count(usage, "cache_creation_input_tokens") or 0
        return Usage(input=fresh + cached + written, output=output, cached=cached, cache_write=written)

    def resembles(self, path: str, headers: Mapping[str, str]) -> bool:
        """See `Vendor`."""
        return "Anthropic-Version" in headers or path.startswith("/v1/messages")

    def confine(self, body: JsonObject) -> list[str]:
        """See `Vendor`."""
        return confine(body)

    def question(self, question: ModelQuestion) -> JsonObject:
        """See `Vendor`."""
        turns = [{"role": "user", "content": question.user}]
        return {
            "model": question.model, "max_tokens": question.max_tokens, "system": question.system, "messages": turns,
            **question.warmth,
        }  # fmt: skip

    def client_env(self, url: str, key: str) -> dict[str, str]:
        """See `Vendor`."""
        return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": key}

    def token_count(self, tokens: int) -> JsonObject:
        """See `Vendor`."""
        return {"input_tokens": tokens}

    def too_long(self, prompt: int, window: int) -> str:
        """See `Vendor`; `refuse` puts its first words before it."""
        return f"{prompt} tokens > {window} maximum"

    def read_request(self, body: JsonObject) -> RequestView:
        """See `Vendor`."""
        messages = [message for message in body.get("messages") or [] if isinstance(message, dict)]
        tools = {
            str(tool.get("name")): tool.get("input_schema") or {}
            for tool in body.get("tools") or []
            if isinstance(tool, dict)
        }
        return RequestView(text_of(messages[-1].get("content")) if messages else "", tools)

    def response(self, reply: Reply) -> JsonObject:
        """See `Vendor`."""
        return {
            **message_head(f"msg_{reply.id}", reply.model),
            "content": _blocks(reply),
            "stop_reason": _reason(reply),
            "usage": messages_usage(reply.usage),
        }

    def stream_events(self, reply: Reply) -> Iterator[bytes]:
        """See `Vendor`."""
        usage = messages_usage(reply.usage)
        message = {
            **message_head(f"msg_{reply.id}", reply.model),
            "content": [],
            "stop_reason": None,
            "usage": {**usage, "output_tokens": 1},
        }
        yield sse_event({"type": "message_start", "message": message}, "message_start")
        yield sse_event({"type": "ping"}, "ping")
        for index, block in enumerate(_blocks(reply)):
            empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
            yield sse_event(
                {"type": "content_block_start", "index": index, "content_block": empty}, "content_block_start"
            )
            if block["type"] == "text":
                deltas = [{"type": "text_delta", "text": piece} for piece in split_text(block["text"])]
            else:
                parts = split_text(json.dumps(block["input"]))
                deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in parts]
            for delta in deltas:
                yield sse_event({"type": "content_block_delta", "index": index, "delta": delta}, "content_block_delta")
            yield sse_event({"type": "content_block_stop", "index": index}, "content_block_stop")
        end = {"stop_reason": _reason(reply), "stop_sequence": None}
        counts = {"output_tokens": usage["output_tokens"]}
        yield sse_event({"type": "message_delta", "delta": end, "usage": counts}, "message_delta")
        yield sse_event({"type": "message_stop"}, "message_stop")

    def read_response(self, answer: JsonObject) -> tuple[str, list[tuple[str, JsonObject]]]:
        """See `Vendor`."""
        texts, calls = [], []
        for block in answer.get("content") or []:
            if block.get("type") == "text":
                texts.append(str(block.get("text")))
            elif block.get("type") == "tool_use":
                calls.append((str(block.get("name")), arguments(block.get("input"))))
        return "\n".join(texts), calls

    def join_events(self, events: list[JsonObject]) -> JsonObject:
        """See `Vendor`."""
        blocks: dict[int, JsonObject] = {}
        for event in events:
            index = event.get("index", 0)
            if event.get("type") == "content_block_start":
                blocks[index] = {**(event.get("content_block") or {}), "said": ""}
            elif event.get("type") == "content_block_delta" and index in blocks:
                delta = event.get("delta") or {}
                blocks[index]["said"] += delta.get("text") or delta.get("partial_json") or ""
        for block in blocks.values():
            text = block.pop("said")
            block["text" if block.get("type") == "text" else "input"] = text
        return {"content": [blocks[index] for index in sorted(blocks)]}


def message_head(answer_id: str, model: str) -> JsonObject:
    """What every answer begins with."""
    return {"id": answer_id, "type": "message", "role": "assistant", "model": model, "stop_sequence": None}


def _reason(reply: Reply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def _blocks(reply: Reply) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    if reply.text or not reply.calls:
        blocks.append({"type": "text", "text": reply.text})
    blocks += [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in reply.calls]
    return blocks


def messages_usage(usage: Usage) -> JsonObject:
    """Usage as the dialect tells it."""
    return {
        "input_tokens": usage.fresh,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }
