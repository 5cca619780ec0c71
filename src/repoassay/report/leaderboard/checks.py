"""What no honest run has: numbers out of bounds, an account that is not the sum of its calls, times that cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from repoassay.records import JOURNAL, NewerRecord, journal_spent, parse_object, read_calls
from repoassay.report.leaderboard.attempt_files import AttemptFiles
from repoassay.report.leaderboard.entry import RUN, SUBMISSION, EntryRefusal, LeaderboardEntry
from repoassay.report.leaderboard.manifest import strict_json
from repoassay.types import Attribution, NetworkPolicy, Plan, Spending

__all__ = ["check_account", "check_amounts", "check_bounds", "check_dates"]


def check_account(folder: Path, plan: Plan, one: AttemptFiles) -> Iterator[EntryRefusal]:
    """Refuse an account that is not the sum of its calls, and calls that are not the attempt's."""
    place = folder / one.place
    spent, file = one.attempt.spent, f"{one.place}/attempt.json"
    has_journal = (place / JOURNAL).is_file()
    if spent is None:
        if has_journal:
            yield EntryRefusal(file, f"it says nothing of what was spent, and {JOURNAL} is there.")
        elif _must_have_spent(plan, one):
            yield EntryRefusal(file, f"spent is missing, and its agent had the model {one.attempt.settings['model']}.")
        return
    if not has_journal and (spent.calls or spent.usage.total or spent.dollars):
        yield EntryRefusal(file, f"spent tells {spent.calls} calls, and there is no {JOURNAL}.")
        return
    found = journal_spent(place)
    for name, stated_value, counted in _compared(spent, found):
        if stated_value != counted:
            yield EntryRefusal(file, f"spent.{name} is {stated_value}, and the calls of {JOURNAL} give {counted}.")
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


def _compared(stated_value: Spending, counted: Spending) -> Iterator[tuple[str, object, object]]:
    for name in ("calls", "failed", "refused", "unknown", "dollars", "dollars_known"):
        yield name, getattr(stated_value, name), getattr(counted, name)
    for name in ("input", "output", "cached", "cache_write", "reasoning"):
        yield f"usage.{name}", getattr(stated_value.usage, name), getattr(counted.usage, name)


_MOST_ATTEMPTS = 1_000_000
_MOST_DOLLARS = Decimal(10**9)
_MOST_DIGITS = 30
_MOST_COUNT = 1 << 53


def check_bounds(plan: Plan, folder: Path) -> Iterator[EntryRefusal]:
    """Refuse a plan that is too large to lay out, values that are none, and a journal that is no list of records."""
    if not 1 <= plan.attempts <= _MOST_ATTEMPTS or not 1 <= plan.size <= _MOST_ATTEMPTS:
        yield EntryRefusal(
            f"{RUN}/run.json", f"it plans {plan.size:.3g} attempts; 1 to {_MOST_ATTEMPTS} can be handed in."
        )
    for task in plan.tasks:
        worth = task.economics
        if worth is not None and not all(_is_amount(one) for one in (worth.value, worth.low, worth.high)):
            yield EntryRefusal(f"{RUN}/run.json", f"the market value of task {task.id!r} is no amount of dollars.")
    for number, line in enumerate((folder / RUN / "journal.jsonl").read_bytes().split(b"\n"), 1):
        if line and (what := _no_record(line)):
            yield EntryRefusal(f"{RUN}/journal.jsonl", f"line {number}: {what}")


def _no_record(line: bytes) -> str:
    """Why a line is no record that can be read here; empty where it is one."""
    found = strict_json(line)
    if not isinstance(found, dict):
        return found if isinstance(found, str) else "it is no object."
    try:
        parse_object(line, "it")
    except NewerRecord as error:
        return str(error)
    except ValueError as error:
        return f"it {error}."
    return ""


def check_amounts(folder: Path, one: AttemptFiles) -> Iterator[EntryRefusal]:
    """Refuse dollars and tokens no attempt spends, in its account and in its calls."""
    spent, file = one.attempt.spent, f"{one.place}/attempt.json"
    if spent is not None:
        if not all(_is_amount(amount) for amount in (spent.dollars, spent.dollars_known)):
            yield EntryRefusal(file, "spent.dollars is no amount of dollars.")
        if not 0 <= max(spent.usage.input, spent.usage.output, abs(spent.calls)) <= _MOST_COUNT:
            yield EntryRefusal(file, "spent has counts that nobody can have.")
    for call in read_calls(folder / one.place / JOURNAL).calls:
        if not _is_amount(call.price):
            yield EntryRefusal(f"{one.place}/{JOURNAL}", f"the price of call {call.seq} is no amount of dollars.")


def _is_amount(amount: Decimal | None) -> bool:
    if amount is None:
        return True
    exponent = amount.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -_MOST_DIGITS and 0 <= amount <= _MOST_DOLLARS


_EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
_SLACK = timedelta(seconds=5)
"""Clocks are set while attempts run; seconds of difference mean nothing."""


def check_dates(
    plan: Plan, submitted: LeaderboardEntry, attempts: Sequence[AttemptFiles], latest: datetime
) -> Iterator[EntryRefusal]:
    """Refuse times that cannot be. `latest` is the present, with some minutes of leave."""
    created = _utc(plan.created)
    if not _EARLIEST <= created <= latest:
        yield EntryRefusal(f"{RUN}/run.json", f"created is {created.isoformat()}, which is in the future or long past.")
        return
    if submitted.submitted > latest:
        yield EntryRefusal(SUBMISSION, f"submitted is {submitted.submitted.isoformat()}, which is in the future.")
        return
    for one in attempts:
        attempt = one.attempt
        started, ended, graded = _utc(attempt.started), _utc(attempt.ended), _utc(one.verdict.graded_at)
        if max(started, ended, graded) > latest:
            yield EntryRefusal(one.place, "it started, ended or was graded in the future.")
            continue
        if started < created - _SLACK:
            yield EntryRefusal(one.place, f"it started at {started.isoformat()}, before its run was planned.")
        if ended < started or graded < started:
            yield EntryRefusal(one.place, "it ended or was graded before it started.")
        if ended > submitted.submitted + _SLACK:
            yield EntryRefusal(one.place, "it ended after it was submitted.")
        ending = attempt.submission.exit
        if ending is not None and not 0 <= ending.wall <= (ended - started + _SLACK).total_seconds():
            took = (ended - started).total_seconds()
            yield EntryRefusal(
                one.place, f"its agent is said to have run {ending.wall:g} s in an attempt of {took:g} s."
            )


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
