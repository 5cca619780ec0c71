"""OpenAI responses: the format of Codex. Its custom tools, shell and groups of tools become functions elsewhere."""

from __future__ import annotations

import json

from repoassay.model_proxy.request_rules.parts import JsonObject
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
)  # fmt: skip
from repoassay.model_proxy.translation.neutral import (
    Answer,
    AnswerBegins,
    AnswerFails,
    CallBegins,
    CallGoesOn,
    CallPart,
    Conversation,
    ConversationTurn,
    ImagePart,
    OfferedTool,
    Part,
    Piece,
    ResultPart,
    TextPart,
    ThinkingPart,
    Untranslatable,
)  # fmt: skip
from repoassay.model_proxy.translation.responses_writer import ResponsesWriter, response_of

__all__ = ["ResponsesFormat"]

_SAID = frozenset(
    {
        "model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options",
        "temperature", "top_p", "max_output_tokens", "reasoning", "text", "include", "store", "metadata",
        "client_metadata", "user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
    }
)  # fmt: skip
_SHELL = {
    "type": "object",
    "properties": {
        "command": {"type": "array", "items": {"type": "string"}},
        "working_directory": {"type": "string"},
        "timeout_ms": {"type": "integer"},
    },
    "required": ["command"],
}
_ONE_TEXT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


class _Reader(PieceReader):
    def __init__(self) -> None:
        self._reason = ""
        self._calls = 0

    @property
    def reason(self) -> str:
        return "tools" if self._calls and self._reason != "length" else self._reason or "stop"

    def read(self, event: JsonObject) -> list[Piece]:
        match event.get("type"):
            case "response.created":
                return [AnswerBegins(string(object_of(event.get("response")).get("model")))]
            case "response.output_text.delta" | "response.refusal.delta":
                return [TextPart(string(event.get("delta")))]
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return [ThinkingPart(string(event.get("delta")))]
            case "response.output_item.added":
                item = object_of(event.get("item"))
                if item.get("type") == "function_call":
                    self._calls += 1
                    return [CallBegins(string(item.get("call_id")), string(item.get("name")))]
            case "response.function_call_arguments.delta":
                return [CallGoesOn(string(event.get("delta")))]
            case "response.incomplete":
                details = object_of(object_of(event.get("response")).get("incomplete_details"))
                self._reason = "length" if details.get("reason") == "max_output_tokens" else "filter"
            case "response.failed" | "error":
                error = object_of(object_of(event.get("response")).get("error")) or event
                return [AnswerFails(string(error.get("message")) or "The upstream broke off.")]
        return []


