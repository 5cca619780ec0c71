"""What the four dialects' rules share: fields on a list, tools the client runs, content and headers of the request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

__all__ = [
    "JsonObject",
    "Outside",
    "client_tools",
    "inline",
    "keep_fields",
    "list_parts",
    "name_of",
    "passed_on",
    "whole_number",
]


JsonObject = dict[str, Any]
"""An object of a request or an answer, as JSON has it."""


class Outside(Exception):
    """The request may not be forwarded; its text is the sentence the agent is told."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not available here: this attempt may reach its model alone.")


def keep_fields(body: JsonObject, known: Collection[str], acting: Collection[str]) -> list[str]:
    """Take out every field that is not `known`; returns their names. What is null says nothing.

    Raises:
        Outside: One of `acting` is set: without it the answer would mean something else.
    """
    for name in acting:
        if body.get(name):
            raise Outside(f"{name!r}")
    gone = [name for name in body if name not in known]
    named = [name for name in gone if body[name] is not None and name not in acting]
    for name in gone:
        del body[name]
    return named


def client_tools(body: JsonObject, name: str, ours: Callable[[JsonObject], bool]) -> list[str]:
    """Take out the tools that the vendor would run; returns their names.

    Raises:
        Outside: No tool is left of those offered, or the field is no list of objects.
    """
    tools = body.get(name)
    if tools is None:
        body.pop(name, None)
        return []
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise Outside(f"{name!r} that is not a list of tools")
    kept, gone = [], []
    for tool in tools:
        if ours(tool):
            kept.append(tool)
        else:
            gone.append(name_of(tool))
    if gone and not kept:
        raise Outside(f"The vendor's own tool {gone[0]!r}")
    body[name] = kept
    return gone


def name_of(tool: JsonObject) -> str:
    """How a tool is called in a sentence: its type, else its first key."""
    return str(tool.get("type") or next(iter(tool), "unnamed"))[:60]


def list_parts(value: object, what: str) -> list[JsonObject]:
    """A list of objects, of which plain strings are left out; empty for a string or nothing.

    Raises:
        Outside: It is something else, which a vendor may read in its own way.
    """
    if value is None or isinstance(value, str):
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict | str) for one in value):
        raise Outside(f"{what} that is not a list of objects")
    return [one for one in value if isinstance(one, dict)]


def inline(value: object, what: str) -> None:
    """Make sure that a picture or file lies in the request.

    Raises:
        Outside: It is an address the vendor would fetch.
    """
    if not isinstance(value, str) or not value.startswith("data:"):
        raise Outside(f"{what} by its address")


def whole_number(body: JsonObject, name: str, most: int = 128) -> int:
    """A count as a request says it, 1 when it does not.

    Raises:
        Outside: It is no whole number between 1 and `most`.
    """
    value: Any = body.get(name)
    if value is None:
        return 1
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Outside(f"{name!r} other than a whole number from 1 to {most}")
    return value


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
