"""OpenAI responses: tools that the client runs, items that lie in the request, nothing stored and nothing fetched."""

from __future__ import annotations

from repoassay.model_proxy.request_rules.parts import JsonObject, Outside, client_tools, inline, keep_fields, list_parts

__all__ = ["confine"]

_KNOWN = frozenset(
    {
        "model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options",
        "temperature", "top_p", "top_logprobs", "max_output_tokens", "reasoning", "text", "truncation", "include",
        "store", "metadata", "client_metadata", "user", "safety_identifier", "prompt_cache_key",
        "prompt_cache_retention", "seed", "top_k", "repetition_penalty", "frequency_penalty",
        "presence_penalty",
    }
)  # fmt: skip
_ACTING = ("background", "previous_response_id", "conversation", "prompt", "plugins", "models")
_TOOLS = frozenset({"function", "custom", "local_shell", "apply_patch"})
_ITEMS = frozenset(
    {
        "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
        "local_shell_call", "local_shell_call_output", "shell_call", "shell_call_output", "apply_patch_call",
        "apply_patch_call_output", "tool_search_call", "tool_search_output", "compaction", "compaction_summary",
    }
)  # fmt: skip
_PARTS = frozenset({"input_text", "output_text", "text", "refusal", "summary_text", "reasoning_text", "input_image"})


def confine(body: JsonObject) -> list[str]:
    """Take out, in place, what the vendor would act by; returns the names.

    Raises:
        Outside: The request may not be forwarded.
    """
    gone = keep_fields(body, _KNOWN, _ACTING)
    gone += client_tools(body, "tools", _client_runs)
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") not in {*_TOOLS, "shell", "allowed_tools"}:
        raise Outside(f"The tool choice {str(choice.get('type'))[:60]!r}")
    for item in list_parts(body.get("input"), "'input'"):
        _item(item)
    return gone


def _client_runs(tool: JsonObject) -> bool:
    kind = tool.get("type")
    if kind == "namespace":  # a group of tools under one name, as Codex offers them
        client_tools(tool, "tools", _client_runs)
        return True
    if kind == "tool_search":
        return tool.get("execution") == "client"
    if kind == "shell":  # without this word the vendor may run it in a container of its own
        environment = tool.get("environment")
        return isinstance(environment, dict) and environment.get("type") == "local"
    return kind in _TOOLS


def _item(item: JsonObject) -> None:
    kind = item.get("type", "message" if "role" in item else "")
    if kind not in _ITEMS:
        raise Outside(f"An input item of the type {str(kind)[:60]!r}")
    for name in ("content", "output"):
        for part in list_parts(item.get(name), f"{name!r}"):
            _part(part, shell=kind in {"shell_call_output"})


def _part(part: JsonObject, *, shell: bool) -> None:
    kind = part.get("type", "text" if shell else "")
    if kind not in _PARTS:
        raise Outside(f"Content of the type {str(kind)[:60]!r}")
    if part.get("file_id"):
        raise Outside("A stored file")
    if kind == "input_image" or "image_url" in part:
        inline(part.get("image_url"), "A picture")
