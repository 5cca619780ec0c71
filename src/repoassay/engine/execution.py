"""The loop: every slot of a plan that has no finished attempt yet, worked on by a few threads, recorded as it ends."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Protocol

from ulid import ULID

from repoassay.agents import Agent, AsksModel, find_agent, needs_network
from repoassay.engine.agent_settings import check_content, check_entry
from repoassay.engine.attempt import AttemptResult
from repoassay.engine.attempt_cluster import open_attempts
from repoassay.engine.attempt_maker import AttemptMaker, LocalAttempts
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.model_access import AttemptAccess, ModelAccess, needs_model
from repoassay.engine.models import check_models, provider_of
from repoassay.engine.scheduler import Scheduler
from repoassay.engine.starts import Starts
from repoassay.engine.stop import Stop
from repoassay.engine.work_threads import serve_all
from repoassay.errors import BadInput, InfraFault, Interrupted, RepoAssayError, Unavailable
from repoassay.executors import MOST_LOSSES, NodeLost
from repoassay.grading import fault
from repoassay.records import RunFolder, Slot, extend_index
from repoassay.sandbox import Cache, Sandbox, open_sandbox, permitted_hosts
from repoassay.tasks import SuiteFolder, TaskFolder
from repoassay.types import Attempt, NetworkPolicy, Outcome, Plan, Submission, Verdict

__all__ = ["Progress", "agents_of", "check", "execute", "prepare"]

_INDEXED = 30.0
"""Seconds from one time that finished attempts are taken into the run's index to the next."""


class Progress(Protocol):
    """An observer of a run, called as attempts start and end."""

    def resuming(self, kept: int, recovered: int, torn: tuple[int, ...], left: int) -> None:
        """What a resumed run starts from: attempts kept, of which recovered; torn journal lines; attempts to make."""

    def started(self, slot: Slot) -> None:
        """An attempt began."""

    def admitted(self, slot: Slot, account: AttemptAccess) -> None:
        """An attempt's agent is about to start; its account can be looked at from now on."""

    def finished(self, slot: Slot, attempt: Attempt, verdict: Verdict) -> None:
        """An attempt ended and is on disk."""

    def dropped(self, slot: Slot) -> None:
        """An attempt was given up; it will be made again on resume."""


def agents_of(plan: Plan, own: Mapping[str, Agent] | None = None) -> dict[str, Agent]:
    """The agents of a plan by the names it gives them; `own` has those by kind that were handed over as objects.

    Raises:
        BadInput: One is unknown, has an unknown or impossible setting, has no model and needs one, or is no longer
            what it was when it was planned.
    """
    for name, entry in plan.agents.items():
        check_entry(name, entry)
    agents = {
        name: (own or {}).get(entry.kind or name) or find_agent(entry.kind or name, entry.options)
        for name, entry in plan.agents.items()
    }
    for name, agent in agents.items():
        needs_model(agent, plan.agents[name])
        check_content(name, plan.agents[name], agent)
    return agents


def check(plan: Plan, suite: SuiteFolder, sandbox: Sandbox, own: Mapping[str, Agent] | None = None) -> dict[str, Agent]:
    """Look at everything that can be known before the first attempt; returns the agents (`own`: see `agents_of`).

    Raises:
        BadInput: An agent, a model or a setting cannot be used.
        NoIsolation: The sandbox cannot hold an agent to the network policy.
    """
    agents = agents_of(plan, own)
    check_models(plan, {name: agent.dialect for name, agent in agents.items() if isinstance(agent, AsksModel)})
    for name, entry in plan.agents.items():
        if entry.model and plan.metering.network is NetworkPolicy.NONE:
            raise BadInput(
                f"--network none keeps {name} from its model.", "Use --network model, or agents without a model."
            )
        for folder in suite.tasks:
            policy = permitted_hosts(
                folder.task.network_policy, sandbox, needs_model=bool(entry.model),
                requested=plan.metering.network,
            )  # fmt: skip
            if policy is not NetworkPolicy.OPEN and needs_network(agents[name]):
                raise BadInput(
                    f"{name} needs the network, and the policy of {folder.task.id} is {policy.value}.",
                    "Allow everything with --network open, which the verdicts then say.",
                )
    return agents


