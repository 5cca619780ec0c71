"""Streams of chat completions: chunks with the deltas of one choice."""

from __future__ import annotations

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.translation.format import (
    PieceReader,
    PieceWriter,
    arguments_text,
    object_of,
    objects,
    string,
)  # fmt: skip
from repoassay.model_proxy.translation.neutral import (
    AnswerBegins,
    AnswerEnds,
    AnswerFails,
    CallBegins,
    CallGoesOn,
    Conversation,
    Piece,
    TextPart,
    ThinkingPart,
    new_id,
)  # fmt: skip
from repoassay.model_proxy.vendors.chat import chat_usage
from repoassay.model_proxy.vendors.parts import sse_event

__all__ = ["CHAT_REASONS", "CHAT_WORDS", "ChatReader", "ChatWriter"]

CHAT_REASONS = {"stop": "stop", "length": "length", "tool_calls": "tools", "function_call": "tools",
            "content_filter": "filter"}  # fmt: skip
CHAT_WORDS = {"stop": "stop", "length": "length", "tools": "tool_calls", "filter": "content_filter"}


class ChatReader(PieceReader):
    """See `PieceReader`."""

    def __init__(self) -> None:
        self._begun = False
        self._reason = ""
        self._call: tuple[object, str] | None = None
        self._calls = 0

    @property
    def reason(self) -> str:
        """See `PieceReader`."""
        # Some servers end with "stop" although tools are called.
        return "tools" if self._calls and self._reason != "length" else self._reason or "stop"

    def read(self, event: JsonObject) -> list[Piece]:
        """See `PieceReader`."""
        error = event.get("error")
        if error:
            return [AnswerFails(string(object_of(error).get("message")) or "The upstream broke off.")]
        pieces: list[Piece] = []
        if not self._begun:
            self._begun = True
            pieces.append(AnswerBegins(string(event.get("model"))))
        for choice in objects(event.get("choices"), "'choices'")[:1]:
            delta = object_of(choice.get("delta"))
            thought = string(delta.get("reasoning_content")) or string(delta.get("reasoning"))
            if thought:
                pieces.append(ThinkingPart(thought))
            if content := string(delta.get("content")):
                pieces.append(TextPart(content))
            for part in objects(delta.get("tool_calls"), "'tool_calls'"):
                pieces += self._called(part)
            self._reason = CHAT_REASONS.get(string(choice.get("finish_reason")), self._reason)
        return pieces

    def _called(self, part: JsonObject) -> list[Piece]:
        function = object_of(part.get("function"))
        index, call_id, name = part.get("index"), string(part.get("id")), string(function.get("name"))
        same = self._call is not None and (
            index == self._call[0] if index is not None else not call_id or call_id == self._call[1]
        )
        # Without an index, or with one that a server forgot to count up, another id with a name is another call.
        if same and name and call_id and self._call is not None and call_id != self._call[1]:
            same = False
        pieces: list[Piece] = []
        if not same:
            if not name:
                raise ValueError("a tool call without a name")
            self._call = (index, call_id or f"call_{new_id()}")
            self._calls += 1
            pieces.append(CallBegins(self._call[1], name))
        arguments = function.get("arguments")
        if arguments not in (None, ""):
            pieces.append(CallGoesOn(arguments if isinstance(arguments, str) else arguments_text(arguments)))
        return pieces


class ChatWriter(PieceWriter):
    """See `PieceWriter`."""

    def __init__(self, prompt: Conversation) -> None:
        self._head: JsonObject = {
            "id": f"chatcmpl-{new_id()}", "object": "chat.completion.chunk", "created": 0, "model": prompt.model,
        }  # fmt: skip
        self._calls = -1
        self._shows_usage = prompt.shows_usage

    def _chunk(self, delta: JsonObject, reason: str | None = None) -> bytes:
        return sse_event({**self._head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    def write(self, piece: Piece) -> bytes:
        """See `PieceWriter`."""
        match piece:
            case AnswerBegins():
                return self._chunk({"role": "assistant", "content": ""})
            case TextPart(text):
                return self._chunk({"content": text})
            case ThinkingPart(text):
                return self._chunk({"reasoning_content": text})
            case CallBegins(id=told, name=name):
                self._calls += 1
                function = {"name": name, "arguments": ""}
                call = {"index": self._calls, "id": told, "type": "function", "function": function}
                return self._chunk({"tool_calls": [call]})
            case CallGoesOn(text):
                return self._chunk({"tool_calls": [{"index": self._calls, "function": {"arguments": text}}]})
            case AnswerFails(message):
                return sse_event({"error": {"message": message, "type": "server_error", "code": 502}})
            case AnswerEnds(reason, usage):
                end = self._chunk({}, CHAT_WORDS[reason])
                if usage is not None and self._shows_usage:
                    end += sse_event({**self._head, "choices": [], "usage": chat_usage(usage)})
                return end + b"data: [DONE]\n\n"
