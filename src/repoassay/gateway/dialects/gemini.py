"""Gemini's generateContent, the dialect of the Gemini CLI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from repoassay.gateway.dialects.openai import bearer
from repoassay.gateway.dialects.protocol import (
    Asks,
    JsonObject,
    Refusal,
    Route,
    Trouble,
    Watcher,
    count_of,
    token_limit,
)
from repoassay.model.usage import Usage

__all__ = ["Gemini"]

_CALL = re.compile(
    r"/v1(?:beta|alpha)?/models/(?P<model>[^/:]+):(?P<verb>generateContent|streamGenerateContent|countTokens)"
)
_LIST = re.compile(r"/v1beta/models(?:/[^/:]+)?")
_SHAPES: dict[Trouble, tuple[int, str]] = {
    Trouble.NOT_FOUND: (404, "NOT_FOUND"),
    Trouble.NO_PASS: (401, "UNAUTHENTICATED"),
    Trouble.BAD_REQUEST: (400, "INVALID_ARGUMENT"),
    Trouble.OUTSIDE: (400, "INVALID_ARGUMENT"),
    Trouble.TOO_LARGE: (413, "INVALID_ARGUMENT"),
    Trouble.BUSY: (429, "RESOURCE_EXHAUSTED"),
    Trouble.BUDGET: (403, "PERMISSION_DENIED"),
    Trouble.CONTEXT: (400, "INVALID_ARGUMENT"),
    Trouble.UPSTREAM: (502, "UNAVAILABLE"),
    Trouble.SILENCE: (504, "DEADLINE_EXCEEDED"),
}


class _Watch(Watcher):
    def wants(self, data: bytes) -> bool:
        return b'"usageMetadata"' in data or b'"finishReason"' in data or b'"error"' in data or b'"blockReason"' in data

    def see(self, data: JsonObject) -> bool:
        usage = data.get("usageMetadata")
        if isinstance(usage, dict):
            self.usage = Usage.of_gemini(usage) or self.usage  # cumulative: the last one holds
        candidates = data.get("candidates")
        if isinstance(candidates, list):
            self.finished = self.finished or any(
                isinstance(one, dict) and one.get("finishReason") for one in candidates
            )
        if data.get("promptFeedback"):
            self.finished = True
        if data.get("error"):
            self.error = "stream_error"
        return False


class Gemini:
    """`POST /v1beta/models/M:generateContent`, `:streamGenerateContent?alt=sse`, `:countTokens`, and the models."""

    name = "gemini"
    end_marker = b""

    def route(self, method: str, path: str, query: Mapping[str, str]) -> Route | None:
        """See `Dialect`."""
        if method == "GET" and _LIST.fullmatch(path):
            return Route(Asks.MODELS)
        found = _CALL.fullmatch(path) if method == "POST" else None
        if found is None:
            return None
        if found["verb"] == "countTokens":
            return Route(Asks.COUNT, found["model"], stream=False)
        streams = found["verb"] == "streamGenerateContent"
        # Without alt=sse the vendor streams a JSON array, which no agent we know asks for.
        return None if streams and query.get("alt") != "sse" else Route(Asks.REPLY, found["model"], streams)

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        """See `Dialect`."""
        return headers.get("X-Goog-Api-Key", "").strip() or query.get("key", "") or bearer(headers, query)

    def sign(self, key: str) -> dict[str, str]:
        """See `Dialect`."""
        return {"X-Goog-Api-Key": key} if key else {}

    def url(self, base: str, route: Route, model: str) -> str:
        """See `Dialect`; `base` is without `/v1beta` as Google's clients have it."""
        verb = "streamGenerateContent?alt=sse" if route.stream else "generateContent"
        verb = "countTokens" if route.asks is Asks.COUNT else verb
        return f"{base}/v1beta/models/{quote(model, safe='')}:{verb}"

    def change(self, body: JsonObject, route: Route, model: str) -> bool:
        """See `Dialect`; the model is in the path, except once more in a request to count tokens."""
        del route
        inner = body.get("generateContentRequest")
        if isinstance(inner, dict) and inner.get("model") not in {None, f"models/{model}"}:
            inner["model"] = f"models/{model}"
            return True
        return False

    def streams(self, body: JsonObject, route: Route) -> bool:
        """See `Dialect`."""
        del body
        return route.stream is True

    def most_output(self, body: JsonObject) -> int | None:
        """See `Dialect`."""
        settings = body.get("generationConfig")
        return token_limit(settings.get("maxOutputTokens")) if isinstance(settings, dict) else None

    def limit(self, body: JsonObject, tokens: int, field: str) -> None:
        """See `Dialect`."""
        del field
        settings = body.get("generationConfig")
        body["generationConfig"] = {**(settings if isinstance(settings, dict) else {}), "maxOutputTokens": tokens}

    def choices(self, body: JsonObject) -> int:
        """See `Dialect`."""
        settings = body.get("generationConfig")
        return count_of(settings.get("candidateCount")) if isinstance(settings, dict) else 1

    def usage(self, body: JsonObject) -> Usage | None:
        """See `Dialect`."""
        usage = body.get("usageMetadata")
        return Usage.of_gemini(usage) if isinstance(usage, dict) else None

    def watcher(self, asked: JsonObject) -> _Watch:
        """See `Dialect`."""
        del asked
        return _Watch()

    def refuse(self, trouble: Trouble, message: str) -> Refusal:
        """See `Dialect`. A spent budget is 403: Google's clients try again after 429."""
        status, name = _SHAPES[trouble]
        return Refusal(status, {"error": {"code": status, "message": message, "status": name}})

    def models(self, names: list[str]) -> JsonObject:
        """See `Dialect`."""
        methods = ["generateContent", "countTokens"]
        return {
            "models": [
                {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods} for name in names
            ]
        }
