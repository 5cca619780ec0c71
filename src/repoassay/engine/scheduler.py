"""Places of a plan still to be filled, handed out so that no provider is asked by too many attempts at once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.records import (
    EndedAttempt,
    RunFolder,
    Slot,
    counting_attempts,
    index_run,
    is_store_url,
    store_url,
)
from repoassay.sandbox import Cache
from repoassay.types import Outcome

__all__ = ["Scheduler", "all_slots", "locate", "open_slots"]


class Scheduler:
    """A queue for a few workers. A slot that is handed out comes back through `done`, perhaps with one to make again.

    Args:
        slots: In the order they are to be made, as far as providers have places.
        provider_of: The provider of a slot's model, empty for none.
        most: Attempts at a time, by provider; others are bounded by the workers alone.
    """

    def __init__(self, slots: Iterable[Slot], provider_of: Callable[[Slot], str], most: Mapping[str, int]) -> None:
        self._slots = list(slots)
        self._provider_of, self._most = provider_of, most
        self._busy: Counter[str] = Counter()
        self._under_way = 0
        self._changed = threading.Condition()

    def take(self, stopped: threading.Event) -> Slot | None:
        """The next slot that may be begun; waits while there may yet be one. None when all is done or stopped."""
        with self._changed:
            while not stopped.is_set():
                for index, slot in enumerate(self._slots):
                    provider = self._provider_of(slot)
                    if provider not in self._most or self._busy[provider] < self._most[provider]:
                        self._busy[provider] += 1
                        self._under_way += 1
                        return self._slots.pop(index)
                if not self._slots and not self._under_way:
                    break
                self._changed.wait(0.2)
        return None

    def done(self, slot: Slot, again: Sequence[Slot] = ()) -> None:
        """A slot taken before has ended; `again` is made after those still waiting, when a trouble may have passed."""
        with self._changed:
            self._busy[self._provider_of(slot)] -= 1
            self._under_way -= 1
            self._slots.extend(again)
            self._changed.notify_all()


def all_slots(run: RunFolder) -> list[Slot]:
    """Every slot of the plan: all tasks once with each agent, then again for further attempts."""
    plan = run.plan
    return [
        Slot(task.id, agent, number)
        for number in range(1, plan.attempts + 1)
        for agent in plan.agents
        for task in plan.tasks
    ]


def open_slots(
    run: RunFolder, only: Collection[Outcome] = (), attempts: Sequence[EndedAttempt] | None = None
) -> list[Slot]:  # fmt: skip
    """Slots without a finished attempt, and those whose last attempt our own fault spoiled (as retries).

    With `only`, slots whose last attempt had one of these outcomes, and no others. `attempts` are the run's finished
    attempts where they are known already.
    """
    found: Sequence[EndedAttempt] = index_run(run.path).attempts if attempts is None else attempts
    last = counting_attempts(run.plan, found, lambda done: done)
    again = only or (Outcome.INFRA_FAULT,)
    slots = []
    for slot in all_slots(run):
        done = last.get(slot)
        if done is None:
            slots += [] if only else [slot]
        elif done.outcome in again:
            slots.append(slot._replace(retry_of=done.id))
    return slots


def locate(path: Path) -> Path:
    """A run folder given by path, or `latest` for the newest below ./runs; of a stored run's URL a copy in the cache.

    Raises:
        BadInput: There is no run, or what is stored is none.
        InfraFault: The store cannot be read.
    """
    if is_store_url(path) and not path.exists():
        return _copy_of(store_url(path))
    if str(path) != "latest":
        return path
    found = sorted(item for item in Path("runs").glob("*") if (item / "run.json").is_file())
    if not found:
        raise BadInput("There is no run below ./runs.", "Name a run folder, or make one with `repoassay run`.")
    return found[-1]


def _copy_of(url: str) -> Path:
    """The copy of a stored run in the cache, brought up to date."""
    from repoassay.records import pull_run

    cache, key = Cache(), sha256(url.encode()).hexdigest()[:32]
    with cache.lock(f"runs-{key}"):
        pull_run(url, cache.path / "runs" / key)
    return cache.path / "runs" / key
