"""Gemini: function declarations, parts that lie in the request, answers in text, and one spelling for every field."""

from __future__ import annotations

import re

from repoassay.model_proxy.request_rules.parts import (
    JsonObject,
    Outside,
    client_tools,
    keep_fields,
    list_parts,
    whole_number,
)

__all__ = ["confine", "one_spelling"]

_KNOWN = frozenset(
    {
        "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "labels",
        "model", "generateContentRequest",
    }
)  # fmt: skip
_ACTING = ("cachedContent",)
_PARTS = frozenset(
    {
        "text", "inlineData", "functionCall", "functionResponse", "thought", "thoughtSignature", "videoMetadata",
        "mediaResolution", "partMetadata",
    }
)  # fmt: skip
_SNAKE = re.compile(r"_([a-z0-9])")


def confine(body: JsonObject) -> list[str]:
    """Take out, in place, what the vendor would act by; returns the names.

    Raises:
        Outside: The request may not be forwarded.
    """
    one_spelling(body)
    inner = body.get("generateContentRequest")
    if inner is not None:  # countTokens may wrap a whole request
        if not isinstance(inner, dict):
            raise Outside("'generateContentRequest' that is no request")
        confine(inner)
    gone = keep_fields(body, _KNOWN, _ACTING)
    for tool in list_parts(body.get("tools"), "'tools'"):
        one_spelling(tool)
        if "functionDeclarations" in tool:  # one object may offer ours and the vendor's together
            others = [name for name in tool if name != "functionDeclarations"]
            gone += others
            for name in others:
                del tool[name]
    gone += client_tools(body, "tools", lambda tool: "functionDeclarations" in tool)
    _settings(body)
    contents = body.get("contents")
    whole = contents if isinstance(contents, list) else [contents] if contents is not None else []
    for content in [
        *list_parts(whole, "'contents'"),
        *list_parts([body.get("systemInstruction") or {}], "'systemInstruction'"),
    ]:
        parts = content.get("parts")
        for part in list_parts(parts if isinstance(parts, list) else [parts] if parts is not None else [], "'parts'"):
            _part(part)
    return gone


def _settings(body: JsonObject) -> None:
    settings = body.get("generationConfig")
    if settings is None:
        return
    if not isinstance(settings, dict):
        raise Outside("'generationConfig' that is no object")
    one_spelling(settings)
    whole_number(settings, "candidateCount")
    kinds = settings.get("responseModalities") or []
    if kinds not in ([], ["TEXT"], ["Text"], ["text"]):
        raise Outside("An answer that is not text")


def _part(part: JsonObject) -> None:
    one_spelling(part)
    for name in part:
        if name not in _PARTS:
            raise Outside(f"A part with {name[:60]!r}")
    answer = part.get("functionResponse")
    if isinstance(answer, dict):
        for inner in list_parts(answer.get("parts"), "'parts'"):
            _part(inner)


def one_spelling(record: JsonObject) -> None:
    """Write names in camel case alone: Google reads both spellings, and must not be told two things.

    Raises:
        Outside: A field stands there twice.
    """
    for name in [name for name in record if "_" in name]:
        camel = _SNAKE.sub(lambda found: found[1].upper(), name)
        if camel in record:
            raise Outside(f"{camel!r} given twice")
        record[camel] = record.pop(name)
