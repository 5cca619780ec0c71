"""A session: what lets one attempt through the model proxy, and the account of what it did there."""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from repoassay.model_proxy.estimate import Estimator
from repoassay.model_proxy.journal import CallJournal
from repoassay.model_proxy.ledger import BudgetLedger
from repoassay.model_proxy.limits import Budget
from repoassay.model_proxy.vendors import VENDORS
from repoassay.types import Call, Spending

if TYPE_CHECKING:
    from repoassay.model_proxy.record import CallRecorder
    from repoassay.model_proxy.step_recorder import StepRecorder

__all__ = ["AS_ASKED", "AttemptSession"]

AS_ASKED = "*"
"""In place of a model's name: whichever the client asks its upstream for, as programs do that name their own."""

_MODEL_NAME = re.compile(r"[A-Za-z0-9][\w.:@/+-]{0,199}")
_MOST_LARGE = 2  # requests of an attempt under way at a time; further ones wait in the network's buffers
_MOST_REFUSED_LINES = 10_000  # a hostile agent must not fill the disk with refusals


class _Closer(Protocol):
    def close_pass(self, entry: AttemptSession) -> None: ...


class AttemptSession:
    """One attempt's way through the model proxy; made by `Gateway.admit`.

    Attributes:
        attempt: The attempt's id.
        token: The unguessable part of its path. `key`: the key its agent is given; worthless elsewhere and afterwards.
        model: The model its calls are sent to, without the provider, or `AS_ASKED`. `upstream`: the provider.
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
        recorder: CallRecorder | None,
        steps: StepRecorder | None,
        closed_world: bool,
        on_exhausted: Callable[[str], None] | None,
    ) -> None:
        self.attempt = attempt
        self.token = secrets.token_urlsafe(32)
        self.key = f"sk-ra-{secrets.token_urlsafe(32)}"
        self.upstream = upstream
        self.model = model
        self.ledger = BudgetLedger(budget, "attempt")
        self.journal = journal
        self.context_window = context_window
        self.keep_bodies = keep_bodies
        self.recorder = recorder
        self.steps = steps
        self.closed_world = closed_world
        self.estimator = Estimator()
        self.exhausted = threading.Event()
        self.why = ""
        self.closed = False
        self.inflight = 0
        self.large = asyncio.Semaphore(_MOST_LARGE)
        self.tasks: set[asyncio.Task[object]] = set()
        self.too_long = 0
        self._seq = 0
        self._refused_lines = 0
        self._on_exhausted = on_exhausted
        self._gateway = gateway
        self._lock = threading.Lock()
        self._spending = Spending()

    @property
    def keeps_answers(self) -> bool:
        """Whether what the agent is answered is wanted again once it was sent."""
        return self.keep_bodies or self.recorder is not None or self.steps is not None

    def served_model(self, wanted: str) -> str:
        """The model that a call is sent to which asks for one by name; empty where there is no such name."""
        if self.model != AS_ASKED:
            return self.model
        return wanted if _MODEL_NAME.fullmatch(wanted) else ""

    def urls(self, origin: str) -> dict[str, str]:
        """The base URL for each dialect, as the vendors' own clients want it, when the model proxy is at `origin`.

        Args:
            origin: `http://127.0.0.1:PORT`, with the port of the socket the agent will reach.
        """
        base = f"{origin.rstrip('/')}/{self.token}"
        return {name: base + vendor.base_path for name, vendor in VENDORS.items()}

    def next_seq(self) -> int:
        """The number of the next request; only the model proxy's loop calls it."""
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
            self._spending = self._spending.with_call(call)
        if not call.forwarded and call.refused:
            self._refused_lines += 1
            if self._refused_lines > _MOST_REFUSED_LINES:
                return
        self.journal.append(call)

    def totals(self) -> Spending:
        """What it did so far; may be asked from any thread."""
        with self._lock:
            return self._spending.model_copy(update={"exhausted": self.why})

    def close(self) -> Spending:
        """Let no further request through, wait shortly for those under way, and return the totals. Safe to repeat."""
        self._gateway.close_pass(self)
        return self.totals()
