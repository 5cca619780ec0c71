"""Where the attempts of a run are made: on this machine, or by whatever else answers to `AttemptMaker`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Protocol

from repoassay.agents import Agent
from repoassay.engine.attempt import AttemptContext, AttemptResult, work
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.model_access import AttemptAccess, ModelAccess
from repoassay.engine.starts import Starts
from repoassay.records import Slot
from repoassay.tasks import TaskFolder
from repoassay.types import Plan

__all__ = ["AttemptMaker", "AttemptShare", "LocalAttempts"]


@dataclass(frozen=True, slots=True)
class AttemptShare:
    """Whether an attempt may begin, and what it may spend.

    Attributes:
        share_usd: Dollars of the run's budget that nobody else may spend meanwhile; None where none are set apart.
        over: Why the run's budget lets none begin any more; empty when it does.
    """

    share_usd: Decimal | None = None
    over: str = ""


class AttemptMaker(Protocol):
    """Makes attempts, used from as many threads as it has capacity; what is written down of them is the caller's."""

    @property
    def capacity(self) -> int:
        """Attempts at a time; may change while the run goes on."""

    def admit(self, slot: Slot, stopped: threading.Event) -> AttemptShare:
        """Wait until the run's budget holds another attempt of the slot's agent, or the run is stopped."""

    def make(
        self, slot: Slot, attempt: str, place: Path, share_usd: Decimal | None, cancel: threading.Event,
        on_account: Callable[[AttemptAccess], None],
    ) -> AttemptResult:  # fmt: skip
        """Make one attempt, whose files land in `place`; `share_usd` is what it was admitted with,
        and `on_account` is told of its account where that is on this machine.

        Raises:
            NodeLost: It was lost with its machine, and counts as never made.
        """


@dataclass(frozen=True, slots=True)
class LocalAttempts:
    """Attempts on this machine.

    Args:
        plan: The plan.
        folders: Its tasks by id.
        agents: Its agents by name, prepared.
        bench: What grades.
        meter: The run's way to models, open.
        starts: What is known of the agents' starts.
    """

    plan: Plan
    folders: Mapping[str, TaskFolder]
    agents: Mapping[str, Agent]
    bench: GradingContext
    meter: ModelAccess
    starts: Starts

    @property
    def capacity(self) -> int:
        """As many as the plan has workers."""
        return max(1, self.plan.workers)

    def admit(self, slot: Slot, stopped: threading.Event) -> AttemptShare:
        """See `AttemptMaker.admit`: calls of models are admitted one by one, so nothing is held for an attempt."""
        return AttemptShare(over=self.meter.over())

    def make(
        self, slot: Slot, attempt: str, place: Path, share_usd: Decimal | None, cancel: threading.Event,
        on_account: Callable[[AttemptAccess], None],
    ) -> AttemptResult:  # fmt: skip
        """See `AttemptMaker.make`."""
        entry = AttemptContext(
            attempt, self.plan.agents[slot.agent], self.meter, self.plan.graded, on_account, slot.agent, self.starts
        )
        return work(self.folders[slot.task], self.agents[slot.agent], self.bench, place, cancel, entry)