def prepare(agents: Iterable[Agent], cache: Cache, sandbox: Sandbox) -> None:
    """Install the agents that have to be, unless they are in the cache.

    Raises:
        Unavailable: When one cannot be had on this machine.
        InfraFault: When one could not be installed.
    """
    for agent in agents:
        if isinstance(agent, AsksModel):
            agent.prepare(cache, sandbox)


def execute(
    run: RunFolder, suite: SuiteFolder, slots: Sequence[Slot], progress: Progress, cache: Cache | None = None,
    budget_usd: Decimal | None = None, own: Mapping[str, Agent] | None = None, stop: Stop | None = None,
    known_starts: Collection[str] = (), executor: str = "local", node_workers: int | None = None,
    spenders: Collection[str] | None = None,
) -> None:  # fmt: skip
    """Fill the slots; return when all are done.

    An attempt that a fault of ours spoiled is made again as a new one, as often as the plan says. Ctrl-C, which comes
    as a KeyboardInterrupt, goes to `stop`; what is finished is kept. `budget_usd` replaces the plan's budget of the
    whole run, `own` has the agents by kind that were handed over as objects, and `known_starts` the names of those
    that are known to start. `executor` says where attempts are made; `node_workers` is how many at a time on each
    node of one that is not `local`, None for one a core. `spenders` are the attempts of a share, whose spending alone
    counts against `budget_usd`.

    Raises:
        NoIsolation: When the planned sandbox cannot be had.
        Unavailable: When an agent cannot be installed here.
        Interrupted: When stopped early.
        RepoAssayError: When the run's budget is spent before all is done.
    """
    plan = run.plan
    cache = cache or Cache()
    sandbox = open_sandbox(plan.isolation, cache)
    agents = check(plan, suite, sandbox, own)
    prepare(agents.values(), cache, sandbox)
    bench = GradingContext(suite.repositories, cache, sandbox, plan.timeout, plan.reading)
    folders = {folder.task.id: folder for folder in suite.tasks}
    providers = {name: provider_of(entry) for name, entry in plan.agents.items()}
    waiting = Scheduler(slots, lambda slot: providers[slot.agent], plan.metering.concurrency)
    stop = stop or Stop()
    failures: list[BaseException] = []
    over: list[str] = []
    starts = Starts(plan, agents, cache, sandbox, known_starts)
    with contextlib.ExitStack() as ends:
        if spenders is None:
            ends.enter_context(_index_kept(run.path))
        maker: AttemptMaker
        if executor == "local":
            meter = ends.enter_context(ModelAccess(plan, run.path, budget_usd, spenders))
            maker = LocalAttempts(plan, folders, agents, bench, meter, starts)
        else:
            maker = open_attempts(run, folders, bench, starts, budget_usd, executor, node_workers, own, ends)
        shop = _Shop(run, folders, maker, progress, stop, starts)

        def serve() -> None:
            try:
                while (slot := waiting.take(stop.starting)) is not None:
                    again: Sequence[Slot] = ()
                    try:
                        share = maker.admit(slot, stop.starting)
                        if share.over:
                            over.append(share.over)
                            stop.starting.set()
                        if stop.starting.is_set():
                            return
                        again = shop.fill(slot, share.share_usd)
                    finally:
                        waiting.done(slot, again)
            except BaseException as error:  # noqa: BLE001 - carried to the main thread, which raises it
                failures.append(error)
                stop.starting.set()

        serve_all(serve, lambda: maker.capacity, stop)
    if failures:
        raise failures[0]
    if over:
        run.journal.append("budget_spent", why=over[0])
        raise RepoAssayError(
            f"{over[0]} Every finished attempt is kept.",
            f"Continue with more: repoassay resume {run.path} --budget-usd DOLLARS",
        )
    if stop.starting.is_set():
        run.journal.append("interrupted")
        raise Interrupted("Stopped; every finished attempt is kept.", f"Continue with: {run.go_on}")


