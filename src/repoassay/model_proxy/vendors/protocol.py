"""What a vendor's class must say: which requests are its own, what they ask, its answers, its usage, its errors.

An agent's request passes by the request side; a scripted model answers by the reply side, a recorder and our own
programs read answers by it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.vendors.parts import told_cost
from repoassay.types import Usage

__all__ = [
    "Asks",
    "ErrorReply",
    "ModelQuestion",
    "ProviderTrouble",
    "Reply",
    "RequestView",
    "Route",
    "ToolUse",
    "Vendor",
    "Watcher",
]  # fmt: skip


class Asks(StrEnum):
    """What a request wants of the upstream."""

    REPLY = "reply"
    COUNT = "count"
    MODELS = "models"
    HELLO = "hello"


class ProviderTrouble(StrEnum):
    """Why the model proxy itself answers with an error."""

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
    """A request that a vendor knows: what it asks, and the model and streaming when the path tells them."""

    asks: Asks
    model: str = ""
    stream: bool | None = None


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An error in the vendor's own shape."""

    status: int
    body: JsonObject
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """One question of a program of ours: `output_field` is the upstream's name for the limit, where names vary."""

    model: str
    system: str
    user: str
    max_tokens: int
    temperature: float | None = None
    output_field: str = "max_tokens"

    @property
    def warmth(self) -> JsonObject:
        """The temperature as most vendors have it; empty when it is theirs to choose."""
        return {} if self.temperature is None else {"temperature": self.temperature}


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call by its exact name, with an id."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model says: text, tool calls, usage; `id` is unique in the attempt."""

    id: str
    model: str
    text: str
    calls: tuple[ToolUse, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class RequestView:
    """What a request says: the text of its last message, and the tools offered as name -> JSON schema."""

    last: str
    tools: dict[str, dict[str, Any]]


class Watcher(ABC):
    """Reads along with a streamed response, one event's data at a time.

    Attributes:
        usage: What was counted, None until it came.
        finished: Whether the stream said that it was complete.
        error: The kind of error the stream itself carried, empty when none.
        cost: US dollars that the upstream says it cost, None until it does. `model`: the model that it says answers.
        hides: Whether some events must be kept from the client.
    """

    hides = False

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.cost: Decimal | None = None
        self.model = ""
        self.finished = False
        self.error = ""

    @abstractmethod
    def wants(self, data: bytes) -> bool:
        """Whether this event's data is worth parsing; a cheap look at the bytes."""

    @abstractmethod
    def see(self, data: JsonObject) -> bool:
        """Take note of one event; returns whether it must be hidden from the client."""

    def note(self, usage: object, model: object) -> None:
        """Take note of a cost told beside tokens, and of a model's name."""
        cost = told_cost(usage)
        self.cost = self.cost if cost is None else cost
        self.model = model[:200] if isinstance(model, str) and model else self.model


class Vendor(ABC):
    """One vendor's wire protocol. Stateless; everything about one response is in its watcher.

    Attributes:
        name: The dialect's name in plans, journals and files of upstreams.
        base_path: What the vendor's own clients want at the end of the base URL.
        end_marker: Data of the event that ends a stream and is not JSON; empty when there is none.
        usage_field: Where a complete response has its usage. `model_field`: where it has the model's name.
        untold: Counts of `Usage` that the vendor does not report.
        client_headers: Headers that the vendor wants of every client, besides the key.
    """

    name: ClassVar[str]
    base_path: ClassVar[str] = ""
    end_marker: ClassVar[bytes] = b""
    usage_field: ClassVar[str] = "usage"
    model_field: ClassVar[str] = "model"
    untold: ClassVar[tuple[str, ...]] = ()
    client_headers: ClassVar[Mapping[str, str]] = {}

    # Requests.

    @abstractmethod
    def route(self, method: str, path: str, query: Mapping[str, str]) -> Route | None:
        """The route of a request, or None when it is not this vendor's."""

    def resembles(self, path: str, headers: Mapping[str, str]) -> bool:
        """Whether a request that nobody knows looks like one of this vendor's clients."""
        del path, headers
        return False

    @abstractmethod
    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str:
        """The key the request carries, empty when none."""

    @abstractmethod
    def sign(self, key: str) -> dict[str, str]:
        """The headers that carry `key` to the upstream; none without a key, as local servers want it."""

    @abstractmethod
    def url(self, base: str, route: Route, model: str) -> str:
        """The upstream's address for this route; `base` ends in `base_path`."""

    @abstractmethod
    def confine(self, body: JsonObject) -> list[str]:
        """Take out, in place, what the vendor would act by beyond answering; returns the names.

        Raises:
            Outside: The request may not be forwarded.
        """

    def change(self, body: JsonObject, route: Route, model: str) -> bool:
        """Put the configured model and what metering needs into `body`; returns whether it changed."""
        del route
        changed = body.get("model") != model
        body["model"] = model
        return changed

    @abstractmethod
    def streams(self, body: JsonObject, route: Route) -> bool:
        """Whether the answer is to be streamed."""

    @abstractmethod
    def most_output(self, body: JsonObject) -> int | None:
        """How many tokens the request allows the model to write, None when it does not say."""

    @abstractmethod
    def limit(self, body: JsonObject, tokens: int, field: str) -> None:
        """Let each answer have so many tokens at most; `field` is the upstream's own name for it, where names vary."""

    def choices(self, body: JsonObject) -> int:
        """How many answers the request asks for."""
        del body
        return 1

    @abstractmethod
    def question(self, question: ModelQuestion) -> JsonObject:
        """The body of a request that asks one question without tools or streaming."""

    @abstractmethod
    def client_env(self, url: str, key: str) -> dict[str, str]:
        """The environment by which the vendor's own clients find a model at the base URL `url`."""

    @abstractmethod
    def read_request(self, body: JsonObject) -> RequestView:
        """What a request says last and offers."""

    # Replies.

    @abstractmethod
    def response(self, reply: Reply) -> JsonObject:
        """The body of an answer that is not streamed."""

    @abstractmethod
    def stream_events(self, reply: Reply) -> Iterator[bytes]:
        """The events of a streamed one, in the vendor's order, each with its blank line."""

    @abstractmethod
    def read_response(self, answer: JsonObject) -> tuple[str, list[tuple[str, JsonObject]]]:
        """The text and the tool calls (name, arguments) of an answer's body."""

    @abstractmethod
    def join_events(self, events: list[JsonObject]) -> JsonObject:
        """The body that a stream's events amount to, as far as `read_response` needs it."""

    @abstractmethod
    def watcher(self, request: JsonObject) -> Watcher:
        """A watcher for the streamed answer to `asked`, the request's body as it came."""

    def usage(self, body: JsonObject) -> Usage | None:
        """The usage of a complete response."""
        usage = body.get(self.usage_field)
        return self.read_usage(usage) if isinstance(usage, dict) else None

    def told_model(self, body: JsonObject) -> str:
        """The model that a complete response says it is of."""
        model = body.get(self.model_field)
        return model[:200] if isinstance(model, str) else ""

    @staticmethod
    @abstractmethod
    def read_usage(usage: Mapping[str, object]) -> Usage | None:
        """Read a report of usage into the one convention; None when the counts it needs are not all there."""

    def token_count(self, tokens: int) -> JsonObject:
        """The answer to a request to count tokens."""
        return {"totalTokens": tokens}

    @abstractmethod
    def models(self, names: list[str]) -> JsonObject:
        """The answer to a request for the list of models."""

    # Errors.

    @abstractmethod
    def refuse(self, trouble: ProviderTrouble, message: str) -> ErrorReply:
        """Word `trouble` as the vendor does."""

    @abstractmethod
    def too_long(self, prompt: int, window: int) -> str:
        """How the vendor says that `prompt` tokens do not fit into a context of `window`; agents look for the words."""
