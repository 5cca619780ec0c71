"""Attempts against plan and journal: each place filled once, retries only where a fault of ours spoiled the first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from repoassay.records import Journal, Slot, slots_of
from repoassay.report.leaderboard.attempt_files import AttemptFiles
from repoassay.report.leaderboard.entry import RUN, EntryRefusal
from repoassay.types import AgentEntry, Outcome, Plan

__all__ = ["check_journal", "check_places"]

_JOURNAL = f"{RUN}/journal.jsonl"
_MOST_MISSING = 20


def check_journal(folder: Path, plan: Plan, files: Sequence[AttemptFiles]) -> Iterator[EntryRefusal]:
    """Refuse where the journal and the attempts tell two stories."""
    events = Journal(folder / _JOURNAL).read().events
    attempts = {one.attempt.id: one for one in files}
    started = {str(event.get("attempt")) for event in events if event.get("event") == "started"}
    finished: set[str] = set()
    for event in events:
        name = str(event.get("attempt"))
        if event.get("event") != "finished":
            continue
        if name in finished:
            yield EntryRefusal(_JOURNAL, f"attempt {name} finishes twice.")
        finished.add(name)
        if name not in attempts:
            yield EntryRefusal(
                _JOURNAL, f"attempt {name} finished ({event.get('outcome')}), and its folder is missing."
            )
        else:
            yield from _same(event, attempts[name])
        if name not in started:
            yield EntryRefusal(_JOURNAL, f"attempt {name} finished and never started.")
    for name, one in attempts.items():
        if name not in finished:
            yield EntryRefusal(one.place, "the journal does not say that this attempt finished.")
    yield from _order(events, attempts)
    yield from _strangers(folder, plan, started | finished)


def _order(events: Sequence[Mapping[str, object]], attempts: Mapping[str, AttemptFiles]) -> Iterator[EntryRefusal]:
    """Of a retry chain the last to finish counts, so what is repeated must have finished before."""
    finished: set[str] = set()
    for event in events:
        if event.get("event") == "finished":
            one = attempts.get(str(event.get("attempt")))
            if one is not None and (earlier := one.attempt.retry_of) in attempts and earlier not in finished:
                yield EntryRefusal(_JOURNAL, f"attempt {one.attempt.id} finishes before {earlier}, which it repeats.")
            finished.add(str(event.get("attempt")))


def _strangers(folder: Path, plan: Plan, known: set[str]) -> Iterator[EntryRefusal]:
    for place in sorted((folder / RUN / "attempts").iterdir()):
        if place.name not in known:
            yield EntryRefusal(f"{RUN}/attempts/{place.name}", f"the journal of {plan.id} knows no such attempt.")


def _same(event: Mapping[str, object], one: AttemptFiles) -> Iterator[EntryRefusal]:
    attempt = one.attempt
    for key, value in (
        ("task", attempt.task),
        ("agent", attempt.agent),
        ("number", attempt.number),
        ("outcome", one.verdict.outcome.value),
    ):
        if event.get(key) != value:
            yield EntryRefusal(one.place, f"its {key} is {value!r}, and the journal says {event.get(key)!r}.")


def check_places(plan: Plan, attempts: Sequence[AttemptFiles]) -> Iterator[EntryRefusal]:
    """Refuse attempts outside the plan, places filled twice or not at all, and retries that hide a verdict."""
    planned = set(slots_of(plan))
    tasks = {task.id: task.digest for task in plan.tasks}
    filled: dict[Slot, list[AttemptFiles]] = defaultdict(list)
    for one in attempts:
        attempt = one.attempt
        if attempt.id != one.place.rpartition("/")[2]:
            yield EntryRefusal(one.place, f"it holds attempt {attempt.id!r}.")
        if attempt.run != plan.id:
            yield EntryRefusal(one.place, f"it is of run {attempt.run!r}, not of {plan.id!r}.")
        if AgentEntry.of(attempt.settings) != plan.agents.get(attempt.agent, AgentEntry()):
            yield EntryRefusal(one.place, "its settings are not those of the plan.")
        slot = Slot(attempt.task, attempt.agent, attempt.number)
        if slot not in planned:
            yield EntryRefusal(
                one.place, f"task {slot.task!r}, agent {slot.agent!r}, number {slot.number} is not in the plan."
            )
            continue
        filled[slot].append(one)
        for what, digest in (("attempt", attempt.task_digest), ("verdict", one.verdict.task_digest)):
            if digest != tasks[attempt.task]:
                yield EntryRefusal(one.place, f"the task digest of its {what} is {digest}, not the plan's.")
    for members in filled.values():
        yield from _chain(members)
    missing = [slot for slot in slots_of(plan) if slot not in filled]
    for slot in missing[:_MOST_MISSING]:
        yield EntryRefusal(RUN, f"task {slot.task!r}, number {slot.number} is planned and has no finished attempt.")


def _chain(members: Sequence[AttemptFiles]) -> Iterator[EntryRefusal]:
    by_id = {one.attempt.id: one for one in members}
    first = [one for one in members if one.attempt.retry_of is None]
    for one in first[1:]:
        yield EntryRefusal(one.place, f"its place is already filled by attempt {first[0].attempt.id}.")
    repeated: set[str] = set()
    for one in members:
        if (name := one.attempt.retry_of) is None:
            continue
        earlier = by_id.get(name)
        if earlier is None:
            yield EntryRefusal(one.place, f"it repeats attempt {name}, which is not here at the same place.")
        elif name in repeated:
            yield EntryRefusal(one.place, f"it repeats attempt {name}, which another one repeats already.")
        elif earlier.verdict.outcome is not Outcome.INFRA_FAULT:
            yield EntryRefusal(
                one.place,
                f"it repeats attempt {name}, whose outcome is {earlier.verdict.outcome}: only a fault of ours may be"
                " repeated.",
            )
        elif earlier.attempt.started > one.attempt.started:
            yield EntryRefusal(one.place, f"it repeats attempt {name}, which started later.")
        repeated.add(name)
    if not first:
        yield EntryRefusal(members[0].place, "every attempt at its place repeats another one.")
