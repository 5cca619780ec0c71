"""What lies between an attempt and the world: its session at the model proxy, its port forwards, and what it spent.

One `ModelAccess` a run holds the model proxy and the package proxy; it lets each attempt in and out again. An attempt
whose budget is spent is given a moment to write down what it has, then its sandbox is ended; what it left is graded.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from repoassay.agents import AccessPoint, Agent, AsksModel, PlacedAgent
from repoassay.engine.models import attempt_budget, prices_of, upstreams_of
from repoassay.engine.packages import PackageDoors, Packages
from repoassay.errors import BadInput
from repoassay.model_proxy import (
    NOT_SERVED,
    VENDORS,
    AttemptSession,
    CallLimits,
    Upstream,
    ask_once,
    open_budgeted,
)
from repoassay.records import JOURNAL, STEPS, run_spent
from repoassay.sandbox import Cache, Command, Completed, PortForward, Sandbox, network_of, open_door, permitted_hosts
from repoassay.types import AgentEntry, Call, Ended, Limits as AttemptLimits, NetworkPolicy, Plan, Spending, Trajectory
from repoassay.workspace import PreparedTask

if TYPE_CHECKING:
    from repoassay.model_proxy import Gateway

__all__ = ["GRACE", "NO_MODEL", "PORT", "AttemptAccess", "ModelAccess", "client_env", "needs_model"]

NO_MODEL = AccessPoint(model="", key="", urls={})
"""What an agent with a file of its own is given that asks no model."""
GRACE = 3.0
"""Seconds an agent whose budget is spent may take to end by itself, so that it can write its transcript down."""
PORT = 4710
"""Where an attempt finds its model, on its own 127.0.0.1."""


def needs_model(agent: Agent, entry: AgentEntry) -> bool:
    """Whether an entry of the plan is given a model.

    Raises:
        BadInput: The agent cannot work without one and none is named.
    """
    if isinstance(agent, AsksModel) and agent.dialect and not entry.model:
        raise BadInput(f"The agent {agent.name!r} needs a model.", "Name it with --model provider/name.")
    return bool(entry.model)


class _Ending(threading.Event):
    """Set when this attempt is to end; also counts as set once the whole run's own event is."""

    def __init__(self, whole: threading.Event) -> None:
        super().__init__()
        self._whole = whole

    def is_set(self) -> bool:
        return super().is_set() or self._whole.is_set()


