"""One request of an agent to a model, as the model proxy counted it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import Field

from repoassay.types.base import Record
from repoassay.types.usage import Usage

__all__ = ["Call", "Retry"]


class Retry(Record):
    """One try that did not end the call: its status (None: no answer), its fault, and the seconds waited after it."""

    status: int | None
    fault: str
    waited: float


class Call(Record):
    """One request of an agent, forwarded or refused.

    Attributes:
        attempt: The attempt's id; empty for a request that belongs to none.
        seq: Counts the attempt's requests from 1 in the order they came in.
        at: When it came in, UTC.
        dialect: chat, responses, messages or gemini; empty when the path is none of theirs.
        path: The request's path without the attempt's secret part and the query.
        asked: The model the agent named; `served`: the one the upstream was asked for; `answered_by`: the one it says
            answered, empty when it does not say.
        status: What the client was answered; None when the connection was cut instead.
        forwarded: Whether the upstream was asked at all.
        answered: Whether the upstream answered with success, so that tokens were spent.
        usage: The tokens; None is unknown, never zero. Unless `answered`, nothing is known to be spent.
        untold: Tries that broke off after the upstream may have worked on them: their tokens are unknown.
        price: US dollars; None is unknown, and `price_note` says why. `price_source`: where the price is from.
        upstream_cost: US dollars by the upstream's own word, None when it does not say.
        first_byte: Seconds to the first byte of the answer's body; `seconds`: to its last, or of one that the
            attempt's end cut short, to when the agent hung up. Both from the request's end.
        refused: Why the model proxy did not forward it, empty when it did.
        fault: What went wrong, empty when nothing; its words: docs/model-proxy.md. `whose` says whose doing it is.
        request_bytes: Size of the request's body; `response_bytes`: of what the client was sent.
        left_out: What the model proxy took out of the request, since the attempt may reach its model alone.
        spoken: The upstream's dialect, when the request was translated into it; empty when it was the agent's own.
        dropped: What the request said and a translation could not.
        body: Stem of the files beside the journal that hold the bodies, empty when they were not kept.
    """

    attempt: str
    seq: int
    at: datetime
    dialect: str = ""
    path: str = ""
    asked: str = ""
    served: str = ""
    answered_by: str = ""
    stream: bool = False
    status: int | None = None
    forwarded: bool = False
    answered: bool = False
    usage: Usage | None = None
    untold: int = 0
    price: Decimal | None = None
    price_note: str = ""
    price_source: str = ""
    upstream_cost: Decimal | None = None
    first_byte: float | None = None
    seconds: float = 0.0
    retries: tuple[Retry, ...] = ()
    refused: str = ""
    fault: str = ""
    whose: Literal["", "agent", "upstream", "ours"] = ""
    detail: str = Field(default="", max_length=2000)
    request_bytes: int = 0
    response_bytes: int = 0
    left_out: tuple[str, ...] = ()
    spoken: str = ""
    dropped: tuple[str, ...] = ()
    body: str = ""
