"""What OpenAI's two protocols share: key, streaming, usage, errors, environment and the list of models."""

from __future__ import annotations

from collections.abc import Mapping

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.vendors.parts import bearer, inner_object, read_count
from repoassay.model_proxy.vendors.protocol import ErrorReply, ProviderTrouble, Route, Vendor
from repoassay.types import Usage

__all__ = ["OpenAIShaped", "openai_usage", "refuse_as_openai"]

_NEVER_AGAIN = {"x-should-retry": "false"}  # read by OpenAI's and Anthropic's own clients

_SHAPES: dict[ProviderTrouble, tuple[int, str, str | None]] = {
    ProviderTrouble.NOT_FOUND: (404, "invalid_request_error", "unknown_url"),
    ProviderTrouble.NO_PASS: (401, "invalid_request_error", "invalid_api_key"),
    ProviderTrouble.BAD_REQUEST: (400, "invalid_request_error", None),
    ProviderTrouble.OUTSIDE: (400, "invalid_request_error", "unsupported_value"),
    ProviderTrouble.TOO_LARGE: (413, "invalid_request_error", "request_too_large"),
    ProviderTrouble.BUSY: (429, "requests", "rate_limit_exceeded"),
    ProviderTrouble.CONTEXT: (400, "invalid_request_error", "context_length_exceeded"),
    ProviderTrouble.UPSTREAM: (502, "server_error", "bad_gateway"),
    ProviderTrouble.SILENCE: (504, "server_error", "timeout"),
}


def refuse_as_openai(trouble: ProviderTrouble, message: str, budget: tuple[int, str, str]) -> ErrorReply:
    """Word an error as OpenAI does; `budget` is the status, type and code of an exhausted budget."""
    status, kind, code = budget if trouble is ProviderTrouble.BUDGET else _SHAPES[trouble]
    param = {ProviderTrouble.CONTEXT: "messages"}.get(trouble)
    error = {"message": message, "type": kind, "param": param, "code": code}
    return ErrorReply(status, {"error": error}, {} if trouble is ProviderTrouble.BUSY else _NEVER_AGAIN)


def openai_usage(usage: Mapping[str, object], read: str, written: str) -> Usage | None:
    """Usage from the counts `read` and `written` and their `_details`; None when the two are not both there."""
    prompt, output = read_count(usage, read), read_count(usage, written)
    if prompt is None or output is None:
        return None
    parts = inner_object(usage, read + "_details")
    # DeepSeek reports its cache beside the details, vLLM and others not at all.
    cached = read_count(parts, "cached_tokens") or read_count(usage, "prompt_cache_hit_tokens") or 0
    to_cache = read_count(parts, "cache_write_tokens") or read_count(parts, "cache_creation_tokens") or 0
    reasoning = read_count(inner_object(usage, written + "_details"), "reasoning_tokens") or 0
    return Usage(input=prompt, output=output, cached=cached, cache_write=to_cache, reasoning=reasoning)


class OpenAIShaped(Vendor):
    """The parts of a `Vendor` that are the same in both."""

    base_path = "/v1"
    end_marker = b"[DONE]"

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        """See `Vendor`."""
        del query
        return bearer(headers)

    def sign(self, key: str) -> dict[str, str]:
        """See `Vendor`."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def streams(self, body: JsonObject, route: Route) -> bool:
        """See `Vendor`."""
        del route
        return body.get("stream") is True

    def client_env(self, url: str, key: str) -> dict[str, str]:
        """See `Vendor`."""
        return {"OPENAI_BASE_URL": url, "OPENAI_API_BASE": url, "OPENAI_API_KEY": key}

    def models(self, names: list[str]) -> JsonObject:
        """See `Vendor`."""
        return {
            "object": "list",
            "data": [{"id": name, "object": "model", "created": 0, "owned_by": "repoassay"} for name in names],
        }

    def too_long(self, prompt: int, window: int) -> str:
        """See `Vendor`."""
        message = f"This model's maximum context length is {window} tokens. However, your messages resulted in "
        return message + f"{prompt} tokens."
