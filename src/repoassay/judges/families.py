"""Which vendor a model comes from, so that a judge of its own kin can be flagged."""

from __future__ import annotations

import re

__all__ = ["family"]

_FAMILIES = (
    ("openai", r"gpt|chatgpt|codex|davinci|o[1345](?![a-z0-9])"),
    ("anthropic", r"claude"),
    ("google", r"gemini|gemma|palm"),
    ("deepseek", r"deepseek"),
    ("mistral", r"(?:mi|code|dev|magi|mini|pix)stral|mixtral"),
    ("alibaba", r"qwen|qwq"),
    ("meta", r"llama"),
    ("moonshot", r"kimi|moonshot"),
    ("zhipu", r"glm|chatglm"),
    ("xai", r"grok"),
    ("microsoft", r"phi(?![a-z])"),
    ("cohere", r"command-r|command-a|aya(?![a-z])"),
    ("minimax", r"minimax"),
    ("amazon", r"nova(?![a-z])|titan"),
)
_KNOWN = tuple((name, re.compile(rf"(?<![a-z0-9])(?:{pattern})")) for name, pattern in _FAMILIES)
_VENDORS = {name for name, _ in _FAMILIES} | {"gemini", "qwen", "meta-llama", "x-ai"}
_SAME = {"gemini": "google", "qwen": "alibaba", "meta-llama": "meta", "x-ai": "xai"}


def family(model: str) -> str:
    """Return the vendor of a model named as `provider/name`, `router/vendor/name` or `name`; empty where not known.

    The name counts before the provider: a server may offer anybody's models. Of a distilled model named after two
    vendors it is the first named.
    """
    text = model.lower()[:300]
    found = min(((match.start(), name) for name, known in _KNOWN if (match := known.search(text))), default=None)
    if found is not None:
        return found[1]
    vendor = next((part for part in text.split("/")[:-1] if part in _VENDORS), "")
    return _SAME.get(vendor, vendor)
