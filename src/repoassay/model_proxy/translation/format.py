"""What a dialect's format must do: read and write requests, answers, and streams, in terms of the neutral form.

A format knows one dialect alone. Two of them make a translation: one reads what the other then writes.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.translation.neutral import Answer, Conversation, ImagePart, Piece, Untranslatable

__all__ = [
    "Format",
    "PieceReader",
    "PieceWriter",
    "Upstreams",
    "arguments_text",
    "data_url",
    "note_unknown",
    "number",
    "object_of",
    "objects",
    "positive",
    "string",
    "texts",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Upstreams:
    """How one upstream wants requests of its dialect written.

    Attributes:
        output_field: What it calls the limit of an answer in chat completions.
        reasoning: Whether it takes how hard to think, and earlier thinking, in fields of its own.
    """

    output_field: str = "max_tokens"
    reasoning: bool = False


class PieceReader(ABC):
    """Reads one stream's events in order."""

    @abstractmethod
    def read(self, event: JsonObject) -> list[Piece]:
        """The pieces that an event brings; never the last one."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """Why the answer ended, once its stream is over."""


class PieceWriter(ABC):
    """Writes one stream, piece by piece, as bytes of server-sent events."""

    @abstractmethod
    def write(self, piece: Piece) -> bytes:
        """The events that a piece amounts to; may be none."""


class Format(ABC):
    """One dialect; stateless."""

    name: ClassVar[str]

    @abstractmethod
    def parse(self, body: JsonObject) -> Conversation:
        """Read an agent's request.

        Raises:
            Untranslatable: It says something that no other dialect can.
        """

    @abstractmethod
    def compose(self, prompt: Conversation, how: Upstreams) -> JsonObject:
        """Write a request for an upstream; what it cannot say is noted in `prompt.dropped`."""

    @abstractmethod
    def read(self, answer: JsonObject) -> Answer:
        """Read an upstream's whole answer; its usage is read elsewhere."""

    @abstractmethod
    def write(self, answer: Answer, prompt: Conversation) -> JsonObject:
        """Write a whole answer to an agent."""

    @abstractmethod
    def reader(self) -> PieceReader:
        """A reader for one stream of an upstream."""

    @abstractmethod
    def writer(self, prompt: Conversation) -> PieceWriter:
        """A writer for one stream to an agent."""


# Reading what strangers wrote: another type than the dialect has is a request nobody can answer.


def objects(value: object, what: str) -> list[JsonObject]:
    """A list of objects, empty for nothing.

    Raises:
        Untranslatable: It is something else.
    """
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise Untranslatable(f"{what} is not a list of objects.")
    return value


def object_of(value: object) -> JsonObject:
    """An object, empty when it is none."""
    return value if isinstance(value, dict) else {}


def string(value: object) -> str:
    """A string, empty when it is none."""
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """The strings of a list, or the one string."""
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def number(value: object) -> float | None:
    """A number, None when it is none."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def positive(value: object) -> int | None:
    """A whole number above 0, None when it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def data_url(value: object) -> ImagePart:
    """A picture out of a data URL.

    Raises:
        Untranslatable: It is none, or not in base64.
    """
    head, comma, data = string(value).partition(",")
    if not head.startswith("data:") or not comma or not head.endswith(";base64"):
        raise Untranslatable("A picture must lie in the request, as a data URL in base64.")
    return ImagePart(head[5:-7].partition(";")[0] or "image/png", data)


def note_unknown(prompt: Conversation, body: Mapping[str, Any], handled: frozenset[str], prefix: str = "") -> None:
    """Note the fields of a request that are not `handled`."""
    for name, value in body.items():
        if name not in handled and value is not None and value not in ([], {}, ""):
            prompt.drop(prefix + name)


def arguments_text(value: object) -> str:
    """JSON as models write it."""
    return json.dumps(value, ensure_ascii=False)
