"""How the model proxy reaches an upstream: one interface for vendors over HTTP and for scripted ones in process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from repoassay.model_proxy.request_rules.parts import JsonObject
from repoassay.model_proxy.vendors import Route, Vendor

__all__ = ["UpstreamClient", "UpstreamError", "UpstreamRequest", "UpstreamResponse"]


class UpstreamError(Exception):
    """The upstream gave no whole answer; `fault` is the journal's word for it. Never carries a key."""

    def __init__(self, fault: str, detail: str = "") -> None:
        super().__init__(detail or fault)
        self.fault = fault
        self.detail = detail


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """One request to an upstream: `raw` is `body` as bytes, `headers` are those passed on from the agent.

    `set_limit` is the limit of output that the model proxy put in where the agent gave none.
    """

    dialect: Vendor
    route: Route
    model: str
    body: JsonObject
    raw: bytes
    attempt: str
    stream: bool
    headers: Mapping[str, str] = field(default_factory=dict)
    set_limit: int | None = None


class UpstreamResponse(Protocol):
    """An upstream's response whose head has come. `headers` has lower-case names."""

    status: int
    headers: Mapping[str, str]

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives.

        Raises:
            UpstreamError: It was cut, or fell silent.
        """
        ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...


class UpstreamClient(Protocol):
    """A way to one upstream."""

    name: str
    dialects: frozenset[str]
    concurrency: int | None
    output_field: str
    """What it calls the limit of an answer in chat completions."""
    translate: bool
    """Whether other dialects than its own are translated for it."""
    reasoning: bool
    """Whether a translation may tell it how hard to think, and what was thought before."""
    tells_cost: bool
    """Whether its answers say what they cost, so that dollars can be limited where no price is known."""
    allow: tuple[str, ...]
    """Names of fields and kinds of tools by which the vendor may act for the agent, whatever the network policy."""
    secret: str
    """The real key, for scrubbing; empty when there is none."""

    async def open(self, ask: UpstreamRequest) -> UpstreamResponse:
        """Send a request and wait for the head of the response.

        Raises:
            UpstreamError: There was none.
        """
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...