@contextlib.contextmanager
def _index_kept(run: Path) -> Iterator[None]:
    """Keep the index of a run folder up to date meanwhile, so that little is read again even after a kill."""
    ended = threading.Event()

    def extend() -> None:
        more = True
        while more:
            more = not ended.wait(_INDEXED)
            with contextlib.suppress(BadInput):  # as who reads the run will say
                extend_index(run)

    thread = threading.Thread(target=extend, name="index", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@dataclass(frozen=True, slots=True)
class _Shop:
    """What every attempt of a run is made with."""

    run: RunFolder
    folders: Mapping[str, TaskFolder]
    maker: AttemptMaker
    progress: Progress
    stop: Stop
    starts: Starts
    losses: Counter[Slot] = field(default_factory=Counter)

    def fill(self, slot: Slot, share_usd: Decimal | None) -> Sequence[Slot]:
        """Make one attempt, admitted with `share_usd`; returns what is to be made again because of it."""
        run, plan, folder = self.run, self.run.plan, self.folders[slot.task]
        attempt_id = str(ULID())
        place = run.attempt_folder(attempt_id)
        place.mkdir(parents=True)
        more = {"retry_of": slot.retry_of} if slot.retry_of else {}
        more |= {"share_usd": str(share_usd)} if share_usd is not None else {}
        run.journal.append("started", attempt=attempt_id, task=slot.task, agent=slot.agent, number=slot.number, **more)
        self.progress.started(slot)
        try:
            worked = self.maker.make(
                slot, attempt_id, place, share_usd, self.stop.working,
                lambda account: self.progress.admitted(slot, account),
            )  # fmt: skip
        except NodeLost as error:
            self.losses[slot] += 1
            if self.losses[slot] < MOST_LOSSES or self.stop.working.is_set():
                run.journal.append("dropped", attempt=attempt_id, why=str(error))
                self.progress.dropped(slot)
                return (slot,)
            worked = _faulty(folder, InfraFault(f"{self.losses[slot]} nodes were lost while they made it."), plan)
        except (InfraFault, Unavailable) as error:
            worked = _faulty(folder, error, plan)
        if worked.dropped:
            run.journal.append("dropped", attempt=attempt_id)
            self.progress.dropped(slot)
            return ()
        attempt = _attempt(run, slot, folder, attempt_id, worked)
        run.record(attempt, worked.verdict)
        self.progress.finished(slot, attempt, worked.verdict)
        again = Slot(slot.task, slot.agent, slot.number, attempt_id, slot.tries + 1)
        if worked.excuse is not None:
            if not worked.excuse.proven:
                return self.starts.doubted(again)
            return ()
        others = self.starts.saw(slot.agent) if worked.started_well else []
        final = worked.over_run or slot.tries >= plan.metering.retries
        return others if worked.verdict.outcome is not Outcome.INFRA_FAULT or final else [*others, again]


def _faulty(folder: TaskFolder, error: RepoAssayError, plan: Plan) -> AttemptResult:
    """What is recorded of an attempt that could not be made."""
    now = datetime.now(UTC)
    return AttemptResult(Submission(), fault(folder, error, plan.reading), now, now)


def _attempt(run: RunFolder, slot: Slot, folder: TaskFolder, attempt_id: str, worked: AttemptResult) -> Attempt:
    return Attempt(
        id=attempt_id,
        run=run.plan.id,
        task=slot.task,
        task_digest=folder.digest,
        agent=slot.agent,
        number=slot.number,
        retry_of=slot.retry_of,
        started=worked.started,
        ended=worked.ended,
        submission=worked.submission,
        settings=run.plan.agents[slot.agent].settings,
        spent=worked.spent,
    )
