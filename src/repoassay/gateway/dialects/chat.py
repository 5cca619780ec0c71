"""OpenAI chat completions, which vLLM, Ollama, DeepSeek and most others speak too."""

from __future__ import annotations

from collections.abc import Mapping

from repoassay.gateway.dialects.openai import OpenAIShaped, refuse_as_openai
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

__all__ = ["Chat"]


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
            self.usage = Usage.of_chat(usage) or self.usage
        if data.get("error"):
            self.error = "stream_error"
        # The chunk that include_usage adds has no choices; a client that did not ask for it must not see it.
        return self.hides and isinstance(usage, dict) and data.get("choices") == []


class Chat(OpenAIShaped):
    """`POST /v1/chat/completions` and `GET /v1/models`."""

    name = "chat"

    def route(self, method: str, path: str, query: Mapping[str, str]) -> Route | None:
        """See `Dialect`. The `/v1` may be missing, since some clients leave it out."""
        del query
        plain = path.removeprefix("/v1")
        if method == "POST" and plain == "/chat/completions":
            return Route(Asks.REPLY)
        if method == "GET" and (plain == "/models" or plain.startswith("/models/")):
            return Route(Asks.MODELS)
        return None

    def url(self, base: str, route: Route, model: str) -> str:
        """See `Dialect`; `base` ends in `/v1` as OpenAI's clients have it."""
        del route, model
        return f"{base}/chat/completions"

    def change(self, body: JsonObject, route: Route, model: str) -> bool:
        """See `Dialect`; also asks for usage in a stream that would not tell it."""
        changed = super().change(body, route, model)
        if self.streams(body, route):
            options = body.get("stream_options")
            options = options if isinstance(options, dict) else {}
            if options.get("include_usage") is not True:
                body["stream_options"] = {**options, "include_usage": True}
                changed = True
        return changed

    def most_output(self, body: JsonObject) -> int | None:
        """See `Dialect`."""
        return token_limit(body.get("max_completion_tokens") or body.get("max_tokens"))

    def limit(self, body: JsonObject, tokens: int, field: str) -> None:
        """See `Dialect`. The other name goes: a server that does not know it would not be bound by it."""
        body.pop("max_tokens", None)
        body.pop("max_completion_tokens", None)
        body[field] = tokens

    def choices(self, body: JsonObject) -> int:
        """See `Dialect`."""
        return count_of(body.get("n"))

    def usage(self, body: JsonObject) -> Usage | None:
        """See `Dialect`."""
        usage = body.get("usage")
        return Usage.of_chat(usage) if isinstance(usage, dict) else None

    def watcher(self, asked: JsonObject) -> _Watch:
        """See `Dialect`."""
        options = asked.get("stream_options")
        return _Watch(not (isinstance(options, dict) and options.get("include_usage") is True))

    def refuse(self, trouble: Trouble, message: str) -> Refusal:
        """See `Dialect`. A spent budget is 403: LiteLLM, and so mini-swe-agent, tries again after OpenAI's 429."""
        return refuse_as_openai(trouble, message, (403, "insufficient_quota", "insufficient_quota"))
