"""What was spent, against the journal of model calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from repoassay.records import JOURNAL, journal_spent, read_calls
from repoassay.report.leaderboard.attempt_files import AttemptFiles
from repoassay.report.leaderboard.entry import EntryRefusal
from repoassay.types import Attribution, NetworkPolicy, Plan, Spending

__all__ = ["check_account"]


def check_account(folder: Path, plan: Plan, one: AttemptFiles) -> Iterator[EntryRefusal]:
    """Refuse an account that is not the sum of its calls, and calls that are not the attempt's."""
    place = folder / one.place
    spent, file = one.attempt.spent, f"{one.place}/attempt.json"
    told = (place / JOURNAL).is_file()
    if spent is None:
        if told:
            yield EntryRefusal(file, f"it says nothing of what was spent, and {JOURNAL} is there.")
        elif _must_have_spent(plan, one):
            yield EntryRefusal(file, f"spent is missing, and its agent had the model {one.attempt.settings['model']}.")
        return
    if not told and (spent.calls or spent.usage.total or spent.dollars):
        yield EntryRefusal(file, f"spent tells {spent.calls} calls, and there is no {JOURNAL}.")
        return
    found = journal_spent(place)
    for name, said, counted in _compared(spent, found):
        if said != counted:
            yield EntryRefusal(file, f"spent.{name} is {said}, and the calls of {JOURNAL} give {counted}.")
    seen: set[int] = set()
    for call in read_calls(place / JOURNAL).calls:
        if call.attempt != one.attempt.id:
            yield EntryRefusal(f"{one.place}/{JOURNAL}", f"call {call.seq} is of attempt {call.attempt!r}.")
        if call.seq in seen:
            yield EntryRefusal(f"{one.place}/{JOURNAL}", f"call {call.seq} is there twice.")
        seen.add(call.seq)


def _must_have_spent(plan: Plan, one: AttemptFiles) -> bool:
    return (
        bool(one.attempt.settings.get("model"))
        and plan.metering.network is not NetworkPolicy.NONE
        and one.verdict.outcome.whose is Attribution.AGENT
    )


def _compared(said: Spending, counted: Spending) -> Iterator[tuple[str, object, object]]:
    for name in ("calls", "failed", "refused", "unknown", "dollars", "dollars_known"):
        yield name, getattr(said, name), getattr(counted, name)
    for name in ("input", "output", "cached", "cache_write", "reasoning"):
        yield f"usage.{name}", getattr(said.usage, name), getattr(counted.usage, name)
