"""Answers in OpenAI's responses, whole and as a stream: items that are opened, filled and closed one after another."""

from __future__ import annotations

import json
from typing import Any

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.translation.format import PieceWriter
from repoassay.model_proxy.translation.neutral import (
    Answer,
    AnswerBegins,
    AnswerEnds,
    AnswerFails,
    CallBegins,
    CallGoesOn,
    CallPart,
    Conversation,
    Piece,
    TextPart,
    ThinkingPart,
    new_id,
)  # fmt: skip
from repoassay.model_proxy.vendors.parts import arguments, sse_event
from repoassay.model_proxy.vendors.responses import response_body
from repoassay.types import Usage

__all__ = ["ResponsesWriter", "response_of"]


class ResponsesWriter(PieceWriter):
    """See `PieceWriter`."""

    def __init__(self, prompt: Conversation) -> None:
        self._prompt = prompt
        self._id = new_id()
        self._number = 0
        self._done: list[JsonObject] = []
        self._kind = ""
        self._item = ""
        self._text = ""
        self._call = CallPart("", "", "")

    def write(self, piece: Piece) -> bytes:
        """See `PieceWriter`."""
        match piece:
            case AnswerBegins():
                begun = response_body(self._id, self._prompt.model, "in_progress", [], None)
                return self._event("response.created", response=begun) + self._event(
                    "response.in_progress", response=begun
                )
            case ThinkingPart(text):
                return self._open("reasoning") + self._more("response.reasoning_summary_text.delta", text)
            case TextPart(text):
                return self._open("message") + self._more("response.output_text.delta", text)
            case CallBegins(id=told, name=name):
                closed = self._close()
                self._call = CallPart(told, name, "")
                return closed + self._open("call")
            case CallGoesOn(text):
                self._text += text
                plain = self._prompt.tool(self._call.name).kind == "function"
                return self._place_event("response.function_call_arguments.delta", delta=text) if plain else b""
            case AnswerFails(message):
                failed = response_body(self._id, self._prompt.model, "failed", self._done, None)
                failed["error"] = {"code": "server_error", "message": message}
                return self._event("response.failed", response=failed)
            case AnswerEnds(reason, usage):
                return self._end(reason, usage)

    def _end(self, reason: str, usage: Usage | None) -> bytes:
        closed = self._close() if self._done or self._kind else self._open("message") + self._close()
        whole = response_body(self._id, self._prompt.model, _status(reason), self._done, usage)
        whole["incomplete_details"] = _details(reason)
        return closed + self._event(f"response.{whole['status']}", response=whole)

    def _event(self, kind: str, **fields: Any) -> bytes:
        self._number += 1
        return sse_event({"type": kind, "sequence_number": self._number - 1, **fields}, kind)

    def _place_event(self, kind: str, **fields: Any) -> bytes:
        return self._event(kind, output_index=len(self._done), item_id=self._item, **fields)

    def _more(self, kind: str, text: str) -> bytes:
        self._text += text
        place = "summary_index" if self._kind == "reasoning" else "content_index"
        return self._place_event(kind, **{place: 0}, delta=text)

    def _open(self, kind: str) -> bytes:
        if self._kind == kind:
            return b""
        out = self._close()
        self._kind, self._text = kind, ""
        self._item = f"{ {'message': 'msg', 'reasoning': 'rs', 'call': 'fc'}[kind] }_{new_id()}"
        item = self._item_document("in_progress")
        out += self._event("response.output_item.added", output_index=len(self._done), item=item)
        if kind == "message":
            part = {"type": "output_text", "text": "", "annotations": []}
            out += self._place_event("response.content_part.added", content_index=0, part=part)
        elif kind == "reasoning":
            part = {"type": "summary_text", "text": ""}
            out += self._place_event("response.reasoning_summary_part.added", summary_index=0, part=part)
        return out

    def _item_document(self, status: str) -> JsonObject:
        if self._kind == "message":
            return _message(self._item, self._text, status)
        if self._kind == "reasoning":
            return _reasoning(self._item, self._text)
        return _call_item(self._item, CallPart(self._call.id, self._call.name, self._text), self._prompt, status)

    def _close(self) -> bytes:
        if not self._kind:
            return b""
        item, out = self._item_document("completed"), b""
        if self._kind == "message":
            part = {"type": "output_text", "text": self._text, "annotations": []}
            out += self._place_event("response.output_text.done", content_index=0, text=self._text)
            out += self._place_event("response.content_part.done", content_index=0, part=part)
        elif self._kind == "reasoning":
            part = {"type": "summary_text", "text": self._text}
            out += self._place_event("response.reasoning_summary_text.done", summary_index=0, text=self._text)
            out += self._place_event("response.reasoning_summary_part.done", summary_index=0, part=part)
        elif item["type"] == "function_call":
            out += self._place_event("response.function_call_arguments.done", arguments=item["arguments"])
        elif item["type"] == "custom_tool_call":
            out += self._place_event("response.custom_tool_call_input.delta", delta=item["input"])
            out += self._place_event("response.custom_tool_call_input.done", input=item["input"])
        out += self._event("response.output_item.done", output_index=len(self._done), item=item)
        self._done.append(item)
        self._kind = ""
        return out


def response_of(answer: Answer, prompt: Conversation) -> JsonObject:
    """A whole answer."""
    items: list[JsonObject] = [_reasoning(f"rs_{answer.id}", answer.thinking)] if answer.thinking else []
    if answer.text or not answer.calls:
        items.append(_message(f"msg_{answer.id}", answer.text, "completed"))
    items += [_call_item(f"fc_{call.id}", call, prompt, "completed") for call in answer.calls]
    response = response_body(answer.id, prompt.model, _status(answer.reason), items, answer.usage)
    return {**response, "incomplete_details": _details(answer.reason)}


def _status(reason: str) -> str:
    return "completed" if reason in {"stop", "tools"} else "incomplete"


def _details(reason: str) -> JsonObject | None:
    words = {"length": "max_output_tokens", "filter": "content_filter"}
    return {"reason": words[reason]} if reason in words else None


def _message(item_id: str, text: str, status: str) -> JsonObject:
    content = [] if status == "in_progress" else [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": item_id, "type": "message", "status": status, "role": "assistant", "content": content}


def _reasoning(item_id: str, text: str) -> JsonObject:
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"id": item_id, "type": "reasoning", "summary": summary}


def _call_item(item_id: str, call: CallPart, prompt: Conversation, status: str) -> JsonObject:
    tool = prompt.tool(call.name)
    item: JsonObject = {"id": item_id, "status": status, "call_id": call.id}
    if tool.kind == "local_shell":
        action = {"type": "exec", "command": [], "env": {}, **arguments(call.arguments)}
        return {**item, "type": "local_shell_call", "action": action}
    name = tool.own_name or call.name
    if tool.namespace:
        item["namespace"] = tool.namespace
    if tool.kind == "custom":
        value = arguments(call.arguments).get("input")
        # A model that knows no custom tools may leave the wrapping out.
        text = value if isinstance(value, str) else call.arguments
        return {**item, "type": "custom_tool_call", "name": name, "input": text}
    value = call.arguments or ("" if status == "in_progress" else json.dumps({}))
    return {**item, "type": "function_call", "name": name, "arguments": value}
