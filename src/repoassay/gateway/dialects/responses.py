"""OpenAI responses, the only dialect of the Codex CLI."""

from __future__ import annotations

from collections.abc import Mapping

from repoassay.gateway.dialects.openai import OpenAIShaped, refuse_as_openai
from repoassay.gateway.dialects.protocol import Asks, JsonObject, Refusal, Route, Trouble, Watcher, token_limit
from repoassay.model.usage import Usage

__all__ = ["Responses"]

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
            self.usage = Usage.of_responses(usage) if isinstance(usage, dict) else None
        if kind in {"error", "response.failed"}:
            self.error = "stream_error"
        return False


class Responses(OpenAIShaped):
    """`POST /v1/responses`; stored responses, files and the rest of that API are not passed on."""

    name = "responses"

    def route(self, method: str, path: str, query: Mapping[str, str]) -> Route | None:
        """See `Dialect`."""
        del query
        return Route(Asks.REPLY) if method == "POST" and path.removeprefix("/v1") == "/responses" else None

    def url(self, base: str, route: Route, model: str) -> str:
        """See `Dialect`; `base` ends in `/v1` as OpenAI's clients have it."""
        del route, model
        return f"{base}/responses"

    def most_output(self, body: JsonObject) -> int | None:
        """See `Dialect`."""
        return token_limit(body.get("max_output_tokens"))

    def limit(self, body: JsonObject, tokens: int, field: str) -> None:
        """See `Dialect`."""
        del field
        body["max_output_tokens"] = tokens

    def choices(self, body: JsonObject) -> int:
        """See `Dialect`."""
        del body
        return 1

    def usage(self, body: JsonObject) -> Usage | None:
        """See `Dialect`."""
        usage = body.get("usage")
        return Usage.of_responses(usage) if isinstance(usage, dict) else None

    def watcher(self, asked: JsonObject) -> _Watch:
        """See `Dialect`."""
        del asked
        return _Watch()

    def refuse(self, trouble: Trouble, message: str) -> Refusal:
        """See `Dialect`. A spent budget is 400: Codex gives up on that at once and retries any other 4xx."""
        return refuse_as_openai(trouble, message, (400, "invalid_request_error", "billing_hard_limit_reached"))
