"""Dividing what a run has left to do into shares that many processes make, and collecting what they made.

The run as it was when it was divided says which places each share fills: open ones in their order, cut into runs of
consecutive ones. A share records in a journal of its own, so that one that was killed knows what it has made, and none
waits for another. The run's own journal has one writer: who collects.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal

from repoassay.engine.budget_shares import lost_shares
from repoassay.engine.run_locks import FolderBusy, folder_lock, run_lock, share_lock, shares_at_work
from repoassay.engine.scheduler import open_slots
from repoassay.errors import BadInput
from repoassay.records import (
    ALL,
    IndexedRun,
    Journal,
    JournalledAttempt,
    NewerRecord,
    RunDivision,
    RunFolder,
    Slot,
    WorkShare,
    check_and_index,
    check_run_files,
    collect_journals,
    counting_attempts,
    division_events,
    end_division,
    index_run,
    journalled_attempts,
    read_attempt,
    read_division,
    share_journal,
    undisturbed,
    write_division,
)
from repoassay.types import Outcome

__all__ = ["CollectedShares", "WorkLeft", "begin_division", "collect_shares", "left_of_run", "open_share"]

_BUSY = 20.0
"""Seconds that a share tries to be the one that divides a run, while others do."""


@dataclass(frozen=True, slots=True)
class WorkLeft:
    """What is finished of a run or of a share of it, and what is to be made.

    Attributes:
        kept: Attempts that are finished, of which `recovered` were found without their line in the journal.
        recovered: Of these, how many.
        torn: Torn lines of the journal.
        slots: What is to be made.
        started: Agents of which an attempt counts for or against them, or came to a model.
        budget_usd: Dollars that a share may spend; None where the run's budget counts.
        spenders: Ids of the attempts whose spending counts against that.
    """

    kept: int
    recovered: int
    torn: tuple[int, ...]
    slots: list[Slot]
    started: frozenset[str]
    budget_usd: Decimal | None = None
    spenders: Collection[str] | None = None

    @property
    def left(self) -> int:
        """How many attempts are to be made."""
        return len(self.slots)


@dataclass(frozen=True, slots=True)
class CollectedShares:
    """A run after its shares were collected: attempts collected now, finished in all, and left; shares at work."""

    collected: int
    finished: int
    left: int
    at_work: int


def left_of_run(run: RunFolder, only: Collection[Outcome] = ()) -> WorkLeft:
    """What a run has left to do, whose shares are collected and whose division ends; the run is held.

    Raises:
        BadInput: An attempt cannot be read back.
    """
    if (division := read_division(run.path)) is not None:
        collect_journals(run, division)
        end_division(run.path)
    with undisturbed():
        now, recovered = _recovered(run)
        slots = open_slots(run, only, now.attempts)
    started = {
        done.agent
        for done in now.attempts
        if done.outcome is not Outcome.INFRA_FAULT or (done.spent is not None and done.spent.calls)
    }
    return WorkLeft(len(now.attempts), recovered, now.torn, slots, frozenset(started))


def begin_division(run: RunFolder, count: int, only: Collection[Outcome], budget_usd: Decimal | None) -> WorkLeft:
    """Divide what a run has left to do into at most so many shares; the run is held.

    Raises:
        BadInput: An attempt cannot be read back, or what is left of the run's budget is too little for so many shares.
    """
    left = left_of_run(run, only)
    if left.slots:
        size = (run.path / "journal.jsonl").stat().st_size if run.journal.path.exists() else 0
        share_usd = _share_usd(run, min(count, len(left.slots)), budget_usd)
        outcomes = tuple(sorted(only))
        write_division(
            run.path,
            RunDivision(count=count, journal=size, only=outcomes, budget_usd=budget_usd, share_usd=share_usd),
        )
    return left


def _share_usd(run: RunFolder, count: int, budget_usd: Decimal | None) -> Decimal | None:
    """What each of so many shares may spend of what is left of the run's budget."""
    budget = run.plan.metering.budget_usd if budget_usd is None else budget_usd
    if budget is None:
        return None
    left = max(budget - lost_shares(run), Decimal(0))
    share = (left / count).quantize(Decimal("0.000001"), ROUND_DOWN)
    most = max((entry.budget_usd or Decimal(0) for entry in run.plan.agents.values() if entry.model), default=None)
    if most is not None and (share <= 0 or share < most):
        raise BadInput(
            f"Of the run's budget {left} dollars are left, and {share} for each of {count} shares: too little for an "
            f"attempt{f' that may spend {most}' if most else ''}.",
            "Take fewer shares, or a larger --budget-usd.",
        )
    return share


