"""What OpenAI's two dialects share: key, model, streaming, errors and the list of models."""

from __future__ import annotations

from collections.abc import Mapping

from repoassay.gateway.dialects.protocol import JsonObject, Refusal, Route, Trouble

__all__ = ["OpenAIShaped", "bearer", "refuse_as_openai"]

_NEVER_AGAIN = {"x-should-retry": "false"}  # read by OpenAI's and Anthropic's own clients

_SHAPES: dict[Trouble, tuple[int, str, str | None]] = {
    Trouble.NOT_FOUND: (404, "invalid_request_error", "unknown_url"),
    Trouble.NO_PASS: (401, "invalid_request_error", "invalid_api_key"),
    Trouble.BAD_REQUEST: (400, "invalid_request_error", None),
    Trouble.OUTSIDE: (400, "invalid_request_error", "unsupported_value"),
    Trouble.TOO_LARGE: (413, "invalid_request_error", "request_too_large"),
    Trouble.BUSY: (429, "requests", "rate_limit_exceeded"),
    Trouble.CONTEXT: (400, "invalid_request_error", "context_length_exceeded"),
    Trouble.UPSTREAM: (502, "server_error", "bad_gateway"),
    Trouble.SILENCE: (504, "server_error", "timeout"),
}


def bearer(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    """The token of an `Authorization: Bearer` header."""
    del query
    kind, _, token = headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def refuse_as_openai(trouble: Trouble, message: str, budget: tuple[int, str, str]) -> Refusal:
    """Word an error as OpenAI does; `budget` is the status, type and code of an exhausted budget."""
    status, kind, code = budget if trouble is Trouble.BUDGET else _SHAPES[trouble]
    param = {Trouble.CONTEXT: "messages"}.get(trouble)
    error = {"message": message, "type": kind, "param": param, "code": code}
    return Refusal(status, {"error": error}, {} if trouble is Trouble.BUSY else _NEVER_AGAIN)


class OpenAIShaped:
    """The parts of a `Dialect` that are the same in both."""

    end_marker = b"[DONE]"

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        """See `Dialect`."""
        return bearer(headers, query)

    def sign(self, key: str) -> dict[str, str]:
        """See `Dialect`; no header without a key, as local servers want it."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def change(self, body: JsonObject, route: Route, model: str) -> bool:
        """See `Dialect`."""
        del route
        changed = body.get("model") != model
        body["model"] = model
        return changed

    def streams(self, body: JsonObject, route: Route) -> bool:
        """See `Dialect`."""
        del route
        return body.get("stream") is True

    def models(self, names: list[str]) -> JsonObject:
        """See `Dialect`."""
        return {
            "object": "list",
            "data": [{"id": name, "object": "model", "created": 0, "owned_by": "repoassay"} for name in names],
        }
