"""The agent's headers that the upstream is shown: those that name a client or a format, and harmless beta features."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["passed_on"]

_NAMES = frozenset(
    {
        "accept", "content-type", "user-agent", "originator", "session_id", "conversation_id", "version",
        "anthropic-version", "anthropic-dangerous-direct-browser-access", "x-goog-api-client",
    }
)  # fmt: skip
_PREFIXES = ("x-stainless-",)
_BETAS = {
    "anthropic-beta": (
        "claude-code-", "interleaved-thinking-", "adaptive-thinking-", "redact-thinking-", "dev-full-thinking-",
        "fine-grained-tool-streaming-", "token-efficient-tools-", "tool-examples-", "advanced-tool-use-",
        "structured-outputs-", "effort-", "prompt-caching-", "context-management-", "context-1m-", "output-128k-",
        "max-tokens-", "computer-use-", "pdfs-", "token-counting-",
    ),
    "openai-beta": ("responses=",),
}  # fmt: skip
"""Beginnings of features that change how a model answers, never where it looks or what it runs."""
_OPEN = ("anthropic-", "openai-beta")


def passed_on(headers: Mapping[str, str], *, closed: bool) -> dict[str, str]:
    """What of `headers` goes to the upstream. `closed`: the attempt may reach its model alone."""
    kept = {}
    for name, value in ((name.lower(), value) for name, value in headers.items()):
        if name in _NAMES or name.startswith(_PREFIXES) or (not closed and name.startswith(_OPEN)):
            kept[name] = value
        elif name in _BETAS and (features := _harmless(value, _BETAS[name])):
            kept[name] = features
    return {**kept, "content-type": "application/json"}


def _harmless(value: str, known: tuple[str, ...]) -> str:
    return ",".join(part for text in value.split(",") if (part := text.strip()).startswith(known))
