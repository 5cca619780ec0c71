"""What every dialect can say, in no vendor's words: a conversation, an answer, and the pieces of a stream."""

from __future__ import annotations

import secrets
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.types import Usage

__all__ = [
    "Answer", "AnswerBegins", "AnswerEnds", "AnswerFails", "CallBegins", "CallGoesOn", "CallPart", "Conversation",
    "ConversationTurn", "ImagePart", "OfferedTool", "Part", "Piece", "ResultPart", "TextPart", "ThinkingPart",
    "Untranslatable", "new_id", "whole_answer",
]  # fmt: skip


def new_id() -> str:
    """An id for an answer or call that has none."""
    return secrets.token_hex(12)


class Untranslatable(ValueError):
    """The request cannot be said in the upstream's dialect; its text is the sentence the agent is told."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Plain text; as a piece of a stream, more of it."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """What a model thought before it answered; as a piece of a stream, more of it."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture that lies in the request, as base64."""

    media_type: str
    data: str

    @property
    def url(self) -> str:
        """It as a data URL."""
        return f"data:{self.media_type};base64,{self.data}"


@dataclass(frozen=True, slots=True)
class CallPart:
    """A tool call; `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ResultPart:
    """What a tool call came to."""

    id: str
    name: str
    parts: tuple[TextPart | ImagePart, ...]
    failed: bool = False

    @property
    def text(self) -> str:
        """Its text."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def images(self) -> list[ImagePart]:
        """Its pictures."""
        return [part for part in self.parts if isinstance(part, ImagePart)]


Part = TextPart | ThinkingPart | ImagePart | CallPart | ResultPart


@dataclass(slots=True)
class ConversationTurn:
    """What one side said: `user` (with the results of tools) or `assistant`."""

    role: str
    parts: list[Part]

    @property
    def text(self) -> str:
        """Its text; what an assistant said may be in pieces, as it was streamed."""
        between = "" if self.role == "assistant" else "\n"
        return between.join(part.text for part in self.parts if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool the client runs.

    Attributes:
        name: As the upstream is told it.
        schema: JSON schema of its arguments.
        kind: `function`, or what the agent's dialect has beside: `custom` (one text) or `local_shell`.
        own_name: As the agent calls it within `namespace`, where it has one.
    """

    name: str
    description: str
    schema: JsonObject
    kind: str = "function"
    own_name: str = ""
    namespace: str = ""


@dataclass(slots=True)
class Conversation:
    """A request for an answer.

    Attributes:
        told: What the model is told before it, piece by piece.
        choice: auto, none, required, or the name of a tool after `=`; empty when the request does not say.
        limit: Most tokens of output.
        effort: How hard to think: low, medium, high and the like; empty when the request does not say.
        answer_schema: JSON schema that the answer's text must follow; empty for any JSON; None for any text.
        dropped: Names of what the request says and the upstream is not told.
        history_calls: Names of the calls so far, by their ids; `answered` has the ids of Gemini's that have results.
    """

    turns: list[ConversationTurn] = field(default_factory=list)
    tools: list[OfferedTool] = field(default_factory=list)
    choice: str = ""
    parallel: bool | None = None
    stop: list[str] = field(default_factory=list)
    limit: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    effort: str = ""
    shows_thinking: bool = True
    shows_usage: bool = True
    answer_schema: JsonObject | None = None
    stream: bool = False
    model: str = ""
    dropped: dict[str, None] = field(default_factory=dict)
    history_calls: dict[str, str] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    told: list[str] = field(default_factory=list)
    _waiting: defaultdict[str, deque[str]] = field(default_factory=lambda: defaultdict(deque))

    @property
    def system(self) -> str:
        """What the model is told before the conversation."""
        return "\n\n".join(filter(None, self.told))

    def say(self, role: str, *parts: Part) -> None:
        """Add to what one side says; neighbours of one side are one turn, since many models' templates want that."""
        if role in {"system", "developer"}:
            text = "\n".join(part.text for part in parts if isinstance(part, TextPart))
            if not self.turns:
                self.told.append(text)
                return
            role, parts = "user", (TextPart(text),)
        role = "assistant" if role == "assistant" else "user"
        for part in parts:
            if isinstance(part, CallPart):
                self.history_calls[part.id] = part.name
                self._waiting[part.name].append(part.id)
        if not parts:
            return
        if self.turns and self.turns[-1].role == role:
            before = self.turns[-1].parts
            if role == "assistant" and isinstance(before[-1], TextPart) and isinstance(parts[0], TextPart):
                before.append(TextPart("\n"))  # two messages
            before += parts
        else:
            self.turns.append(ConversationTurn(role, list(parts)))

    def unanswered(self, name: str) -> str:
        """The id of the oldest call of a name that has no result; empty without one."""
        calls = self._waiting[name]
        while calls and calls[0] in self.answered:
            calls.popleft()
        return calls[0] if calls else ""

    def drop(self, name: str) -> None:
        """Note what is not passed on."""
        self.dropped[name] = None

    def tool(self, name: str) -> OfferedTool:
        """The tool that the upstream knows by a name; one it made up is a function."""
        return next((tool for tool in self.tools if tool.name == name), OfferedTool(name, "", {}))


@dataclass(frozen=True, slots=True)
class AnswerBegins:
    """The first piece of a stream; the model is the one the upstream says it is."""

    model: str


@dataclass(frozen=True, slots=True)
class CallBegins:
    """A tool call begins; the one before it is over."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallGoesOn:
    """More of the arguments of the call that began last."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerEnds:
    """The last piece: why it ended (`stop`, `length`, `tools` or `filter`), and the usage, None when untold."""

    reason: str
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class AnswerFails:
    """The upstream broke off with an error of its own."""

    message: str


Piece = AnswerBegins | TextPart | ThinkingPart | CallBegins | CallGoesOn | AnswerEnds | AnswerFails


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    model: str = ""
    thinking: str = ""
    text: str = ""
    calls: tuple[CallPart, ...] = ()
    reason: str = "stop"
    usage: Usage | None = None
    id: str = field(default_factory=new_id)


def whole_answer(pieces: Iterable[Piece]) -> Answer:
    """The whole answer that the pieces of a stream make."""
    text = thinking = ""
    calls: list[CallPart] = []
    for piece in pieces:
        match piece:
            case TextPart():
                text += piece.text
            case ThinkingPart():
                thinking += piece.text
            case CallBegins():
                calls.append(CallPart(piece.id, piece.name, ""))
            case CallGoesOn() if calls:
                calls[-1] = replace(calls[-1], arguments=calls[-1].arguments + piece.text)
    return Answer(thinking=thinking, text=text, calls=tuple(calls))
