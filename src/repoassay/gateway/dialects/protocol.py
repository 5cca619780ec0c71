"""What a wire dialect must say: which requests are its own, what they ask for, and how its vendor words an error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from repoassay.model.usage import Usage

__all__ = ["Asks", "Dialect", "JsonObject", "Refusal", "Route", "Trouble", "Watcher", "count_of", "token_limit"]

JsonObject = dict[str, Any]
_MOST_CHOICES = 128


class Asks(StrEnum):
    """What a request wants of the upstream."""

    REPLY = "reply"
    COUNT = "count"
    MODELS = "models"
    HELLO = "hello"


class Trouble(StrEnum):
    """Why the gateway itself answers with an error."""

    NOT_FOUND = "not_found"
    NO_PASS = "no_pass"  # noqa: S105 - a word of the journal, no password
    BAD_REQUEST = "bad_request"
    TOO_LARGE = "too_large"
    BUSY = "busy"
    BUDGET = "budget"
    CONTEXT = "context"
    OUTSIDE = "outside"
    UPSTREAM = "upstream"
    SILENCE = "silence"


@dataclass(frozen=True, slots=True)
class Route:
    """A request that a dialect knows: what it asks, and the model and streaming when the path tells them."""

    asks: Asks
    model: str = ""
    stream: bool | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error in the vendor's own shape."""

    status: int
    body: JsonObject
    headers: Mapping[str, str] = field(default_factory=dict)


def token_limit(value: object) -> int | None:
    """A limit of tokens as a request says it, None when that is no number of tokens."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def count_of(value: object) -> int:
    """How many answers a request asks for; what is no number may be read as many."""
    return 1 if value is None else min(token_limit(value) or _MOST_CHOICES, _MOST_CHOICES)


class Watcher(ABC):
    """Reads along with a streamed response, one event's data at a time.

    Attributes:
        usage: What was counted, None until it came.
        finished: Whether the stream said that it was complete.
        error: The kind of error the stream itself carried, empty when none.
        hides: Whether some events must be kept from the client.
    """

    hides = False

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.finished = False
        self.error = ""

    @abstractmethod
    def wants(self, data: bytes) -> bool:
        """Whether this event's data is worth parsing; a cheap look at the bytes."""

    @abstractmethod
    def see(self, data: JsonObject) -> bool:
        """Take note of one event; returns whether it must be hidden from the client."""


class Dialect(Protocol):
    """One vendor's wire protocol. Stateless; everything about one response is in its watcher."""

    name: str
    end_marker: bytes
    """Data of the event that ends a stream and is not JSON; empty when there is none."""

    def route(self, method: str, path: str, query: Mapping[str, str]) -> Route | None:
        """The route of a request, or None when it is not this dialect's."""
        ...

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        """The key the request carries, empty when none."""
        ...

    def sign(self, key: str) -> dict[str, str]:
        """The headers that carry `key` to the upstream."""
        ...

    def url(self, base: str, route: Route, model: str) -> str:
        """The upstream's address for this route."""
        ...

    def change(self, body: JsonObject, route: Route, model: str) -> bool:
        """Put the configured model and what metering needs into `body`; returns whether it changed."""
        ...

    def streams(self, body: JsonObject, route: Route) -> bool:
        """Whether the answer is to be streamed."""
        ...

    def most_output(self, body: JsonObject) -> int | None:
        """How many tokens the request allows the model to write, None when it does not say."""
        ...

    def limit(self, body: JsonObject, tokens: int, field: str) -> None:
        """Let each answer have so many tokens at most; `field` is the upstream's own name for it, where names vary."""
        ...

    def choices(self, body: JsonObject) -> int:
        """How many answers the request asks for."""
        ...

    def usage(self, body: JsonObject) -> Usage | None:
        """The usage of a complete response."""
        ...

    def watcher(self, asked: JsonObject) -> Watcher:
        """A watcher for the streamed answer to `asked`, the request's body as it came."""
        ...

    def refuse(self, trouble: Trouble, message: str) -> Refusal:
        """Word `trouble` as the vendor does."""
        ...

    def models(self, names: list[str]) -> JsonObject:
        """The answer to a request for the list of models."""
        ...
