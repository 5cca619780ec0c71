"""OpenAI responses, the only protocol of the Codex CLI."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.request_rules.responses import confine
from repoassay.model_proxy.vendors.openai import OpenAIShaped, openai_usage, refuse_as_openai
from repoassay.model_proxy.vendors.parts import arguments, split_text, sse_event, text_of, token_limit
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

__all__ = ["Responses", "response_body"]

_LAST = (b"response.completed", b"response.incomplete", b"response.failed", b'"error"')


class _Watch(Watcher):
    def wants(self, data: bytes) -> bool:
        return any(mark in data for mark in _LAST)

    def see(self, data: JsonObject) -> bool:
        kind = data.get("type")
        if kind in {"response.completed", "response.incomplete", "response.failed"}:
            self.finished = True
            response = data.get("response")
            usage = response.get("usage") if isinstance(response, dict) else None
            self.usage = Responses.read_usage(usage) if isinstance(usage, dict) else None
            self.note(usage, response.get("model") if isinstance(response, dict) else None)
        if kind in {"error", "response.failed"}:
            self.error = "stream_error"
        return False


class Responses(OpenAIShaped):
    """`POST /v1/responses`; stored responses, files and the rest of that API are not passed on."""

    name = "responses"

    def route(self, method: str, path: str, query: Mapping[str, str]) -> Route | None:
        """See `Vendor`."""
        del query
        return Route(Asks.REPLY) if method == "POST" and path.removeprefix("/v1") == "/responses" else None

    def url(self, base: str, route: Route, model: str) -> str:
        """See `Vendor`; `base` ends in `/v1` as OpenAI's clients have it."""
        del route, model
        return f"{base}/responses"

    def most_output(self, body: JsonObject) -> int | None:
        """See `Vendor`."""
        return token_limit(body.get("max_output_tokens"))

    def limit(self, body: JsonObject, tokens: int, field: str) -> None:
        """See `Vendor`."""
        del field
        body["max_output_tokens"] = tokens

    def watcher(self, request: JsonObject) -> _Watch:
        """See `Vendor`."""
        del request
        return _Watch()

    def refuse(self, trouble: ProviderTrouble, message: str) -> ErrorReply:
        """See `Vendor`. A spent budget is 400: Codex gives up on that at once and retries any other 4xx."""
        return refuse_as_openai(trouble, message, (400, "invalid_request_error", "billing_hard_limit_reached"))

    @staticmethod
    def read_usage(usage: Mapping[str, object]) -> Usage | None:
        """See `Vendor`."""
        return openai_usage(usage, "input_tokens", "output_tokens")

    def confine(self, body: JsonObject) -> list[str]:
        """See `Vendor`."""
        return confine(body)

    def question(self, question: ModelQuestion) -> JsonObject:
        """See `Vendor`."""
        turns = [{"role": "user", "content": question.user}]
        return {
            "model": question.model, "instructions": question.system, "input": turns,
            "max_output_tokens": question.max_tokens, **question.warmth,
        }  # fmt: skip

    def read_request(self, body: JsonObject) -> RequestView:
        """See `Vendor`."""
        value = body.get("input")
        items = value if isinstance(value, list) else [value]
        tools: dict[str, JsonObject] = {}
        for tool in body.get("tools") or []:
            if isinstance(tool, dict) and tool.get("type") == "function":
                tools[str(tool.get("name"))] = tool.get("parameters") or {}
        return RequestView(text_of(items[-1]) if items else "", tools)

    def response(self, reply: Reply) -> JsonObject:
        """See `Vendor`."""
        return response_body(reply.id, reply.model, "completed", [item for item, _ in _items(reply)], reply.usage)

    def stream_events(self, reply: Reply) -> Iterator[bytes]:
        """See `Vendor`."""
        number = 0

        def event(kind: str, **fields: Any) -> bytes:
            nonlocal number
            number += 1
            return sse_event({"type": kind, "sequence_number": number - 1, **fields}, kind)

        begun = response_body(reply.id, reply.model, "in_progress", [], None)
        yield event("response.created", response=begun)
        yield event("response.in_progress", response=begun)
        for index, (item, call) in enumerate(_items(reply)):
            place = {"output_index": index, "item_id": item["id"]}
            if call is None:
                part = {"type": "output_text", "text": "", "annotations": []}
                yield event(
                    "response.output_item.added",
                    output_index=index,
                    item={**item, "status": "in_progress", "content": []},
                )
                yield event("response.content_part.added", **place, content_index=0, part=part)
                for piece in split_text(reply.text):
                    yield event("response.output_text.delta", **place, content_index=0, delta=piece)
                yield event("response.output_text.done", **place, content_index=0, text=reply.text)
                yield event("response.content_part.done", **place, content_index=0, part={**part, "text": reply.text})
            else:
                text = item["arguments"]
                yield event(
                    "response.output_item.added",
                    output_index=index,
                    item={**item, "status": "in_progress", "arguments": ""},
                )
                for piece in split_text(text):
                    yield event("response.function_call_arguments.delta", **place, delta=piece)
                yield event("response.function_call_arguments.done", **place, arguments=text)
            yield event("response.output_item.done", output_index=index, item=item)
        yield event("response.completed", response=self.response(reply))

    def read_response(self, answer: JsonObject) -> tuple[str, list[tuple[str, JsonObject]]]:
        """See `Vendor`."""
        texts, calls = [], []
        for item in answer.get("output") or []:
            if item.get("type") == "message":
                texts.append(text_of(item.get("content")))
            elif item.get("type") == "function_call":
                calls.append((str(item.get("name")), arguments(item.get("arguments"))))
        return "\n".join(texts), calls

    def join_events(self, events: list[JsonObject]) -> JsonObject:
        """See `Vendor`."""
        items = [event.get("item") for event in events if event.get("type") == "response.output_item.done"]
        return {"output": [item for item in items if isinstance(item, dict)]}


def _items(reply: Reply) -> list[tuple[JsonObject, ToolUse | None]]:
    items: list[tuple[JsonObject, ToolUse | None]] = []
    if reply.text or not reply.calls:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        message = {"id": f"msg_{reply.id}", "type": "message", "status": "completed", "role": "assistant"}
        items.append(({**message, "content": content}, None))
    for call in reply.calls:
        item = {"id": f"fc_{call.id}", "type": "function_call", "status": "completed", "call_id": call.id}
        items.append(({**item, "name": call.name, "arguments": json.dumps(call.arguments)}, call))
    return items


def responses_usage(usage: Usage) -> JsonObject:
    """Usage as the dialect tells it."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }


def response_body(answer_id: str, model: str, status: str, output: list[JsonObject], usage: Usage | None) -> JsonObject:
    """A response of the dialect, whole or in progress."""
    return {
        "id": f"resp_{answer_id}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": model,
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "metadata": {},
        "temperature": None,
        "top_p": None,
        "usage": None if usage is None else responses_usage(usage),
    }
