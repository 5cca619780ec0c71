"""OpenAI chat completions and what speaks like it: function and custom tools, text, pictures in the request."""

from __future__ import annotations

from repoassay.model_proxy.request_rules.parts import (
    JsonObject,
    Outside,
    client_tools,
    inline,
    keep_fields,
    list_parts,
    whole_number,
)

__all__ = ["confine"]

_KNOWN = frozenset(
    {
        "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "stream",
        "stream_options", "temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "n", "stop",
        "seed", "random_seed", "presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "logprobs",
        "top_logprobs", "response_format", "reasoning", "reasoning_effort", "include_reasoning", "thinking",
        "verbosity", "usage", "user", "safety_identifier", "metadata", "store", "prompt_cache_key",
        "prompt_cache_retention", "cache_control", "chat_template_kwargs", "enable_thinking", "safe_prompt",
        "keep_alive", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs",
    }
)  # fmt: skip
_ACTING = ("web_search_options", "plugins", "search_parameters", "enable_search", "models", "mcp_servers", "audio")
_PARTS = frozenset({"text", "image_url", "refusal", "thinking", "redacted_thinking", "reasoning", "tool_result"})
_TOOLS = frozenset({"function", "custom"})


def confine(body: JsonObject) -> list[str]:
    """Take out, in place, what the vendor would act by; returns the names.

    Raises:
        Outside: The request may not be forwarded.
    """
    gone = keep_fields(body, _KNOWN, _ACTING)
    gone += client_tools(body, "tools", lambda tool: tool.get("type", "function") in _TOOLS)
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type", "function") not in {*_TOOLS, "allowed_tools", "auto"}:
        raise Outside(f"The tool choice {str(choice.get('type'))[:60]!r}")
    whole_number(body, "n")
    for message in list_parts(body.get("messages"), "'messages'"):
        _content(message.get("content"))
    return gone


def _content(content: object) -> None:
    for part in list_parts(content, "Content"):
        kind = part.get("type", "text")
        if kind not in _PARTS:
            raise Outside(f"Content of the type {str(kind)[:60]!r}")
        if "image_url" in part:
            picture = part["image_url"]
            inline(picture.get("url") if isinstance(picture, dict) else picture, "A picture")
        if kind == "tool_result":
            _content(part.get("content"))
