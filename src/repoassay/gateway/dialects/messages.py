"""Anthropic messages, the dialect of Claude Code."""

from __future__ import annotations

from collections.abc import Mapping

from repoassay.gateway.dialects.openai import bearer
from repoassay.gateway.dialects.protocol import Asks, JsonObject, Refusal, Route, Trouble, Watcher, token_limit
from repoassay.model.usage import Usage

__all__ = ["Messages"]

_LEAST_THINKING = 1024

_SHAPES: dict[Trouble, tuple[int, str]] = {
    Trouble.NOT_FOUND: (404, "not_found_error"),
    Trouble.NO_PASS: (401, "authentication_error"),
    Trouble.BAD_REQUEST: (400, "invalid_request_error"),
    Trouble.OUTSIDE: (400, "invalid_request_error"),
    Trouble.TOO_LARGE: (413, "request_too_large"),
    Trouble.BUSY: (429, "rate_limit_error"),
    Trouble.BUDGET: (400, "invalid_request_error"),
    Trouble.CONTEXT: (400, "invalid_request_error"),
    Trouble.UPSTREAM: (502, "api_error"),
    Trouble.SILENCE: (504, "timeout_error"),
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
        elif kind == "message_delta":
            # These counts are cumulative; the first output count of message_start is only a beginning.
            self._take(data.get("usage"))
            self._final = True
        elif kind == "message_stop":
            self.finished = True
        elif kind == "error":
            error = data.get("error")
            self.error = "overloaded" if isinstance(error, dict) and error.get("type") == "overloaded_error" else ""
            self.error = self.error or "stream_error"
        if self._final:
            self.usage = Usage.of_messages(self._counts)
        return False

    def _take(self, usage: object) -> None:
        if isinstance(usage, dict):
            self._counts.update({name: value for name, value in usage.items() if value is not None})


class Messages:
    """`POST /v1/messages`, its `count_tokens`, and the `HEAD /` Claude Code begins with."""

    name = "messages"
    end_marker = b""

    def route(self, method: str, path: str, query: Mapping[str, str]) -> Route | None:
        """See `Dialect`."""
        del query
        if method == "POST" and path == "/v1/messages":
            return Route(Asks.REPLY)
        if method == "POST" and path == "/v1/messages/count_tokens":
            return Route(Asks.COUNT, stream=False)
        if method in {"HEAD", "GET"} and path in {"", "/"}:
            return Route(Asks.HELLO)
        return None

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        """See `Dialect`."""
        return headers.get("X-Api-Key", "").strip() or bearer(headers, query)

    def sign(self, key: str) -> dict[str, str]:
        """See `Dialect`."""
        return {"X-Api-Key": key} if key else {}

    def url(self, base: str, route: Route, model: str) -> str:
        """See `Dialect`; `base` is without `/v1` as Anthropic's clients have it."""
        del model
        return f"{base}/v1/messages/count_tokens" if route.asks is Asks.COUNT else f"{base}/v1/messages"

    def change(self, body: JsonObject, route: Route, model: str) -> bool:
        """See `Dialect`."""
        del route
        changed = body.get("model") != model
        body["model"] = model
        return changed

    def streams(self, body: JsonObject, route: Route) -> bool:
        """See `Dialect`."""
        return route.asks is Asks.REPLY and body.get("stream") is True

    def most_output(self, body: JsonObject) -> int | None:
        """See `Dialect`."""
        return token_limit(body.get("max_tokens"))

    def limit(self, body: JsonObject, tokens: int, field: str) -> None:
        """See `Dialect`. Thinking must stay below the limit, and has a least length of its own."""
        del field
        body["max_tokens"] = tokens
        thinking = body.get("thinking")
        planned = token_limit(thinking.get("budget_tokens")) if isinstance(thinking, dict) else None
        if planned is not None and planned >= tokens:
            if tokens > _LEAST_THINKING:
                body["thinking"] = {**body["thinking"], "budget_tokens": tokens - 1}
            else:
                del body["thinking"]

    def choices(self, body: JsonObject) -> int:
        """See `Dialect`."""
        del body
        return 1

    def usage(self, body: JsonObject) -> Usage | None:
        """See `Dialect`."""
        usage = body.get("usage")
        return Usage.of_messages(usage) if isinstance(usage, dict) else None

    def watcher(self, asked: JsonObject) -> _Watch:
        """See `Dialect`."""
        del asked
        return _Watch()

    def refuse(self, trouble: Trouble, message: str) -> Refusal:
        """See `Dialect`. Claude Code knows the first words of both budget and context errors and stops at them."""
        status, kind = _SHAPES[trouble]
        if trouble is Trouble.BUDGET:
            message = f"Your credit balance is too low to access the Anthropic API. {message}"
        elif trouble is Trouble.CONTEXT:
            message = f"prompt is too long: {message}"
        again = {} if trouble is Trouble.BUSY else {"x-should-retry": "false"}
        return Refusal(status, {"type": "error", "error": {"type": kind, "message": message}}, again)

    def models(self, names: list[str]) -> JsonObject:
        """See `Dialect`."""
        data = [
            {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"} for name in names
        ]
        return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}
