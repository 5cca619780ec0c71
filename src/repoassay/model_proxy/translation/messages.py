"""Anthropic messages: the format of Claude Code."""

from __future__ import annotations

import json
import re

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.translation.format import (
    Format,
    PieceReader,
    PieceWriter,
    Upstreams,
    arguments_text,
    note_unknown,
    number,
    object_of,
    objects,
    positive,
    string,
    texts,
)  # fmt: skip
from repoassay.model_proxy.translation.messages_stream import (
    MESSAGES_REASONS,
    MESSAGES_WORDS,
    MessagesReader,
    MessagesWriter,
)
from repoassay.model_proxy.translation.neutral import (
    Answer,
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
)  # fmt: skip
from repoassay.model_proxy.vendors.messages import message_head, messages_usage
from repoassay.model_proxy.vendors.parts import arguments
from repoassay.types import Usage

__all__ = ["UNSAID_LIMIT", "MessagesFormat"]

UNSAID_LIMIT = 32_000
"""Most tokens of output where the agent's dialect need not say it and this one must."""
_SAID = frozenset(
    {
        "model", "messages", "system", "max_tokens", "stream", "temperature", "top_p", "stop_sequences", "tools",
        "tool_choice", "thinking", "output_config", "output_format", "metadata", "cache_control",
    }
)  # fmt: skip
_EFFORTS = ((4_000, "low"), (16_000, "medium"))
_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")


class MessagesFormat(Format):
    """See `Format`."""

    name = "messages"

    def parse(self, body: JsonObject) -> Conversation:
        """See `Format`."""
        thinking, output = object_of(body.get("thinking")), object_of(body.get("output_config"))
        thinks = thinking.get("type") in {"enabled", "adaptive"}
        prompt = Conversation(
            stream=body.get("stream") is True, model=string(body.get("model")), limit=positive(body.get("max_tokens")),
            temperature=number(body.get("temperature")), top_p=number(body.get("top_p")),
            stop=texts(body.get("stop_sequences")), shows_thinking=thinks,
            effort=string(output.get("effort")) or (_effort(positive(thinking.get("budget_tokens"))) if thinks else ""),
        )  # fmt: skip
        system = body.get("system")
        if system:
            blocks = [system] if isinstance(system, str) else [
                string(block.get("text")) for block in objects(system, "'system'")
            ]  # fmt: skip
            prompt.say("system", *map(TextPart, filter(None, blocks)))
        for message in objects(body.get("messages"), "'messages'"):
            prompt.say(string(message.get("role")), *_parts(prompt, message.get("content")))
        for tool in objects(body.get("tools"), "'tools'"):
            if tool.get("type", "custom") != "custom":
                raise Untranslatable(f"The tool {str(tool.get('type'))[:40]!r} is known to Anthropic's models alone.")
            schema = object_of(tool.get("input_schema"))
            prompt.tools.append(OfferedTool(string(tool.get("name")), string(tool.get("description")), schema))
        choice = object_of(body.get("tool_choice"))
        kinds = {"auto": "auto", "any": "required", "none": "none", "tool": f"={string(choice.get('name'))}"}
        prompt.choice = kinds.get(string(choice.get("type")), "")
        if choice.get("disable_parallel_tool_use") is True:
            prompt.parallel = False
        shape = object_of(output.get("format")) or object_of(body.get("output_format"))
        prompt.answer_schema = object_of(shape.get("schema")) if shape.get("type") == "json_schema" else None
        note_unknown(prompt, body, _SAID)
        return prompt

    def compose(self, prompt: Conversation, how: Upstreams) -> JsonObject:
        """See `Format`. ThinkingPart of others has no signature here, so that none is passed on."""
        body: JsonObject = {
            "max_tokens": prompt.limit or UNSAID_LIMIT, "stream": prompt.stream,
            "messages": [{"role": turn.role, "content": blocks} for turn in prompt.turns if (blocks := _blocks(turn))],
        }  # fmt: skip
        if any(isinstance(part, ThinkingPart) for turn in prompt.turns for part in turn.parts):
            prompt.drop("earlier thinking")
        if prompt.system:
            body["system"] = prompt.system
        if prompt.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description,
                 "input_schema": {"type": "object", "properties": {}, **tool.schema}}
                for tool in prompt.tools
            ]  # fmt: skip
            kinds = {"auto": "auto", "required": "any", "none": "none"}
            choice: JsonObject = {"type": kinds.get(prompt.choice, "auto")}
            if prompt.choice.startswith("="):
                choice = {"type": "tool", "name": prompt.choice[1:]}
            if prompt.parallel is False and choice["type"] != "none":
                choice["disable_parallel_tool_use"] = True
            if prompt.choice or prompt.parallel is False:
                body["tool_choice"] = choice
        if prompt.stop:
            body["stop_sequences"] = prompt.stop
        fields = {"temperature": prompt.temperature, "top_p": prompt.top_p}
        body.update({name: value for name, value in fields.items() if value is not None})
        output: JsonObject = {}
        if prompt.answer_schema:
            output["format"] = {"type": "json_schema", "schema": prompt.answer_schema}
        elif prompt.answer_schema is not None:
            prompt.drop("response_format")
        if prompt.effort and how.reasoning:
            output["effort"] = prompt.effort
        elif prompt.effort:
            prompt.drop("reasoning")
        return {**body, "output_config": output} if output else body

    def read(self, answer: JsonObject) -> Answer:
        """See `Format`."""
        blocks = objects(answer.get("content"), "'content'")
        calls = tuple(
            CallPart(string(block.get("id")), string(block.get("name")), arguments_text(block.get("input") or {}))
            for block in blocks
            if block.get("type") == "tool_use"
        )
        return Answer(
            model=string(answer.get("model")), calls=calls,
            thinking="".join(string(block.get("thinking")) for block in blocks if block.get("type") == "thinking"),
            text="".join(string(block.get("text")) for block in blocks if block.get("type") == "text"),
            reason=MESSAGES_REASONS.get(string(answer.get("stop_reason")), "stop"),
        )  # fmt: skip

    def write(self, answer: Answer, prompt: Conversation) -> JsonObject:
        """See `Format`."""
        blocks: list[JsonObject] = []
        if answer.thinking and prompt.shows_thinking:
            blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": ""})
        if answer.text or not answer.calls:
            blocks.append({"type": "text", "text": answer.text})
        blocks += [_tool_use(call) for call in answer.calls]
        ends = {"stop_reason": MESSAGES_WORDS[answer.reason], "usage": messages_usage(answer.usage or Usage())}
        return {**message_head(f"msg_{answer.id}", prompt.model), "content": blocks, **ends}

    def reader(self) -> PieceReader:
        """See `Format`."""
        return MessagesReader()

    def writer(self, prompt: Conversation) -> PieceWriter:
        """See `Format`."""
        return MessagesWriter(prompt)