class ResponsesFormat(Format):
    """See `Format`."""

    name = "responses"

    def parse(self, body: JsonObject) -> Conversation:
        """See `Format`."""
        text, reasoning = object_of(body.get("text")), object_of(body.get("reasoning"))
        prompt = Conversation(
            stream=body.get("stream") is True, model=string(body.get("model")),
            limit=positive(body.get("max_output_tokens")), temperature=number(body.get("temperature")),
            top_p=number(body.get("top_p")), effort=string(reasoning.get("effort")),
        )  # fmt: skip
        if prompt.effort == "none":
            prompt.effort = ""
        if isinstance(body.get("parallel_tool_calls"), bool):
            prompt.parallel = body["parallel_tool_calls"]
        if instructions := string(body.get("instructions")):
            prompt.say("system", TextPart(instructions))
        items = body.get("input")
        for item in [{"role": "user", "content": items}] if isinstance(items, str) else objects(items, "'input'"):
            _hear(prompt, item)
        for tool in objects(body.get("tools"), "'tools'"):
            _offer(prompt, tool)
        choice = body.get("tool_choice")
        name = string(object_of(choice).get("name"))
        prompt.choice = string(choice) or (f"={name}" if name else "")
        shape = object_of(text.get("format"))
        if shape.get("type") in {"json_schema", "json_object"}:
            prompt.answer_schema = object_of(shape.get("schema"))
        note_unknown(prompt, body, _SAID)
        note_unknown(prompt, text, frozenset({"format"}), "text.")
        return prompt

    def compose(self, prompt: Conversation, how: Upstreams) -> JsonObject:
        """See `Format`. Nothing is stored there: every request says all of the conversation."""
        body: JsonObject = {"input": _items(prompt), "stream": prompt.stream, "store": False}
        if prompt.system:
            body["instructions"] = prompt.system
        if prompt.tools:
            body["tools"] = [
                {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema,
                 "strict": False}
                for tool in prompt.tools
            ]  # fmt: skip
            if prompt.choice:
                name = prompt.choice.partition("=")[2]
                body["tool_choice"] = {"type": "function", "name": name} if name else prompt.choice
            if prompt.parallel is not None:
                body["parallel_tool_calls"] = prompt.parallel
        fields = {
            "max_output_tokens": prompt.limit,
            "temperature": prompt.temperature,
            "top_p": prompt.top_p,
        }
        body.update({name: value for name, value in fields.items() if value is not None})
        if prompt.answer_schema is not None:
            schema = {"type": "json_schema", "name": "answer", "schema": prompt.answer_schema}
            body["text"] = {"format": schema if prompt.answer_schema else {"type": "json_object"}}
        if prompt.stop:
            prompt.drop("stop")
        if prompt.effort and how.reasoning:
            body["reasoning"] = {"effort": prompt.effort}
        elif prompt.effort:
            prompt.drop("reasoning")
        return body

    def read(self, answer: JsonObject) -> Answer:
        """See `Format`."""
        text, thought, calls = "", "", []
        for item in objects(answer.get("output"), "'output'"):
            match item.get("type"):
                case "message":
                    text += "".join(string(part.get("text")) for part in objects(item.get("content"), "'content'"))
                case "reasoning":
                    thought += _thought(item)
                case "function_call" | "custom_tool_call" | "local_shell_call":
                    calls.append(_call_of(item))
        details = object_of(answer.get("incomplete_details"))
        cut = "length" if details.get("reason") == "max_output_tokens" else "filter"
        reason = cut if answer.get("status") == "incomplete" else "tools" if calls else "stop"
        return Answer(string(answer.get("model")), thought, text, tuple(calls), reason)

    def write(self, answer: Answer, prompt: Conversation) -> JsonObject:
        """See `Format`."""
        return response_of(answer, prompt)

    def reader(self) -> PieceReader:
        """See `Format`."""
        return _Reader()

    def writer(self, prompt: Conversation) -> PieceWriter:
        """See `Format`."""
        return ResponsesWriter(prompt)


def _thought(item: JsonObject) -> str:
    parts = objects(item.get("content"), "'content'") or objects(item.get("summary"), "'summary'")
    return "\n".join(string(part.get("text")) for part in parts)


def _content(prompt: Conversation, content: object) -> list[TextPart | ImagePart]:
    parts: list[TextPart | ImagePart] = []
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else objects(content, "'content'"):
        kind = string(part.get("type"))
        if kind == "input_image":
            parts.append(data_url(part.get("image_url")))
        elif kind in {"input_text", "output_text", "text", "refusal"}:
            if text := string(part.get("text")) or string(part.get("refusal")):
                parts.append(TextPart(text))
        else:
            prompt.drop(f"content of the type {kind[:40]}")
    return parts


def _hear(prompt: Conversation, item: JsonObject) -> None:
    kind = string(item.get("type")) or "message"
    call_id = string(item.get("call_id")) or string(item.get("id"))
    if kind == "message":
        prompt.say(string(item.get("role")), *_content(prompt, item.get("content")))
    elif kind == "reasoning":
        if thought := _thought(item):
            prompt.say("assistant", ThinkingPart(thought))
    elif kind in {"function_call", "custom_tool_call", "local_shell_call"}:
        prompt.say("assistant", _call_of(item))
    elif kind in {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}:
        output = item.get("output")
        if isinstance(output, dict):
            output = json.dumps(output, ensure_ascii=False)
        prompt.say(
            "user",
            ResultPart(call_id, prompt.history_calls.get(call_id, ""), tuple(_content(prompt, output or ""))),
        )
    else:
        raise Untranslatable(f"An input item of the type {kind[:40]!r} cannot be said in the upstream's dialect.")


