"""Whether an agent that ended like a program that cannot start could indeed not start.

Its exit status and what it printed are its own word, and an agent that gets on badly could say them to leave the
figures. So they excuse nothing by themselves. What does: our own look, which finds that the program, its interpreter or
a module it begins with is not there (`agents/start_proof.py`); or that the agent was never seen to start in the whole
run, and fails in the same way when it is started once more without a task to look at. The latter holds only as long as
it never starts: once it does, the attempts that were excused so are made again, and count.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from repoassay.agents import Agent, FunctionAgent, StartFailure, lacks, start_failure
from repoassay.engine.start_check import start_once
from repoassay.errors import BadInput
from repoassay.records import Slot
from repoassay.sandbox import Cache, Command, Sandbox
from repoassay.types import Plan
from repoassay.workspace import PreparedTask, bare_layout

__all__ = ["Excuse", "Starts"]

_NOTHING_TO_DO = "Say that you are there. There is nothing to do.\n"


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why an attempt is no failure of the agent; `proven` unless it may turn out that the agent can start."""

    why: str
    proven: bool


@dataclass
class Starts:
    """What is known of the starts of a run's agents. Used from any thread.

    Args:
        plan: The plan.
        agents: By the plan's names, prepared.
        cache: For empty folders.
        sandbox: What agents run in.
        started: Names of agents that are known to start.
    """

    plan: Plan
    agents: Mapping[str, Agent]
    cache: Cache
    sandbox: Sandbox
    started: Collection[str] = ()
    _seen: set[str] = field(init=False)
    _controls: dict[tuple[str, Path], bool] = field(default_factory=dict)
    _excused: list[Slot] = field(default_factory=list)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self._seen = set(self.started)

    def excuse(self, name: str, command: Command, layout: PreparedTask, failure: StartFailure) -> Excuse | None:
        """Why an attempt that ended with `failure`, having asked and left nothing, counts as a fault of the set-up."""
        agent = self.agents[name]
        if missing := agent.missing() if isinstance(agent, FunctionAgent) else lacks(command, self.sandbox):
            return Excuse(f"{missing}, as RepoAssay found by its own look", proven=True)
        with self._lock:
            if name in self._seen:
                return None
            key = (name, layout.environment)
            if key not in self._controls:
                self._controls[key] = self._fails_without_task(name, layout)
            if self._controls[key]:
                return Excuse(f"{failure.why}, without a task as well", proven=False)
            self._seen.add(name)
            return None

    def _fails_without_task(self, name: str, layout: PreparedTask) -> bool:
        """Start the agent in the same environment with nothing to do."""
        task = layout.folder.task.model_copy(update={"id": "nothing-to-do", "rules": ""})
        folder = replace(layout.folder, task=task, instruction=_NOTHING_TO_DO)
        bare = bare_layout(replace(layout, folder=folder), self.cache)
        entry = self.plan.agents[name]
        try:
            ended = start_once(self.agents[name], entry, self.plan, bare, self.sandbox, failed=True)
        except BadInput:
            return False
        if ended is None:
            return False
        done = ended[1]
        return start_failure(done.exit, (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace")) is not None

    def has_seen(self, name: str) -> bool:
        """Whether an agent is known to start."""
        with self._lock:
            return name in self._seen

    def doubted(self, slot: Slot) -> list[Slot]:
        """Remember an attempt that is excused until its agent starts; `retry_of` is the attempt itself.

        Returns it at once, to be made again, where the agent was meanwhile seen to start.
        """
        with self._lock:
            if slot.agent in self._seen:
                return [slot]
            self._excused.append(slot)
            return []

    def saw(self, name: str) -> list[Slot]:
        """Note that an agent started; returns what was excused so far and is to be made again."""
        with self._lock:
            self._seen.add(name)
            again = [slot for slot in self._excused if slot.agent == name]
            self._excused = [slot for slot in self._excused if slot.agent != name]
            return again
