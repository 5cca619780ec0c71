"""Streams of generateContent: every event is a whole answer that holds only what is new."""

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
    CallPart,
    Conversation,
    Piece,
    TextPart,
    ThinkingPart,
    new_id,
)  # fmt: skip
from repoassay.model_proxy.vendors.gemini import gemini_answer, gemini_usage
from repoassay.model_proxy.vendors.parts import arguments, sse_event

__all__ = [
    "GEMINI_REASONS",
    "GEMINI_WORDS",
    "GeminiReader",
    "GeminiWriter",
    "gemini_call",
]

GEMINI_REASONS = {"STOP": "stop", "MAX_TOKENS": "length"}
GEMINI_WORDS = {"stop": "STOP", "tools": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"}


class GeminiReader(PieceReader):
    """See `PieceReader`."""

    def __init__(self) -> None:
        self._begun = False
        self._reason = ""
        self._calls = 0

    @property
    def reason(self) -> str:
        """See `PieceReader`."""
        return "tools" if self._calls and self._reason != "length" else self._reason or "stop"

    def read(self, event: JsonObject) -> list[Piece]:
        """See `PieceReader`."""
        if event.get("error"):
            return [AnswerFails(string(object_of(event["error"]).get("message")) or "The upstream broke off.")]
        pieces: list[Piece] = []
        if not self._begun:
            self._begun = True
            pieces.append(AnswerBegins(string(event.get("modelVersion"))))
        if event.get("promptFeedback"):
            self._reason = "filter"
        for candidate in objects(event.get("candidates"), "'candidates'")[:1]:
            for part in objects(object_of(candidate.get("content")).get("parts"), "'parts'"):
                call = object_of(part.get("functionCall"))
                if call:
                    self._calls += 1
                    pieces.append(CallBegins(string(call.get("id")) or f"call_{new_id()}", string(call.get("name"))))
                    pieces.append(CallGoesOn(arguments_text(call.get("args") or {})))
                elif text := string(part.get("text")):
                    pieces.append(ThinkingPart(text) if part.get("thought") else TextPart(text))
            if word := string(candidate.get("finishReason")):
                self._reason = GEMINI_REASONS.get(word, "filter")
        return pieces


class GeminiWriter(PieceWriter):
    """See `PieceWriter`."""

    def __init__(self, prompt: Conversation) -> None:
        self._model, self._id = prompt.model, new_id()
        self._call: tuple[str, str] | None = None
        self._given = ""

    def write(self, piece: Piece) -> bytes:
        """See `PieceWriter`."""
        match piece:
            case AnswerBegins():
                return b""
            case TextPart(text):
                return self._flush() + self._event([{"text": text}])
            case ThinkingPart(text):
                return self._flush() + self._event([{"text": text, "thought": True}])
            case CallBegins(id=told, name=name):
                before = self._flush()
                self._call = (told, name)
                return before
            case CallGoesOn(text):
                self._given += text
                return b""
            case AnswerFails(message):
                return sse_event({"error": {"code": 502, "message": message, "status": "UNAVAILABLE"}})
            case AnswerEnds(reason, usage):
                counts = None if usage is None else gemini_usage(usage)
                return self._flush() + sse_event(
                    gemini_answer([{"text": ""}], GEMINI_WORDS[reason], counts, self._model, self._id)
                )

    def _event(self, parts: list[JsonObject]) -> bytes:
        return sse_event(gemini_answer(parts, "", None, self._model, self._id))

    def _flush(self) -> bytes:
        if self._call is None:
            return b""
        part = gemini_call(CallPart(*self._call, self._given))
        self._call, self._given = None, ""
        return self._event([part])


def gemini_call(call: CallPart) -> JsonObject:
    """A part that calls a tool."""
    return {"functionCall": {"id": call.id, "name": call.name, "args": arguments(call.arguments)}}
