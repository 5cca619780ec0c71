"""A pass: what lets one attempt through the gateway, and the account of what it did there."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from repoassay.gateway.estimate import Estimator
from repoassay.gateway.journal import CallJournal
from repoassay.gateway.ledger import Ledger
from repoassay.gateway.limits import Budget
from repoassay.model import Call
from repoassay.model.usage import Usage

if TYPE_CHECKING:
    from repoassay.gateway.record import Recorder

__all__ = ["Pass", "Totals"]

_MOST_REFUSED_LINES = 10_000  # a hostile agent must not fill the disk with refusals


@dataclass(frozen=True, slots=True)
class Totals:
    """What an attempt did at the gateway.

    Attributes:
        calls: Calls the upstream answered with success.
        failed: Forwarded calls that ended otherwise. `refused`: requests the gateway did not forward.
        usage: The sum over calls whose usage is known. `unknown`: how many answered calls told none.
        dollars: The sum; None when any answered call has no price, and `dollars_note` says why.
        dollars_known: The sum over the calls that have a price, a lower bound.
        retries: Tries beyond the first of each call.
        faults: How often each fault word was journalled.
        outage: The fault that ended the last forwarded call when it was the upstream's or ours, else empty: an
            attempt that ended so failed through no fault of its agent.
        exhausted: Why the budget or context ended the attempt, empty when it did not.
        models: Names of the models served.
    """

    calls: int = 0
    failed: int = 0
    refused: int = 0
    usage: Usage = field(default_factory=Usage)
    unknown: int = 0
    dollars: Decimal | None = Decimal(0)
    dollars_note: str = ""
    dollars_known: Decimal = Decimal(0)
    retries: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    outage: str = ""
    exhausted: str = ""
    models: tuple[str, ...] = ()


class _Closer(Protocol):
    def close_pass(self, entry: Pass) -> None: ...


class Pass:
    """One attempt's way through the gateway; made by `Gateway.admit`.

    Attributes:
        attempt: The attempt's id.
        token: The unguessable part of its path. `key`: the key its agent is given; worthless elsewhere and afterwards.
        model: The model its calls are sent to, without the provider. `upstream`: the provider.
        closed_world: Whether it may reach its model alone, so that the vendor must not act for it either.
        exhausted: Set once a budget, or the context window twice in a row, stopped it; `why` then says so.
    """

    def __init__(
        self,
        gateway: _Closer,
        *,
        attempt: str,
        upstream: str,
        model: str,
        budget: Budget,
        journal: CallJournal,
        context_window: int | None,
        keep_bodies: bool,
        recorder: Recorder | None,
        closed_world: bool,
        on_exhausted: Callable[[str], None] | None,
    ) -> None:
        self.attempt = attempt
        self.token = secrets.token_urlsafe(32)
        self.key = f"sk-ra-{secrets.token_urlsafe(32)}"
        self.upstream = upstream
        self.model = model
        self.ledger = Ledger(budget, "attempt")
        self.journal = journal
        self.context_window = context_window
        self.keep_bodies = keep_bodies
        self.recorder = recorder
        self.closed_world = closed_world
        self.estimator = Estimator()
        self.exhausted = threading.Event()
        self.why = ""
        self.closed = False
        self.inflight = 0
        self.tasks: set[asyncio.Task[object]] = set()
        self.too_long = 0
        self._seq = 0
        self._refused_lines = 0
        self._on_exhausted = on_exhausted
        self._gateway = gateway
        self._lock = threading.Lock()
        self._totals = Totals()
        self._faults: Counter[str] = Counter()

    @property
    def journal_path(self) -> Path:
        """Where the calls are written."""
        return self.journal.path

    def urls(self, origin: str) -> dict[str, str]:
        """The base URL for each dialect, as the vendors' own clients want it, when the gateway is at `origin`.

        Args:
            origin: `http://127.0.0.1:PORT`, with the port of the socket the agent will reach.
        """
        base = f"{origin.rstrip('/')}/{self.token}"
        return {"chat": f"{base}/v1", "responses": f"{base}/v1", "messages": base, "gemini": base}

    def next_seq(self) -> int:
        """The number of the next request; only the gateway's loop calls it."""
        self._seq += 1
        return self._seq

    def exhaust(self, why: str) -> None:
        """Fire `exhausted`, once."""
        if self.exhausted.is_set():
            return
        self.why = why
        self.exhausted.set()
        if self._on_exhausted is not None:
            self._on_exhausted(why)

    def record(self, call: Call) -> None:
        """Journal one finished call and add it to the totals."""
        with self._lock:
            self._add(call)
        if not call.forwarded and call.refused:
            self._refused_lines += 1
            if self._refused_lines > _MOST_REFUSED_LINES:
                return
        self.journal.append(call)

    def _add(self, call: Call) -> None:
        old = self._totals
        if call.fault:
            self._faults[call.fault] += 1
        answered = call.answered
        priced = call.price if call.price is not None else Decimal(0)
        unpriced = answered and (call.price is None or bool(call.price_note))
        outage = old.outage
        if call.forwarded:
            outage = call.fault if call.whose in {"upstream", "ours"} else ""
        models = old.models if not answered or call.served in old.models else (*old.models, call.served)
        self._totals = Totals(
            calls=old.calls + answered,
            failed=old.failed + (call.forwarded and not answered and bool(call.fault)),
            refused=old.refused + bool(call.refused),
            usage=old.usage + call.usage if call.usage is not None else old.usage,
            unknown=old.unknown + (answered and call.usage is None),
            dollars=None if old.dollars is None or unpriced else old.dollars + priced,
            dollars_note=old.dollars_note or (call.price_note if unpriced else ""),
            dollars_known=old.dollars_known + priced,
            retries=old.retries + len(call.retries),
            outage=outage,
            models=models,
        )

    def totals(self) -> Totals:
        """What it did so far; may be asked from any thread."""
        with self._lock:
            return replace(self._totals, faults=dict(self._faults), exhausted=self.why)

    def close(self) -> Totals:
        """Let no further request through, wait shortly for those under way, and return the totals. Safe to repeat."""
        self._gateway.close_pass(self)
        return self.totals()
