"""What a run says while it goes on: one record an event, handed to `on_event`, never two at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from repoassay.engine import AttemptAccess, CostBound
from repoassay.records import Slot
from repoassay.types import Attempt, Plan, Spending, Verdict

__all__ = [
    "AgentStarted",
    "AttemptDropped",
    "AttemptEvent",
    "AttemptFinished",
    "AttemptStarted",
    "EventSender",
    "OnEvent",
    "RunEvent",
    "RunOpened",
    "RunPlanned",
    "RunResumed",
]


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Root of all events."""


@dataclass(frozen=True, slots=True)
class RunPlanned(RunEvent):
    """Everything is decided and nothing has happened yet; `bound` is the most it may cost.

    An exception that `on_event` raises now keeps the run from being made.
    """

    plan: Plan = field(repr=False)
    bound: CostBound


@dataclass(frozen=True, slots=True)
class RunOpened(RunEvent):
    """The run folder is there; `attempts` are to be made."""

    path: Path
    attempts: int


@dataclass(frozen=True, slots=True)
class RunResumed(RunEvent):
    """An earlier run goes on: attempts kept, of which recovered; torn lines of its journal; attempts to be made."""

    kept: int
    recovered: int
    torn: tuple[int, ...]
    attempts: int


@dataclass(frozen=True, slots=True)
class AttemptEvent(RunEvent):
    """Something about one attempt: its task, agent (as the plan names it) and number, and how often it was retried."""

    task: str
    agent: str
    number: int
    tries: int


@dataclass(frozen=True, slots=True)
class AttemptStarted(AttemptEvent):
    """An attempt began."""


@dataclass(frozen=True, slots=True)
class AgentStarted(AttemptEvent):
    """An attempt's agent is about to start; `spending` tells what it has spent so far, None without a model."""

    spending: Callable[[], Spending | None] = field(repr=False)


@dataclass(frozen=True, slots=True)
class AttemptFinished(AttemptEvent):
    """An attempt ended and is on disk."""

    attempt: Attempt = field(repr=False)
    verdict: Verdict = field(repr=False)
    outcome: str


@dataclass(frozen=True, slots=True)
class AttemptDropped(AttemptEvent):
    """An attempt was given up; it is made again on resume."""


OnEvent = Callable[[RunEvent], object]


class EventSender:
    """Turns what the engine reports into events, one after the other, from whatever thread it comes."""

    def __init__(self, on_event: OnEvent | None) -> None:
        self._on_event = on_event
        self._lock = threading.Lock()

    def send(self, event: RunEvent) -> None:
        """Hand an event over."""
        if self._on_event is not None:
            with self._lock:
                self._on_event(event)

    def resuming(self, kept: int, recovered: int, torn: tuple[int, ...], left: int) -> None:
        """A run goes on; this and what follows is what `repoassay.engine.Progress` asks for."""
        self.send(RunResumed(kept, recovered, torn, left))

    def started(self, slot: Slot) -> None:
        """An attempt began."""
        self.send(AttemptStarted(slot.task, slot.agent, slot.number, slot.tries))

    def admitted(self, slot: Slot, account: AttemptAccess) -> None:
        """Its agent is about to start."""
        self.send(AgentStarted(slot.task, slot.agent, slot.number, slot.tries, account.now))

    def finished(self, slot: Slot, attempt: Attempt, verdict: Verdict) -> None:
        """It ended and is on disk."""
        self.send(
            AttemptFinished(
                slot.task, slot.agent, slot.number, slot.tries, attempt, verdict, verdict.outcome.value
            )
        )  # fmt: skip

    def dropped(self, slot: Slot) -> None:
        """It was given up."""
        self.send(AttemptDropped(slot.task, slot.agent, slot.number, slot.tries))
