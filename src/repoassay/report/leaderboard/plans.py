"""What the plan of a submission must say, and what a reader should know of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from repoassay.errors import RepoAssayError
from repoassay.records import Journal
from repoassay.report.leaderboard.entry import RUN, SUBMISSION, EntryRefusal, LeaderboardEntry
from repoassay.sandbox import SAFE_ISOLATIONS
from repoassay.tasks import bundled_suites, find_suite
from repoassay.text import quote
from repoassay.types import Plan

__all__ = ["check_plan", "isolation_note", "plan_notes", "suite_tasks"]

_PLAN = f"{RUN}/run.json"
_VERSIONS = ("repoassay", "python")


def check_plan(plan: Plan, submitted: LeaderboardEntry) -> Iterator[EntryRefusal]:
    """Refuse what the plan contradicts: the system, the declarations, the versions, the suite."""
    if list(plan.agents) != [submitted.system]:
        names = ", ".join(repr(name) for name in list(plan.agents)[:5]) or "none"
        yield EntryRefusal(SUBMISSION, f"the system is {submitted.system!r}, and the plan's agents are {names}.")
    if plan.id != submitted.run:
        yield EntryRefusal(SUBMISSION, f"the run is {submitted.run!r}, and the plan is of {plan.id!r}.")
    declared = submitted.declarations
    if declared.one_attempt != (plan.attempts == 1):
        declared_word = "one attempt" if declared.one_attempt else "several attempts"
        yield EntryRefusal(SUBMISSION, f"{declared_word} a task is declared, and the plan has {plan.attempts}.")
    for name in ("no_test_knowledge", "every_attempt", "no_human_help"):
        if not getattr(declared, name):
            yield EntryRefusal(SUBMISSION, f"{name} is not declared.")
    for name in _VERSIONS:
        if not plan.versions.get(name):
            yield EntryRefusal(_PLAN, f"versions.{name} is missing.")
    if plan.origin is not None:
        yield EntryRefusal(_PLAN, f"the run was imported from {plan.origin.format}, and not made here.")
    if not plan.graded:
        yield EntryRefusal(_PLAN, "nothing was graded in this run.")
    if len({task.id for task in plan.tasks}) != len(plan.tasks):
        yield EntryRefusal(_PLAN, "a task is planned twice.")
    yield from _against_suite(plan)


def _against_suite(plan: Plan) -> Iterator[EntryRefusal]:
    """Task digests of a suite that comes with RepoAssay are known here."""
    if (known := suite_tasks(plan)) is None:
        return
    for task in plan.tasks:
        if task.id not in known:
            yield EntryRefusal(_PLAN, f"the suite {plan.suite} has no task {task.id!r}.")
        elif task.digest != known[task.id]:
            yield EntryRefusal(
                _PLAN,
                f"the digest of task {task.id} is {task.digest}, and the suite {plan.suite} {plan.suite_version} has"
                f" {known[task.id]}.",
            )


def suite_tasks(plan: Plan) -> dict[str, str] | None:
    """Digests of the tasks of a suite that comes with RepoAssay; None where it is none, or not here in this version."""
    if plan.suite not in bundled_suites():
        return None
    try:
        suite = find_suite(plan.suite)
    except RepoAssayError:
        return None
    if suite.suite.version != plan.suite_version:
        return None
    suite = suite.released() if plan.released else suite
    return {folder.task.id: folder.digest for folder in suite.tasks}


def isolation_note(isolation: str) -> str:
    """Return what a reader should know of a run's isolation; empty for the default one."""
    if isolation in SAFE_ISOLATIONS:
        return ""
    if isolation == "none":
        return "The run had no isolation: agents could reach their own grading."
    return f"The run's isolation was {quote(isolation)}, which is not verified."


def plan_notes(folder: Path, plan: Plan) -> list[str]:
    """What is no reason to refuse and what a reader should know."""
    notes = []
    if (known := suite_tasks(plan)) is None:
        notes.append(f"The suite {plan.suite} {plan.suite_version} is not here, so task digests were not compared.")
    elif len(known) > len(plan.tasks):
        notes.append(f"The plan has {len(plan.tasks)} of the {len(known)} tasks of {plan.suite}.")
    if note := isolation_note(plan.isolation):
        notes.append(note)
    if count := _abandoned(folder):
        notes.append(f"{count} attempts were started and never finished; what they would have come to nobody knows.")
    return notes


def _abandoned(folder: Path) -> int:
    """Attempts the journal says were started and does not say were finished."""
    seen: dict[object, set[object]] = {"started": set(), "finished": set()}
    for event in Journal(folder / RUN / "journal.jsonl").read().events:
        if isinstance(kind := event.get("event"), str) and kind in seen:
            seen[kind].add(str(event.get("attempt")))
    return len(seen["started"] - seen["finished"])
