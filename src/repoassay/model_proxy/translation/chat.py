"""Chat completions: the format of vLLM, Ollama, llama.cpp, OpenRouter and most others.

ThinkingPart comes as `reasoning_content` (DeepSeek, vLLM, llama.cpp) or `reasoning` (OpenRouter, Ollama).
"""

from __future__ import annotations

from typing import Any

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.translation.chat_stream import CHAT_REASONS, CHAT_WORDS, ChatReader, ChatWriter
from repoassay.model_proxy.translation.format import (
    Format,
    PieceReader,
    PieceWriter,
    Upstreams,
    arguments_text,
    data_url,
    note_unknown,
    number,
    object_of,
    objects,
    positive,
    string,
    texts,
)  # fmt: skip
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
    new_id,
)  # fmt: skip
from repoassay.model_proxy.vendors.chat import chat_usage

__all__ = ["ChatFormat"]

_SAID = frozenset(
    {
        "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options", "temperature",
        "top_p", "max_tokens", "max_completion_tokens", "n", "stop", "response_format", "reasoning_effort", "user",
        "metadata", "store", "prompt_cache_key", "safety_identifier",
    }
)  # fmt: skip


class ChatFormat(Format):
    """See `Format`."""

    name = "chat"

    def parse(self, body: JsonObject) -> Conversation:
        """See `Format`."""
        if body.get("n") not in (None, 1):
            raise Untranslatable("More than one answer at once ('n') cannot be asked of this upstream.")
        options = object_of(body.get("stream_options"))
        prompt = Conversation(
            stream=body.get("stream") is True, model=string(body.get("model")), stop=texts(body.get("stop")),
            limit=positive(body.get("max_completion_tokens")) or positive(body.get("max_tokens")),
            temperature=number(body.get("temperature")), top_p=number(body.get("top_p")),
            effort=string(body.get("reasoning_effort")), shows_usage=options.get("include_usage") is True,
        )  # fmt: skip
        if isinstance(body.get("parallel_tool_calls"), bool):
            prompt.parallel = body["parallel_tool_calls"]
        for message in objects(body.get("messages"), "'messages'"):
            _hear(prompt, message)
        for tool in objects(body.get("tools"), "'tools'"):
            _offer(prompt, tool)
        choice = body.get("tool_choice")
        prompt.choice = string(choice) or _chosen(object_of(choice))
        shape = object_of(body.get("response_format"))
        if shape.get("type") in {"json_object", "json_schema"}:
            prompt.answer_schema = object_of(object_of(shape.get("json_schema")).get("schema"))
        note_unknown(prompt, body, _SAID)
        return prompt

    def compose(self, prompt: Conversation, how: Upstreams) -> JsonObject:
        """See `Format`."""
        messages: list[JsonObject] = [{"role": "system", "content": prompt.system}] if prompt.system else []
        for turn in prompt.turns:
            messages += _answered(prompt, turn, how) if turn.role == "assistant" else _user_messages(turn)
        body: JsonObject = {"messages": messages, "stream": prompt.stream}
        if prompt.tools:
            body["tools"] = [
                {"type": "function", "function": {
                    "name": tool.name, "description": tool.description, "parameters": tool.schema}}
                for tool in prompt.tools
            ]  # fmt: skip
            if prompt.choice:
                name = prompt.choice.partition("=")[2]
                body["tool_choice"] = {"type": "function", "function": {"name": name}} if name else prompt.choice
            if prompt.parallel is not None:
                body["parallel_tool_calls"] = prompt.parallel
        fields = {how.output_field: prompt.limit, "temperature": prompt.temperature, "top_p": prompt.top_p,
                  "stop": prompt.stop or None}  # fmt: skip
        body.update({name: value for name, value in fields.items() if value is not None})
        if prompt.answer_schema is not None:
            schema = {"name": "answer", "schema": prompt.answer_schema}
            kind = {"type": "json_schema", "json_schema": schema} if prompt.answer_schema else {"type": "json_object"}
            body["response_format"] = kind
        if prompt.effort:
            if how.reasoning:
                body["reasoning_effort"] = prompt.effort
            else:
                prompt.drop("reasoning")
        return body

    def read(self, answer: JsonObject) -> Answer:
        """See `Format`."""
        choice = objects(answer.get("choices"), "'choices'")[0]
        message = object_of(choice.get("message"))
        calls = []
        for call in objects(message.get("tool_calls"), "'tool_calls'"):
            function = object_of(call.get("function"))
            arguments = function.get("arguments")
            text = arguments if isinstance(arguments, str) else arguments_text(arguments or {})
            calls.append(CallPart(string(call.get("id")) or f"call_{new_id()}", string(function.get("name")), text))
        reason = CHAT_REASONS.get(string(choice.get("finish_reason")), "stop")
        content = message.get("content")
        return Answer(
            model=string(answer.get("model")),
            thinking=string(message.get("reasoning_content")) or string(message.get("reasoning")),
            text=content if isinstance(content, str) else "".join(
                string(part.get("text")) for part in objects(content, "'content'")
            ),
            calls=tuple(calls),
            reason="tools" if calls and reason != "length" else reason,
        )  # fmt: skip

    def write(self, answer: Answer, prompt: Conversation) -> JsonObject:
        """See `Format`."""
        message: JsonObject = {"role": "assistant", "content": answer.text or None}
        if answer.thinking:
            message["reasoning_content"] = answer.thinking
        if answer.calls:
            message["tool_calls"] = [_call(call) for call in answer.calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": CHAT_WORDS[answer.reason]}
        head = {"id": f"chatcmpl-{answer.id}", "object": "chat.completion", "created": 0, "model": prompt.model}
        usage = None if answer.usage is None else chat_usage(answer.usage)
        return {**head, "choices": [choice], "usage": usage}

    def reader(self) -> PieceReader:
        """See `Format`."""
        return ChatReader()

    def writer(self, prompt: Conversation) -> PieceWriter:
        """See `Format`."""
        return ChatWriter(prompt)


def _call(call: CallPart) -> JsonObject:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _hear(prompt: Conversation, message: JsonObject) -> None:
    role, content = string(message.get("role")), message.get("content")
    parts: list[Part] = []
    for part in [{"text": content}] if isinstance(content, str) else objects(content, "'content'"):
        kind = part.get("type", "text")
        if kind == "image_url":
            parts.append(data_url(object_of(part.get("image_url")).get("url") or part.get("image_url")))
        elif kind in {"text", "refusal"}:
            if text := string(part.get(kind)):
                parts.append(TextPart(text))
        else:
            prompt.drop(f"content of the type {str(kind)[:40]}")
    if role == "tool":
        call_id = string(message.get("tool_call_id"))
        seen = tuple(part for part in parts if isinstance(part, TextPart | ImagePart))
        prompt.say("user", ResultPart(call_id, prompt.history_calls.get(call_id, ""), seen))
        return
    thought = string(message.get("reasoning_content")) or string(message.get("reasoning"))
    for call in objects(message.get("tool_calls"), "'tool_calls'"):
        function = object_of(call.get("function"))
        parts.append(CallPart(string(call.get("id")), string(function.get("name")), string(function.get("arguments"))))
    prompt.say(role or "user", *([ThinkingPart(thought)] if thought else []), *parts)


def _offer(prompt: Conversation, tool: JsonObject) -> None:
    if tool.get("type", "function") != "function":
        raise Untranslatable(f"A tool of the type {str(tool.get('type'))[:40]!r} cannot be offered to this upstream.")
    function = object_of(tool.get("function"))
    schema = object_of(function.get("parameters")) or {"type": "object", "properties": {}}
    prompt.tools.append(OfferedTool(string(function.get("name")), string(function.get("description")), schema))


def _chosen(choice: dict[str, Any]) -> str:
    name = string(object_of(choice.get("function")).get("name"))
    return f"={name}" if name else ""


def _user_messages(turn: ConversationTurn) -> list[JsonObject]:
    """A user's turn: results of tools are messages of their own, before what is said; pictures in them come after."""
    messages: list[JsonObject] = []
    contents: list[JsonObject] = []
    for part in turn.parts:
        if isinstance(part, ResultPart):
            messages.append({"role": "tool", "tool_call_id": part.id, "content": part.text})
            contents += [{"type": "image_url", "image_url": {"url": image.url}} for image in part.images]
        elif isinstance(part, ImagePart):
            contents.append({"type": "image_url", "image_url": {"url": part.url}})
        elif isinstance(part, TextPart):
            contents.append({"type": "text", "text": part.text})
    if contents:
        plain = all(part["type"] == "text" for part in contents)
        content = "\n".join(part["text"] for part in contents) if plain else contents
        messages.append({"role": "user", "content": content})
    return messages


def _answered(prompt: Conversation, turn: ConversationTurn, how: Upstreams) -> list[JsonObject]:
    message: JsonObject = {"role": "assistant", "content": turn.text or None}
    thought = "\n".join(part.text for part in turn.parts if isinstance(part, ThinkingPart))
    if thought and how.reasoning:
        message["reasoning_content"] = thought
    elif thought:
        prompt.drop("earlier thinking")
    calls = [_call(part) for part in turn.parts if isinstance(part, CallPart)]
    if calls:
        message["tool_calls"] = calls
    return [message] if turn.text or calls else []