class AttemptAccess:
    """One attempt while it works. `cancel` ends its sandbox; after it ended, `spent` says what it cost.

    `stopped` is set when the user gives the whole run up.
    """

    def __init__(self, into: Path, stopped: threading.Event) -> None:
        self.stopped = stopped
        self.cancel: threading.Event = _Ending(stopped)
        self.into = into
        self.entry: AttemptSession | None = None
        self.spent: Spending | None = None
        self.over_run = ""
        """Why the whole run's budget ended it, empty when it did not."""
        self.ended_at: datetime | None = None
        """When everything in the sandbox was dead."""
        self.door: PortForward | None = None
        """Where it finds its model."""
        self.packages = PackageDoors()
        self.policy = NetworkPolicy.NONE
        self.calls: int | None = None
        self.outside = False
        """Whether the agent is a function of this process, which starts whatever the sandbox says."""
        self.ran: tuple[Command, PreparedTask] | None = None
        """What was started, and where."""
        self.own_look: Callable[[Call], str] = lambda _: ""
        """What the model's server says to a question of ours, where it refuses that as it refused the agent's."""
        self.answers_us: Callable[[Call], bool] = lambda _: False
        """Whether the model's server answers a question of ours now, in the dialect of a call."""
        self.reopen: Callable[[], None] = lambda: None
        """Makes port forwards anew, which are those of one command each."""
        self.trajectories: list[Trajectory] = []
        """What was done by each agent that was started and that asks a model."""
        self._placed: PlacedAgent | None = None

    def command(self, agent: Agent, layout: PreparedTask, limits: AttemptLimits, into: Path | None = None) -> Command:
        """What the agent runs, with everything the network policy gives it; its own records land in `into`."""
        access = self._access()
        if isinstance(agent, AsksModel) and (access is not None or not agent.dialect):
            self._placed = agent.at(access or NO_MODEL, into or self.into)
            command = self._placed.command(layout, limits)
        else:
            command = agent.command(layout, limits)
            env = {**command.env, **(client_env(access) if access else {}), **dict(self.packages.env)}
            command = replace(command, env=env)
        self.outside = command.outside is not None
        mounts = (*command.mounts, *self.packages.mounts)
        doors = tuple(dict.fromkeys((*command.doors, *self._doors())))  # an agent may have port forwards of its own
        return replace(command, doors=doors, network=network_of(self.policy), mounts=mounts)

    def ended(self, done: Completed) -> Completed:
        """Take down what the agent recorded, and how it ended; time that the model proxy saw run out is a time-out."""
        self.ended_at = datetime.now(UTC)
        if self._placed is not None:
            self.trajectories.append(self._placed.read(done))
        if self.entry is not None and done.exit.ended is Ended.CANCELLED and self.entry.ledger.remaining() == 0:
            return replace(done, exit=done.exit.model_copy(update={"ended": Ended.TIMED_OUT}))
        return done

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """While nothing of the attempt is alive: this time is none that the model proxy counts."""
        began = time.monotonic()
        try:
            yield
        finally:
            if self.entry is not None:
                self.entry.ledger.extend(time.monotonic() - began)

    def is_over(self) -> bool:
        """Whether its agent may be started no more: its budget is spent, or it is given up."""
        return self.cancel.is_set() or (self.entry is not None and self.entry.exhausted.is_set())

    def _doors(self) -> tuple[PortForward, ...]:
        return (*((self.door,) if self.door else ()), *self.packages.doors)

    def now(self) -> Spending | None:
        """What it has spent so far; None without a model. May be asked from any thread."""
        return self.spent or (self.entry.totals() if self.entry is not None else None)

    def _access(self) -> AccessPoint | None:
        if self.entry is None or self.door is None:
            return None
        origin = f"http://127.0.0.1:{self.door.port}"
        return AccessPoint(
            model=self.entry.model, key=self.entry.key, urls=self.entry.urls(origin), doors=self._doors(),
            env=dict(self.packages.env), calls=self.calls,
        )  # fmt: skip