def _call_of(item: JsonObject) -> CallPart:
    """A call of a tool of any kind, its arguments as a function's would be."""
    call_id, name = string(item.get("call_id")) or string(item.get("id")), string(item.get("name"))
    if item.get("type") == "custom_tool_call":
        return CallPart(call_id, name, arguments_text({"input": string(item.get("input"))}))
    if item.get("type") == "local_shell_call":
        action = object_of(item.get("action"))
        fields = {name: action[name] for name in ("command", "working_directory", "timeout_ms") if action.get(name)}
        return CallPart(call_id, "local_shell", arguments_text(fields))
    return CallPart(call_id, flat_name(string(item.get("namespace")), name), string(item.get("arguments")))


def flat_name(namespace: str, name: str) -> str:
    """The name of a tool of a group, where there are no groups."""
    return f"{namespace}{'' if namespace.endswith('__') else '__'}{name}" if namespace else name


def _offer(prompt: Conversation, tool: JsonObject, namespace: str = "") -> None:
    kind, name, description = string(tool.get("type")), string(tool.get("name")), string(tool.get("description"))
    if kind == "function":
        schema = object_of(tool.get("parameters")) or {"type": "object", "properties": {}}
        prompt.tools.append(
            OfferedTool(flat_name(namespace, name), description, schema, "function", name * bool(namespace), namespace)
        )
    elif kind == "custom":
        grammar = string(object_of(tool.get("format")).get("definition"))
        if grammar:
            description += f"\n\nThe argument `input` follows this grammar:\n{grammar}"
        prompt.tools.append(OfferedTool(flat_name(namespace, name), description, _ONE_TEXT, "custom", name, namespace))
    elif kind == "local_shell":
        prompt.tools.append(OfferedTool("local_shell", "Run a command on the user's machine.", _SHELL, "local_shell"))
    elif kind == "namespace":
        for inner in objects(tool.get("tools"), "'tools'"):
            _offer(prompt, inner, name)
    else:
        prompt.drop(f"tool {kind[:40]}")


def _items(prompt: Conversation) -> list[JsonObject]:
    items: list[JsonObject] = []
    for turn in prompt.turns:
        items += _turn_items(prompt, turn)
    return items


def _turn_items(prompt: Conversation, turn: ConversationTurn) -> list[JsonObject]:
    items: list[JsonObject] = []
    contents: list[JsonObject] = []
    word = "output_text" if turn.role == "assistant" else "input_text"
    for part in turn.parts:
        if isinstance(part, TextPart | ImagePart):
            contents.append(_part(part, word))
        elif isinstance(part, ThinkingPart):
            prompt.drop("earlier thinking")
        else:
            items += _tool_item(part)
    message = {"type": "message", "role": turn.role, "content": contents}
    # What the assistant said stands before its calls; results stand before what the user then says.
    return [*([message] if contents and turn.role == "assistant" else []), *items,
            *([message] if contents and turn.role != "assistant" else [])]  # fmt: skip


def _tool_item(part: Part) -> list[JsonObject]:
    if isinstance(part, CallPart):
        return [{"type": "function_call", "call_id": part.id, "name": part.name, "arguments": part.arguments or "{}"}]
    if isinstance(part, ResultPart):
        output = [_part(one, "input_text") for one in part.parts] if part.images else part.text
        return [{"type": "function_call_output", "call_id": part.id, "output": output}]
    return []


def _part(part: TextPart | ImagePart, word: str) -> JsonObject:
    return (
        {"type": word, "text": part.text}
        if isinstance(part, TextPart)
        else {"type": "input_image", "image_url": part.url}
    )
