"""Continuing a run that was stopped, killed, or spoiled by a fault of ours."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from repoassay.agents import Agent
from repoassay.engine.attempt_cluster import check_executor
from repoassay.engine.execution import Progress, check, execute, prepare, run_lock
from repoassay.engine.own_plans import planned_here
from repoassay.engine.permissions import Grants, permit
from repoassay.engine.plan import check_sane
from repoassay.engine.scheduler import open_slots
from repoassay.engine.start_check import preflight
from repoassay.engine.stop import Stop
from repoassay.errors import BadInput
from repoassay.records import (
    ALL,
    IndexedRun,
    NewerRecord,
    RunFolder,
    Slot,
    check_sound,
    index_run,
    read_attempt,
    sound_folders,
    undisturbed,
)
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import SuiteFolder, find_suite
from repoassay.types import Outcome

__all__ = ["Resumed", "recover", "resume_run", "suite_of"]


@dataclass(frozen=True, slots=True)
class Resumed:
    """What was found on resuming: attempts kept, of which recovered; torn journal lines; slots left to fill."""

    kept: int
    recovered: int
    torn: tuple[int, ...]
    left: int


def resume_run(
    run: RunFolder, progress: Progress, only: Collection[Outcome] = (), budget_usd: Decimal | None = None,
    grants: Grants | None = None, own: Mapping[str, Agent] | None = None, stop: Stop | None = None,
    *, look_first: bool = True, executor: str = "local", node_workers: int | None = None,
) -> Resumed:  # fmt: skip
    """Fill every open slot of a run.

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
        node_workers: Attempts at a time on each node of another executor than `local`; None for one a core.

    Raises:
        BadInput: When the folder is none that a run leaves, its plan asks for what was not granted,
            another process works on the run, or its tasks have changed since it was planned.
        Interrupted: When stopped early again.
    """
    check_sound(run.path, sound_folders(run.path))
    if run.plan.origin is not None:
        raise BadInput(
            f"{run.path} was imported from {run.plan.origin.format}; its agents are not run here.",
            "Judge what it holds with `repoassay import --judge`, or make a run of your own.",
        )
    check_sane(run.plan)
    wanted = replace(grants or Grants(), budget_usd=budget_usd)
    run.plan = permit(run.plan, wanted, here=planned_here(run.path))
    check_executor(executor, run.plan, own)
    with run_lock(run):
        found, slots = _left(run, only)
        if slots:
            suite = suite_of(run)
            started = _look(run, suite, slots, own) if look_first else ()
            told = {"only": sorted(only)} if only else {}
            money = {"budget_usd": str(budget_usd)} if budget_usd is not None else {}
            run.journal.append(
                "resumed",
                kept=found.kept,
                recovered=found.recovered,
                torn=list(found.torn),
                left=found.left,
                **told,
                **money,
            )
            progress.resuming(found.kept, found.recovered, found.torn, found.left)
            execute(
                run, suite, slots, progress, budget_usd=budget_usd, own=own, stop=stop, known_starts=started,
                executor=executor, node_workers=node_workers,
            )  # fmt: skip
    return found


def _left(run: RunFolder, only: Collection[Outcome]) -> tuple[Resumed, list[Slot]]:
    """What is finished, what was recovered, and which places are to be filled."""
    with undisturbed():
        now = index_run(run.path)  # refuses attempts that cannot be read
        if recovered := recover(run, now):
            now = index_run(run.path)
        slots = open_slots(run, only, now.attempts)
        return Resumed(len(now.attempts), recovered, now.torn, len(slots)), slots


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


def recover(run: RunFolder, indexed: IndexedRun) -> int:
    """Count attempts in whose record is whole on disk but whose journal line was lost in a crash."""
    known = {attempt.id for attempt in indexed.attempts}
    count = 0
    for name in sorted(name for name in os.listdir(run.path / "attempts") if name not in known):  # noqa: PTH208 - many
        try:
            attempt, verdict = read_attempt(run.path, name, ALL)
        except NewerRecord:
            raise
        except BadInput:  # it was under way
            continue
        run.journal.append(
            "finished", attempt=attempt.id, task=attempt.task, agent=attempt.agent, number=attempt.number,
            outcome=verdict.outcome.value, recovered=True,
        )  # fmt: skip
        count += 1
    return count


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
