"""Gemini's generateContent: the format of the Gemini CLI. Calls come positive, and need not have an id."""

from __future__ import annotations

import copy
import json
from typing import Any

from repoassay.model_proxy.request_rules.gemini import one_spelling
from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.translation.format import (
    Format,
    PieceReader,
    PieceWriter,
    Upstreams,
    note_unknown,
    number,
    object_of,
    objects,
    positive,
    string,
    texts,
)  # fmt: skip
from repoassay.model_proxy.translation.gemini_stream import (
    GEMINI_WORDS,
    GeminiReader,
    GeminiWriter,
    gemini_call,
)
from repoassay.model_proxy.translation.neutral import (
    Answer,
    CallBegins,
    CallGoesOn,
    CallPart,
    Conversation,
    ConversationTurn,
    ImagePart,
    OfferedTool,
    Part,
    ResultPart,
    TextPart,
    ThinkingPart,
    Untranslatable,
    new_id,
)  # fmt: skip
from repoassay.model_proxy.vendors.gemini import gemini_answer, gemini_usage

__all__ = ["GeminiFormat"]

_SAID = frozenset(
    {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "labels", "model"}
)
_SETTINGS = frozenset(
    {
        "maxOutputTokens", "temperature", "topP", "stopSequences", "candidateCount", "thinkingConfig",
        "responseMimeType", "responseSchema", "responseJsonSchema", "responseModalities",
    }
)  # fmt: skip
_MODES = {"AUTO": "auto", "ANY": "required", "NONE": "none"}
_UNSIGNED = "skip_thought_signature_validator"
"""What Google wants in place of a thought's signature for calls that its model did not make."""


class GeminiFormat(Format):
    """See `Format`. A request is read after its fields were given one spelling."""

    name = "gemini"

    def parse(self, body: JsonObject) -> Conversation:
        """See `Format`."""
        settings = object_of(body.get("generationConfig"))
        if settings.get("candidateCount") not in (None, 1):
            raise Untranslatable("More than one answer at once ('candidateCount') cannot be asked of this upstream.")
        thinking = object_of(settings.get("thinkingConfig"))
        one_spelling(thinking)
        prompt = Conversation(
            limit=positive(settings.get("maxOutputTokens")), temperature=number(settings.get("temperature")),
            top_p=number(settings.get("topP")), stop=texts(settings.get("stopSequences")),
            shows_thinking=thinking.get("includeThoughts") is True,
            effort=string(thinking.get("thinkingLevel")).lower() or ("medium" if thinking.get("thinkingBudget") else "")
        )  # fmt: skip
        system = body.get("systemInstruction")
        for part in _listed(system.get("parts") if isinstance(system, dict) else []):
            prompt.say("system", TextPart(string(part.get("text"))))
        for content in _listed(body.get("contents")):
            role = "assistant" if content.get("role") == "model" else "user"
            prompt.say(role, *_parts(prompt, _listed(content.get("parts"))))
        for tool in objects(body.get("tools"), "'tools'"):
            for function in objects(tool.get("functionDeclarations"), "'functionDeclarations'"):
                one_spelling(function)
                schema = object_of(function.get("parametersJsonSchema")) or _plain(
                    object_of(function.get("parameters"))
                )
                schema = schema or {"type": "object", "properties": {}}
                prompt.tools.append(
                    OfferedTool(string(function.get("name")), string(function.get("description")), schema)
                )
        chosen = object_of(body.get("toolConfig"))
        one_spelling(chosen)
        config = object_of(chosen.get("functionCallingConfig"))
        one_spelling(config)
        prompt.choice = _MODES.get(string(config.get("mode")), "")
        allowed = texts(config.get("allowedFunctionNames"))
        if len(allowed) == 1 and prompt.choice == "required":
            prompt.choice = f"={allowed[0]}"
        elif allowed:
            prompt.tools = [tool for tool in prompt.tools if tool.name in allowed]
        if settings.get("responseMimeType") == "application/json":
            schema = object_of(settings.get("responseJsonSchema")) or _plain(object_of(settings.get("responseSchema")))
            prompt.answer_schema = schema
        note_unknown(prompt, body, _SAID)
        note_unknown(prompt, settings, _SETTINGS)
        return prompt

    def compose(self, prompt: Conversation, how: Upstreams) -> JsonObject:
        """See `Format`."""
        contents = [
            {"role": "model" if turn.role == "assistant" else "user", "parts": parts}
            for turn in prompt.turns
            if (parts := _parts_of(prompt, turn))
        ]
        body: JsonObject = {"contents": contents}
        if prompt.system:
            body["systemInstruction"] = {"parts": [{"text": prompt.system}]}
        if prompt.tools:
            body["tools"] = [{"functionDeclarations": [
                {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema}
                for tool in prompt.tools
            ]}]  # fmt: skip
            if prompt.choice:
                modes = {word: mode for mode, word in _MODES.items()}
                config: JsonObject = {"mode": modes.get(prompt.choice, "ANY")}
                if prompt.choice.startswith("="):
                    config["allowedFunctionNames"] = [prompt.choice[1:]]
                body["toolConfig"] = {"functionCallingConfig": config}
        fields = {"maxOutputTokens": prompt.limit, "temperature": prompt.temperature, "topP": prompt.top_p,
                  "stopSequences": prompt.stop or None}  # fmt: skip
        settings: JsonObject = {name: value for name, value in fields.items() if value is not None}
        if prompt.answer_schema is not None:
            settings["responseMimeType"] = "application/json"
            if prompt.answer_schema:
                settings["responseJsonSchema"] = prompt.answer_schema
        if prompt.effort and how.reasoning:
            settings["thinkingConfig"] = {"thinkingLevel": prompt.effort.upper()}
        elif prompt.effort:
            prompt.drop("reasoning")
        if prompt.parallel is False:
            prompt.drop("parallel_tool_calls")
        return {**body, "generationConfig": settings} if settings else body

    def read(self, answer: JsonObject) -> Answer:
        """See `Format`."""
        reader = GeminiReader()
        pieces = reader.read(answer)
        calls = []
        for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
            if isinstance(piece, CallBegins) and isinstance(following, CallGoesOn):
                calls.append(CallPart(piece.id, piece.name, following.text))
        return Answer(
            model=string(answer.get("modelVersion")), calls=tuple(calls), reason=reader.reason,
            thinking="".join(piece.text for piece in pieces if isinstance(piece, ThinkingPart)),
            text="".join(piece.text for piece in pieces if isinstance(piece, TextPart)),
        )  # fmt: skip

    def write(self, answer: Answer, prompt: Conversation) -> JsonObject:
        """See `Format`."""
        parts: list[JsonObject] = [{"text": answer.thinking, "thought": True}] if answer.thinking else []
        if answer.text or not answer.calls:
            parts.append({"text": answer.text})
        parts += [gemini_call(call) for call in answer.calls]
        usage = None if answer.usage is None else gemini_usage(answer.usage)
        return gemini_answer(parts, GEMINI_WORDS[answer.reason], usage, prompt.model, answer.id)

    def reader(self) -> PieceReader:
        """See `Format`."""
        return GeminiReader()

    def writer(self, prompt: Conversation) -> PieceWriter:
        """See `Format`."""
        return GeminiWriter(prompt)


