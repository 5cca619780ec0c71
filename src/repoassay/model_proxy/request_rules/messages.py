"""Anthropic messages: the client's tools and the trained ones it runs itself, content that lies in the request."""

from __future__ import annotations

from repoassay.model_proxy.request_rules.parts import JsonObject, Outside, client_tools, keep_fields, list_parts

__all__ = ["confine"]

_KNOWN = frozenset(
    {
        "model", "messages", "system", "max_tokens", "stream", "temperature", "top_p", "top_k", "stop_sequences",
        "tools", "tool_choice", "thinking", "metadata", "output_config", "output_format", "context_management",
        "cache_control",
    }
)  # fmt: skip
_ACTING = ("mcp_servers", "container")
_RUN_BY_CLIENT = ("bash_", "text_editor_", "computer_", "memory_")
_BLOCKS = frozenset(
    {
        "text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking", "search_result",
        "tool_reference",
    }
)  # fmt: skip
_SOURCES = frozenset({"base64", "text", "content"})


def confine(body: JsonObject) -> list[str]:
    """Take out, in place, what the vendor would act by; returns the names.

    Raises:
        Outside: The request may not be forwarded.
    """
    gone = keep_fields(body, _KNOWN, _ACTING)
    gone += client_tools(body, "tools", _client_runs)
    gone += _edits(body)
    blocks = [*list_parts(body.get("system"), "'system'"), *list_parts(body.get("tools"), "'tools'"), body]
    for message in list_parts(body.get("messages"), "'messages'"):
        blocks += _content(message.get("content"))
    shortened = [_short_cache(block) for block in blocks]  # all of them, not only the first
    if any(shortened):
        gone.append("cache_control.ttl")
    return gone


def _client_runs(tool: JsonObject) -> bool:
    kind = tool.get("type")
    return kind in {None, "custom"} or (isinstance(kind, str) and kind.startswith(_RUN_BY_CLIENT))


def _content(content: object) -> list[JsonObject]:
    """Every block, those within others too.

    Raises:
        Outside: One is nothing that lies in the request.
    """
    found = []
    for block in list_parts(content, "Content"):
        kind = block.get("type")
        if kind not in _BLOCKS:
            raise Outside(f"Content of the type {str(kind)[:60]!r}")
        found.append(block)
        source = block.get("source")
        if kind in {"image", "document"}:
            if not isinstance(source, dict) or source.get("type") not in _SOURCES:
                raise Outside(f"{'A picture' if kind == 'image' else 'A document'} by its address")
            if source["type"] == "content":
                found += _content(source.get("content"))
        if kind in {"tool_result", "search_result"}:
            found += _content(block.get("content"))
    return found


def _edits(body: JsonObject) -> list[str]:
    """Leave only edits that clear the context: a compaction is a second answer that the usage does not count."""
    management = body.get("context_management")
    if management is None:
        return []
    edits = list_parts(management.get("edits") if isinstance(management, dict) else [1], "'context_management'")
    kinds = [str(edit.get("type", "")) for edit in edits]
    kept = [edit for edit, kind in zip(edits, kinds, strict=True) if kind.startswith("clear_")]
    body["context_management"] = {"edits": kept}
    return [f"context_management.{kind}" for kind in kinds if not kind.startswith("clear_")]


def _short_cache(block: JsonObject) -> bool:
    """Whether a cache of an hour, which costs twice the prompt and is not told apart, became one of five minutes."""
    control = block.get("cache_control")
    return isinstance(control, dict) and control.pop("ttl", "5m") != "5m"