class ModelAccess:
    """The model proxy and the package proxy of a run. A context manager; used from any thread.

    Args:
        plan: The plan; a model proxy is opened when an entry of it has a model.
        run: The run folder; what was spent in it before counts against the run's budget.
        budget_usd: The run's budget in dollars, where it is another than the plan's.
        spenders: Ids of the attempts that spent of it before, those of a share of the run; by default all.
    """

    def __init__(
        self, plan: Plan, run: Path, budget_usd: Decimal | None = None, spenders: Collection[str] | None = None
    ) -> None:
        self._plan, self._run, self._spenders = plan, run, spenders
        self._budget = plan.metering.budget_usd if budget_usd is None else budget_usd
        self._gateway: Gateway | None = None
        self._ends = contextlib.ExitStack()
        self._packages = Packages(self._ends)
        self._asked: dict[tuple[str, str], Call | None] = {}
        self._asking = threading.Lock()
        self._answered: set[str] = set()
        """Agents, with their models, that were answered in this run."""

    def __enter__(self) -> Self:
        plan = self._plan
        if any(entry.model for entry in plan.agents.values()):
            gateway = open_budgeted(
                upstreams_of(plan.metering).values(),
                budget_usd=self._budget,
                before=run_spent(self._run, self._spenders).values(),
                prices=prices_of(plan.metering),
                limits=CallLimits(settle=2.0),
                journal=self._run / "strangers.jsonl",
                listen=False,
            )
            self._gateway = self._ends.enter_context(gateway)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ends.close()

    def over(self) -> str:
        """Why the run's budget lets no further attempt begin; empty when it does."""
        if self._gateway is None or not self._gateway.run.spent():
            return ""
        of = "run's budget" if self._spenders is None else "share's part of the run's budget"
        return f"The {of} of {self._budget} dollars is spent."

    @contextlib.contextmanager
    def admitted(
        self, attempt: str, settings: AgentEntry, layout: PreparedTask, cache: Cache, sandbox: Sandbox, into: Path,
        seconds: float, stopped: threading.Event,
    ) -> Iterator[AttemptAccess]:  # fmt: skip
        """Let one attempt work. When the context ends nothing passes any more, and `spent` is final.

        Raises:
            NoIsolation: The sandbox cannot hold it to the network policy.
            BadInput: The model cannot be asked.
            InfraFault: Packages may be had, and it cannot be found out of which day.
        """
        found = AttemptAccess(into, stopped)
        model = settings.model
        name = settings.model_dump_json()
        found.own_look = lambda call: "" if name in self._answered else self._refused(model, call)
        found.answers_us = lambda call: (own := self._ask(model, call)) is not None and own.answered
        found.policy = permitted_hosts(
            layout.folder.task.network_policy, sandbox, needs_model=bool(model), requested=self._plan.metering.network
        )
        with contextlib.ExitStack() as ends:
            if model and found.policy is not NetworkPolicy.NONE and self._gateway is not None:
                self._admit(attempt, settings, sandbox, found, seconds, ends)
            model_door = found.reopen

            def open_doors() -> None:
                model_door()
                if found.policy is NetworkPolicy.PACKAGES:
                    network = network_of(found.policy)
                    found.packages = self._packages.open(layout, cache, sandbox, network, into / "network.jsonl", ends)

            found.reopen = open_doors
            open_doors()
            yield found

    def _refused(self, model: str, call: Call) -> str:
        """What a model's server says to a question of our own, asked once a run; empty unless it refuses that too."""
        dialect = call.spoken or call.dialect
        with self._asking:
            if (model, dialect) not in self._asked:
                self._asked[model, dialect] = self._ask(model, call)
            own = self._asked[model, dialect]
        if own is None or (own.fault, own.status) != (call.fault, call.status):
            return ""
        if own.status not in NOT_SERVED and own.detail != call.detail:
            return ""
        return f"it answers {dialect} for {model} with status {own.status}, to a question of RepoAssay's own as well"

    def _ask(self, model: str, call: Call) -> Call | None:
        """A question of our own to a model's server; None where it is none that can be asked."""
        upstream = upstreams_of(self._plan.metering).get(model.partition("/")[0])
        return ask_once(upstream, model, call.spoken or call.dialect) if isinstance(upstream, Upstream) else None

    def _admit(
        self, attempt: str, settings: AgentEntry, sandbox: Sandbox, found: AttemptAccess, seconds: float,
        ends: contextlib.ExitStack,
    ) -> None:  # fmt: skip
        gateway = self._gateway
        assert gateway is not None
        budget = attempt_budget(settings, seconds)
        grace = threading.Timer(GRACE, found.cancel.set)
        grace.daemon = True

        def exhausted(_: str) -> None:
            grace.start()

        entry = gateway.admit(
            attempt, model=settings.model, journal=found.into / JOURNAL, steps=found.into / STEPS, budget=budget,
            context_window=settings.context_window,
            closed_world=found.policy is not NetworkPolicy.OPEN, on_exhausted=exhausted,
        )  # fmt: skip
        found.entry, found.calls = entry, budget.calls

        def end() -> None:
            grace.cancel()
            found.spent = entry.close()
            if found.spent.calls:
                self._answered.add(settings.model_dump_json())
            if entry.exhausted.is_set() and not entry.ledger.spent() and (why := self.over()):
                found.over_run = why

        ends.callback(end)

        def open_model_door() -> None:
            found.door = open_door(
                sandbox, network_of(found.policy), PORT, lambda listening: gateway.serve(listening, entry)
            )

        found.reopen = open_model_door


def client_env(access: AccessPoint) -> dict[str, str]:
    """How a command line of the user's own finds its model: the names the vendors' clients look at."""
    env = {"REPOASSAY_MODEL": access.model}
    for name, url in access.urls.items():
        env |= VENDORS[name].client_env(url, access.key)
    return env