@contextlib.contextmanager
def open_share(
    run: RunFolder, share: WorkShare, only: Collection[Outcome], budget_usd: Decimal | None
) -> Iterator[WorkLeft]:  # fmt: skip
    """Hold a share of a run, which is divided where it is not; from now on `run.journal` is the share's.

    Raises:
        BadInput: The run is divided otherwise, another process works on the share or on the whole run, or as
            `begin_division` raises it.
    """
    run.go_on = f"{run.go_on} --share {share}"
    if not _divide_once(run, share, only, budget_usd):
        yield WorkLeft(0, 0, (), [], frozenset())
        return
    with share_lock(run, share):
        if (division := read_division(run.path)) is None:
            raise BadInput(f"{run.path} was gone on with by another process meanwhile.", "Call the share again.")
        yield _left_of_share(run, share, division)


def _divide_once(run: RunFolder, share: WorkShare, only: Collection[Outcome], budget_usd: Decimal | None) -> bool:
    """Divide a run unless it is; False when nothing is left of it to be divided."""
    end = time.monotonic() + _BUSY
    while (division := read_division(run.path)) is None:
        try:
            with run_lock(run):
                if read_division(run.path) is None and not begin_division(run, share.count, only, budget_usd).slots:
                    return False
        except FolderBusy:  # another share is the first, or somebody works on the whole run
            if time.monotonic() >= end:
                raise
            time.sleep(0.1)
    if (share.count, tuple(sorted(only)), budget_usd) != (division.count, division.only, division.budget_usd):
        options = f"--share I/{division.count}" + (f" --only {','.join(division.only)}" if division.only else "")
        options += f" --budget-usd {division.budget_usd}" if division.budget_usd is not None else ""
        raise BadInput(
            f"{run.path} is divided otherwise, by {options}.",
            f"Call its shares so, or end them by going on without: repoassay resume {run.path}",
        )
    return True


def _left_of_share(run: RunFolder, share: WorkShare, division: RunDivision) -> WorkLeft:
    before, _ = division_events(run, division)
    run.journal = Journal(share_journal(run.path, share))
    begun = dict.fromkeys(str(event["attempt"]) for event in run.events() if event.get("event") == "started")
    recovered = _recover(run, set(begun).difference(_ended(run.events())))
    read = run.journal.read()
    slots, own, earlier = _rest(run, division, before, read.events, share)
    started = {each.agent for each in (*earlier, *own) if each.outcome is not Outcome.INFRA_FAULT}
    return WorkLeft(len(own), recovered, read.torn, slots, frozenset(started), division.share_usd, tuple(begun))


def _ended(events: Iterable[Mapping[str, object]]) -> set[str]:
    return {str(event.get("attempt")) for event in events if event.get("event") in ("finished", "dropped")}


def _rest(
    run: RunFolder, division: RunDivision, before: Iterable[Mapping[str, object]],
    since: Iterable[Mapping[str, object]], share: WorkShare | None = None,
) -> tuple[list[Slot], list[JournalledAttempt], list[JournalledAttempt]]:  # fmt: skip
    """What is left to do of a division or one of its shares; attempts made since the run was divided, and before."""
    earlier, own = journalled_attempts(before), journalled_attempts(since)
    slots = open_slots(run, division.only, earlier)
    if share is not None:
        span = share.span(len(slots))
        slots = slots[span.start : span.stop]
    last = counting_attempts(run.plan, [*earlier, *own], lambda each: each)
    attempt_ids = {each.id for each in own}
    left = []
    for slot in slots:
        done = last.get(Slot(slot.task, slot.agent, slot.number))
        if done is None or done.id not in attempt_ids:
            left.append(slot)
        elif done.outcome is Outcome.INFRA_FAULT:
            left.append(slot._replace(retry_of=done.id))
    return left, own, earlier


def collect_shares(run: RunFolder) -> CollectedShares:
    """Take what shares have recorded into the run's journal, at any time; ends the division when all is made.

    Raises:
        BadInput: The folder is none that a run leaves, another process works on the whole run or collects, or an
            attempt cannot be read back.
    """
    check_run_files(run.path)
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(run_lock(run))
            busy = 0
        except FolderBusy:
            held.enter_context(run_lock(run, with_others=True))
            busy = shares_at_work(run)
        found, _ = check_and_index(run.path)
        if (division := read_division(run.path)) is None:
            return CollectedShares(0, len(found.attempts), len(open_slots(run, (), found.attempts)), busy)
        with folder_lock(run.path / "parts"):
            collected = collect_journals(run, division)
        left = len(_rest(run, division, *division_events(run, division))[0])
        if not left and not busy:
            end_division(run.path)
        return CollectedShares(collected, len(index_run(run.path).attempts), left, busy)


def _recovered(run: RunFolder) -> tuple[IndexedRun, int]:
    """The attempts of a run, those counted in of which the journal had no line."""
    now, others = check_and_index(run.path)
    recovered = _recover(run, others)
    return (index_run(run.path) if recovered else now), recovered


def _recover(run: RunFolder, names: Iterable[str]) -> int:
    """Count attempts in whose record is whole on disk but whose journal line was lost in a crash."""
    count = 0
    for name in sorted(names):
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