def _listed(value: object) -> list[JsonObject]:
    """Google reads one object, or one string, where a list of them belongs."""
    listed = value if isinstance(value, list) else [] if value is None else [value]
    return objects(
        [{"text": one, "parts": [{"text": one}]} if isinstance(one, str) else one for one in listed], "A list"
    )


def _parts(prompt: Conversation, parts: list[JsonObject]) -> list[Part]:
    """The parts of one turn; a result without an id is that of the oldest unanswered call of its name."""
    found: list[Part] = []
    for part in parts:
        call, result = object_of(part.get("functionCall")), object_of(part.get("functionResponse"))
        inline = object_of(part.get("inlineData"))
        if call:
            call_id = string(call.get("id")) or f"call_{len(prompt.history_calls) + len(found) + 1}"
            arguments = json.dumps(object_of(call.get("args")), ensure_ascii=False)
            found.append(CallPart(call_id, string(call.get("name")), arguments))
        elif result:
            found.append(_result(prompt, result))
        elif inline:
            kind = string(inline.get("mimeType"))
            if not kind.startswith("image/"):
                raise Untranslatable(f"Data of the type {kind[:40]!r} cannot be said in the upstream's dialect.")
            found.append(ImagePart(kind, string(inline.get("data"))))
        elif text := string(part.get("text")):
            found.append(ThinkingPart(text) if part.get("thought") is True else TextPart(text))
    return found


def _result(prompt: Conversation, result: JsonObject) -> ResultPart:
    name, call_id = string(result.get("name")), string(result.get("id"))
    if call_id not in prompt.history_calls:
        call_id = prompt.unanswered(name) or call_id or f"call_{new_id()}"
    prompt.answered.add(call_id)
    response = object_of(result.get("response"))
    only = (
        next(iter(response.values()), "")
        if len(response) == 1 and set(response) <= {"output", "result", "error"}
        else response
    )
    seen: list[TextPart | ImagePart] = [
        TextPart(only if isinstance(only, str) else json.dumps(only, ensure_ascii=False))
    ]
    for part in objects(result.get("parts"), "'parts'"):
        inline = object_of(part.get("inlineData"))
        seen.append(ImagePart(string(inline.get("mimeType")), string(inline.get("data"))))
    return ResultPart(call_id, name, tuple(seen), failed="error" in response)


def _parts_of(prompt: Conversation, turn: ConversationTurn) -> list[JsonObject]:
    parts: list[JsonObject] = []
    signature = {"thoughtSignature": _UNSIGNED}  # one a turn, at its first call
    for part in turn.parts:
        if isinstance(part, TextPart):
            parts.append({"text": part.text})
        elif isinstance(part, ImagePart):
            parts.append({"inlineData": {"mimeType": part.media_type, "data": part.data}})
        elif isinstance(part, CallPart):
            parts.append(gemini_call(part) | signature)
            signature = {}
        elif isinstance(part, ResultPart):
            name = part.name or prompt.history_calls.get(part.id, "")
            response = {"error" if part.failed else "output": part.text}
            parts.append({"functionResponse": {"id": part.id, "name": name, "response": response}})
            parts += [{"inlineData": {"mimeType": one.media_type, "data": one.data}} for one in part.images]
        else:
            prompt.drop("earlier thinking")
    return parts


def _plain(schema: JsonObject) -> JsonObject:
    """A schema of Google's own kind as JSON schema: its types are in capitals."""

    def lowered(value: Any) -> Any:
        if isinstance(value, list):
            return [lowered(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {
            name: inner.lower() if name == "type" and isinstance(inner, str) else lowered(inner)
            for name, inner in value.items()
        }

    found: JsonObject = lowered(copy.deepcopy(schema))
    return found