def _effort(budget: int | None) -> str:
    return next((word for most, word in _EFFORTS if (budget or 0) <= most), "high") if budget else "medium"


def _tool_use(call: CallPart) -> JsonObject:
    call_id = _NOT_IN_IDS.sub("_", call.id)
    return {"type": "tool_use", "id": call_id, "name": call.name, "input": arguments(call.arguments)}


def _parts(prompt: Conversation, content: object) -> list[Part]:
    """The parts of a message; results of tools first, since that is where every dialect wants them."""
    results: list[Part] = []
    others: list[Part] = []
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else objects(content, "'content'"):
        match block.get("type"):
            case "tool_use":
                name, call_arguments = (
                    string(block.get("name")),
                    json.dumps(object_of(block.get("input")), ensure_ascii=False),
                )
                others.append(CallPart(string(block.get("id")), name, call_arguments))
            case "tool_result":
                call_id = string(block.get("tool_use_id"))
                seen = tuple(
                    part
                    for part in _parts(prompt, block.get("content") or "")
                    if isinstance(part, TextPart | ImagePart)
                )
                name = prompt.history_calls.get(call_id, "")
                results.append(ResultPart(call_id, name, seen, failed=block.get("is_error") is True))
            case "thinking":
                others.append(ThinkingPart(string(block.get("thinking"))))
            case kind:
                others += _content(prompt, block, str(kind))
    return results + others


def _content(prompt: Conversation, block: JsonObject, kind: str) -> list[Part]:
    source = object_of(block.get("source"))
    if kind == "text":
        return [TextPart(text)] if (text := string(block.get("text"))) else []
    if kind == "image" and source.get("type") == "base64":
        return [ImagePart(string(source.get("media_type")), string(source.get("data")))]
    if kind == "document" and source.get("type") == "text":
        return [TextPart(string(source.get("data")))]
    if kind in {"document", "image"}:
        raise Untranslatable(f"A {kind} of this kind cannot be said in the upstream's dialect.")
    if kind == "search_result":
        return [TextPart(string(part.get("text"))) for part in objects(block.get("content"), "'content'")]
    prompt.drop(f"content of the type {kind[:40]}")
    return []


def _blocks(turn: ConversationTurn) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    for part in turn.parts:
        if isinstance(part, ResultPart):
            call_id = _NOT_IN_IDS.sub("_", part.id)
            block = {"type": "tool_result", "tool_use_id": call_id, "content": [_block(one) for one in part.parts]}
            blocks.append({**block, "is_error": True} if part.failed else block)
        elif isinstance(part, CallPart):
            blocks.append(_tool_use(part))
        elif isinstance(part, TextPart | ImagePart):
            blocks.append(_block(part))
    return sorted(blocks, key=lambda block: block["type"] != "tool_result")


def _block(part: TextPart | ImagePart) -> JsonObject:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": part.data}}
