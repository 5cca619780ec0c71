"""Numbers and lines no honest run has, refused before anything is worked out from them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from repoassay.records import JOURNAL, NewerRecord, parse_object, read_calls
from repoassay.report.leaderboard.attempt_files import AttemptFiles
from repoassay.report.leaderboard.entry import RUN, EntryRefusal
from repoassay.report.leaderboard.manifest import strict_json
from repoassay.types import Plan

__all__ = ["check_amounts", "check_bounds"]

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
