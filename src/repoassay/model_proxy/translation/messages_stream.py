"""Streams of Anthropic messages: blocks that are opened, filled and closed one after another."""

from __future__ import annotations

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.translation.format import (
    PieceReader,
    PieceWriter,
    object_of,
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
from repoassay.model_proxy.vendors.messages import message_head, messages_usage
from repoassay.model_proxy.vendors.parts import sse_event
from repoassay.types import Usage

__all__ = ["MESSAGES_REASONS", "MESSAGES_WORDS", "MessagesReader", "MessagesWriter"]

MESSAGES_REASONS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tools",
            "refusal": "filter", "model_context_window_exceeded": "length"}  # fmt: skip
MESSAGES_WORDS = {"stop": "end_turn", "length": "max_tokens", "tools": "tool_use", "filter": "refusal"}


class MessagesReader(PieceReader):
    """See `PieceReader`."""

    def __init__(self) -> None:
        self._reason = ""

    @property
    def reason(self) -> str:
        """See `PieceReader`."""
        return self._reason or "stop"

    def read(self, event: JsonObject) -> list[Piece]:
        """See `PieceReader`."""
        match event.get("type"):
            case "message_start":
                return [AnswerBegins(string(object_of(event.get("message")).get("model")))]
            case "content_block_start":
                block = object_of(event.get("content_block"))
                if block.get("type") == "tool_use":
                    return [CallBegins(string(block.get("id")), string(block.get("name")))]
                return [TextPart(text)] if (text := string(block.get("text"))) else []
            case "content_block_delta":
                return _more(object_of(event.get("delta")))
            case "message_delta":
                word = string(object_of(event.get("delta")).get("stop_reason"))
                self._reason = MESSAGES_REASONS.get(word, self._reason)
            case "error":
                return [AnswerFails(string(object_of(event.get("error")).get("message")) or "The upstream broke off.")]
        return []


_DELTAS: dict[str, tuple[str, type[TextPart] | type[ThinkingPart] | type[CallGoesOn]]] = {
    "text_delta": ("text", TextPart),
    "thinking_delta": ("thinking", ThinkingPart),
    "input_json_delta": ("partial_json", CallGoesOn),
}


def _more(delta: JsonObject) -> list[Piece]:
    name, kind = _DELTAS.get(string(delta.get("type")), ("", TextPart))
    text = string(delta.get(name))
    return [kind(text)] if text else []


class MessagesWriter(PieceWriter):
    """Blocks come one after another, each closed before the next begins."""

    def __init__(self, prompt: Conversation) -> None:
        self._model = prompt.model
        self._thinks = prompt.shows_thinking
        self._index = -1
        self._open = ""

    def write(self, piece: Piece) -> bytes:
        """See `PieceWriter`."""
        match piece:
            case AnswerBegins():
                message = {**message_head(f"msg_{new_id()}", self._model), "content": [], "stop_reason": None}
                message["usage"] = {"input_tokens": 0, "output_tokens": 0}
                return _event("message_start", message=message)
            case ThinkingPart(text):
                if not self._thinks:
                    return b""
                return self._block("thinking", {"thinking": "", "signature": ""}) + self._delta(
                    {"type": "thinking_delta", "thinking": text}
                )
            case TextPart(text):
                return self._block("text", {"text": ""}) + self._delta({"type": "text_delta", "text": text})
            case CallBegins(id=told, name=name):
                return self._close() + self._block("tool_use", {"id": told, "name": name, "input": {}})
            case CallGoesOn(text):
                return self._delta({"type": "input_json_delta", "partial_json": text})
            case AnswerFails(message):
                return _event("error", error={"type": "api_error", "message": message})
            case AnswerEnds(reason, usage):
                closed = self._close() if self._index >= 0 else self._block("text", {"text": ""}) + self._close()
                delta = {"stop_reason": MESSAGES_WORDS[reason], "stop_sequence": None}
                counts = messages_usage(usage or Usage())
                return closed + _event("message_delta", delta=delta, usage=counts) + _event("message_stop")

    def _block(self, kind: str, empty: JsonObject) -> bytes:
        if self._open == kind:
            return b""
        closed = self._close()
        self._open = kind
        self._index += 1
        return closed + _event("content_block_start", index=self._index, content_block={"type": kind, **empty})

    def _delta(self, delta: JsonObject) -> bytes:
        return _event("content_block_delta", index=self._index, delta=delta)

    def _close(self) -> bytes:
        if not self._open:
            return b""
        self._open = ""
        return _event("content_block_stop", index=self._index)


def _event(kind: str, **fields: object) -> bytes:
    return sse_event({"type": kind, **fields}, kind)
