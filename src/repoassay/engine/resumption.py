"""Continuing a run that was stopped, killed, or spoiled by a fault of ours."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from repoassay.agents import Agent
from repoassay.engine.attempt_cluster import check_executor
from repoassay.engine.division import WorkLeft, begin_division, left_of_run, open_share
from repoassay.engine.execution import Progress, agents_of, check, execute, prepare
from repoassay.engine.models import check_models
from repoassay.engine.own_plans import planned_here
from repoassay.engine.permissions import Grants, permit
from repoassay.engine.plan import check_sane
from repoassay.engine.run_locks import run_lock
from repoassay.engine.start_check import preflight
from repoassay.engine.stop import Stop
from repoassay.errors import BadInput
from repoassay.records import RunFolder, Slot, WorkShare, check_run_files, check_sound
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import SuiteFolder, find_suite
from repoassay.types import Outcome

__all__ = ["divide_run", "resume_run", "suite_of"]


def resume_run(
    run: RunFolder, progress: Progress, only: Collection[Outcome] = (), budget_usd: Decimal | None = None,
    grants: Grants | None = None, own: Mapping[str, Agent] | None = None, stop: Stop | None = None,
    *, look_first: bool = True, executor: str = "local", node_workers: int | None = None,
    share: WorkShare | None = None,
) -> WorkLeft:  # fmt: skip
    """Fill every open slot of a run, or those of a share of it; returns what was found before.

    Args:
        run: The run.
        progress: Who watches.
        only: Instead make those attempts again that had one of these outcomes, each as a new one that names the old.
        budget_usd: The whole run's budget from now on, what was spent before included; the plan's when None.
        grants: What the command line repeats by name of what the plan may not have by itself.
        own: Agents by kind that are handed over as objects.
        stop: Where requests to stop come from.
        look_first: Start each agent that has something left to do once before anything is made.
        executor: Where attempts are made, whichever made the earlier ones; see `execute`.
        node_workers: Attempts at a time, on each node of another executor than `local`; None for one a core there, and
            the plan's number here.
        share: Fill the slots of this share alone, and record them in a journal of its own.

    Raises:
        BadInput: When the folder is none that a run leaves, its plan asks for what was not granted,
            another process works on the run, or its tasks have changed since it was planned.
        Interrupted: When stopped early again.
    """
    (check_sound if share else check_run_files)(run.path)  # the folders of attempts are looked at as they are read
    _permit(run, grants, budget_usd)
    check_executor(executor, run.plan, own)
    if node_workers is not None and executor == "local":
        run.plan = run.plan.model_copy(update={"workers": node_workers})
    with contextlib.ExitStack() as held:
        if share is None:
            held.enter_context(run_lock(run))
            left = left_of_run(run, only)
        else:
            left = held.enter_context(open_share(run, share, only, budget_usd))
        if left.slots:
            suite = suite_of(run)
            started = _look(run, suite, left.slots, own) if look_first else frozenset()
            selection = {"only": sorted(only)} if only else {}
            money = {"budget_usd": str(budget_usd)} if budget_usd is not None else {}
            count = len(left.slots)
            run.journal.append(
                "resumed",
                kept=left.kept,
                recovered=left.recovered,
                torn=list(left.torn),
                left=count,
                **selection,
                **money,
            )
            progress.resuming(left.kept, left.recovered, left.torn, count)
            execute(
                run, suite, left.slots, progress, budget_usd=budget_usd if share is None else left.budget_usd, own=own,
                stop=stop, known_starts=started | left.started, executor=executor, node_workers=node_workers,
                spenders=left.spenders,
            )  # fmt: skip
    return left


def divide_run(
    run: RunFolder, count: int, only: Collection[Outcome] = (), budget_usd: Decimal | None = None,
    grants: Grants | None = None,
) -> WorkLeft:  # fmt: skip
    """Divide what a run has left to do into shares that other processes make; returns what that is.

    Raises:
        BadInput: As `resume_run` raises it, or what is left of the budget is too little for so many shares.
    """
    check_run_files(run.path)
    _permit(run, grants, budget_usd)
    suite_of(run)
    agents_of(run.plan)
    check_models(run.plan)
    with run_lock(run):
        return begin_division(run, count, only, budget_usd)


def _permit(run: RunFolder, grants: Grants | None, budget_usd: Decimal | None) -> None:
    """Leave of a run's plan what may be carried out; raises BadInput where that is not the whole."""
    if run.plan.origin is not None:
        raise BadInput(
            f"{run.path} was imported from {run.plan.origin.format}; its agents are not run here.",
            "Judge what it holds with `repoassay import --judge`, or make a run of your own.",
        )
    check_sane(run.plan)
    wanted = replace(grants or Grants(), budget_usd=budget_usd)
    run.plan = permit(run.plan, wanted, here=planned_here(run.path))


def _look(run: RunFolder, suite: SuiteFolder, slots: Sequence[Slot], own: Mapping[str, Agent] | None) -> frozenset[str]:
    """Do the preflight of what is left to do; returns the agents that started.

    Raises:
        BadInput: One cannot work; the run stays as it was.
    """
    names, tasks = {slot.agent for slot in slots}, {slot.task for slot in slots}
    entries = {name: entry for name, entry in run.plan.agents.items() if name in names}
    plan = run.plan.model_copy(update={"agents": entries})
    rest = replace(suite, tasks=tuple(folder for folder in suite.tasks if folder.task.id in tasks))
    cache = Cache()
    sandbox = open_sandbox(plan.isolation, cache)
    agents = check(plan, rest, sandbox, own)
    prepare(agents.values(), cache, sandbox)
    return preflight(plan, rest, agents, cache, sandbox)


def suite_of(run: RunFolder) -> SuiteFolder:
    """The suite a run was planned on, unchanged.

    Raises:
        BadInput: When a task is gone or has another digest than planned.
    """
    suite = find_suite(str(Path(run.plan.suite_folder)), only=[task.id for task in run.plan.tasks])
    now = {folder.task.id: folder.digest for folder in suite.tasks}
    changed = [task.id for task in run.plan.tasks if now.get(task.id) != task.digest]
    if changed:
        raise BadInput(
            f"Since {run.path} was planned, these tasks have changed: {', '.join(changed)}.",
            "Start a new run; figures of two versions of a task must not be mixed.",
        )
    return suite.released() if run.plan.released else suite
