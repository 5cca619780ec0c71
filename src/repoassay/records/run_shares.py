"""Shares of a run: what the run was when it was divided, and a journal for each share, which one writer collects.

::

    runs/<run>/parts/division.json           the division, written once
    runs/<run>/parts/00003-of-00040.jsonl    what share 3 would have added to the journal of the run

Attempts lie where those of one machine do. Everything here is derived again from the run once its division has ended.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.records.durable_write import write_once
from repoassay.records.file_prefix import FilePrefix
from repoassay.records.files import read_regular, reason
from repoassay.records.journal import Journal
from repoassay.records.runs import RunFolder
from repoassay.records.shares import WorkShare, parts_within
from repoassay.records.versions import parse, to_json, validation_reason
from repoassay.types import Outcome, Record

__all__ = [
    "JournalledAttempt",
    "RunDivision",
    "collect_journals",
    "division_events",
    "end_division",
    "journalled_attempts",
    "read_division",
    "share_journal",
    "share_lock_file",
    "write_division",
]

_FILE = "division.json"
_LARGEST = 1 << 20
_TAKEN = ("started", "finished", "dropped")
"""Events of a share that belong to the run: those about its attempts, each once an attempt."""


class RunDivision(Record):
    """What every share of a run goes by.

    Attributes:
        count: How many shares there are.
        journal: Bytes of the run's journal when it was divided; what follows are attempts of shares.
        only: Outcomes whose attempts are made again; else what is not finished is made.
        budget_usd: The run's budget where another one was named than the plan's.
        share_usd: Dollars that each share may spend; None without a budget.
    """

    count: int
    journal: int
    only: tuple[Outcome, ...] = ()
    budget_usd: Decimal | None = None
    share_usd: Decimal | None = None


class JournalledAttempt(NamedTuple):
    """A finished attempt as a journal has it; see `Chained`."""

    id: str
    task: str
    agent: str
    number: int
    retry_of: str | None
    outcome: Outcome


def share_journal(run: Path, share: WorkShare) -> Path:
    """Where a share of a run records what it does."""
    return share.part_in(run / "parts")


def share_lock_file(run: Path, share: WorkShare) -> Path:
    """The file whose lock the process has that makes a share."""
    return share_journal(run, share).with_suffix(".lock")


def read_division(run: Path) -> RunDivision | None:
    """How a run is divided; None where it is not.

    Raises:
        BadInput: It cannot be read.
    """
    path = run / "parts" / _FILE
    try:
        return parse(RunDivision, read_regular(path, _LARGEST), str(path))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        why = reason(error) if isinstance(error, OSError) else validation_reason(error)
        raise BadInput(f"{path} cannot be read: {why}.", "Restore it from a copy.") from error


def write_division(run: Path, division: RunDivision) -> None:
    """Divide a run; journals of an earlier division, whose end was cut off, are removed first."""
    _clear(run)
    write_once(run / "parts" / _FILE, to_json(division))


def end_division(run: Path) -> None:
    """Forget how a run was divided, whose shares have been collected; without the file nothing else counts."""
    with suppress(FileNotFoundError):
        (run / "parts" / _FILE).unlink()
    _clear(run)
    with suppress(OSError):  # it holds scripts and logs
        (run / "parts").rmdir()


def _clear(run: Path) -> None:
    for path in parts_within(run / "parts"):
        path.unlink()
        path.with_suffix(".lock").unlink(missing_ok=True)
    (run / "parts" / ".lock").unlink(missing_ok=True)


def division_events(run: RunFolder, division: RunDivision) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Events of the run's journal from before it was divided, and from after.

    Raises:
        BadInput: It cannot be read.
    """
    before: list[dict[str, object]] = []
    since: list[dict[str, object]] = []
    prefix = FilePrefix()
    for _, event in Journal(run.path / "journal.jsonl").after(prefix):
        if event is not None:
            (before if prefix.size <= division.journal else since).append(event)
    return before, since


def journalled_attempts(events: Iterable[Mapping[str, object]]) -> list[JournalledAttempt]:
    """The finished attempts of a journal in the order they ended, each with its latest outcome."""
    repeats: dict[str, str] = {}
    found: dict[str, JournalledAttempt] = {}
    for event in events:
        name, kind = str(event.get("attempt", "")), event.get("event")
        if kind == "started" and isinstance(retry_of := event.get("retry_of"), str):
            repeats[name] = retry_of
        elif kind == "finished" and isinstance(number := event.get("number"), int):
            outcome = Outcome(str(event.get("outcome")))
            task, agent = str(event.get("task")), str(event.get("agent"))
            found[name] = JournalledAttempt(name, task, agent, number, repeats.get(name), outcome)
        elif kind == "judged" and name in found:
            found[name] = found[name]._replace(outcome=Outcome(str(event.get("outcome"))))
    return list(found.values())


def collect_journals(run: RunFolder, division: RunDivision) -> int:
    """Add to the run's journal what shares recorded of attempts and it has not; returns how many of them finished.

    May be called while shares are at work, by one process at a time, and again after it was killed.

    Raises:
        BadInput: A journal cannot be read or written.
    """
    _, since = division_events(run, division)
    known = {_key(event) for event in since}
    parts = [_attempt_events(path) for path in parts_within(run.path / "parts")]
    merged = heapq.merge(*parts, key=lambda event: str(event.get("at")))  # each in its own order, whatever its clock
    new = list({_key(event): event for event in merged if _key(event) not in known}.values())
    Journal(run.path / "journal.jsonl").append_all(new)
    return sum(event["event"] == "finished" for event in new)


def _attempt_events(path: Path) -> Iterator[dict[str, object]]:
    return (event for event in Journal(path).read().events if event["event"] in _TAKEN and "attempt" in event)


def _key(event: Mapping[str, object]) -> tuple[object, object]:
    return event.get("event"), event.get("attempt")
