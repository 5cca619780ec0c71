"""Does every figure of a submission follow from its attempts? What does not is refused, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from repoassay.errors import BadInput, RepoAssayError
from repoassay.records import NewerRecord, parse, validation_reason
from repoassay.report.leaderboard.attempt_files import AttemptFiles
from repoassay.report.leaderboard.checks import check_account, check_amounts, check_bounds, check_dates
from repoassay.report.leaderboard.entry import FIGURES, RUN, EntryRefusal, LeaderboardEntry, read_submitted
from repoassay.report.leaderboard.figures import differences, figures_of
from repoassay.report.leaderboard.manifest import check_sealed, strict_json
from repoassay.report.leaderboard.plans import check_plan, plan_notes
from repoassay.report.leaderboard.retries import check_journal, check_places
from repoassay.report.leaderboard.verdicts import check_files, check_verdict
from repoassay.report.results import ResultRow, read_rows
from repoassay.text import one_line
from repoassay.types import Attempt, Plan, Verdict

__all__ = ["Validated", "validate"]

_Model = TypeVar("_Model", bound=BaseModel)
_SKEW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Validated:
    """What a validation came to. `rows` are there when nothing was refused; `notes` say what a reader should know."""

    folder: Path
    submitted: LeaderboardEntry | None
    plan: Plan | None
    refusals: tuple[EntryRefusal, ...]
    notes: tuple[str, ...] = ()
    rows: tuple[ResultRow, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing was refused."""
        return not self.refusals


def validate(folder: Path, now: datetime | None = None) -> Validated:
    """Check a submission folder.

    First the files themselves, then what they say; where the files are not sound, nothing is read. All that is wrong
    is told, not only the first.

    Args:
        folder: The submission; hostile.
        now: What counts as the present.

    Raises:
        BadInput: When there is no such folder.
    """
    if not folder.is_dir() or folder.is_symlink():
        raise BadInput(f"{folder} is no folder.", "Name a folder that `repoassay leaderboard pack` made.")
    if refusals := check_sealed(folder):
        return Validated(folder, None, None, tuple(refusals))
    submitted = read_submitted(folder)
    plan = _read(folder, f"{RUN}/run.json", Plan)
    unread = [one for one in (submitted, plan) if isinstance(one, EntryRefusal)]
    if isinstance(submitted, EntryRefusal) or isinstance(plan, EntryRefusal):
        return Validated(folder, None, None, tuple(unread))
    if refusals := list(check_bounds(plan, folder)):
        return Validated(folder, submitted, plan, tuple(refusals))
    attempts: list[AttemptFiles] = []
    refusals = list(_attempts(folder, attempts))
    if refusals:
        return Validated(folder, submitted, plan, tuple(refusals))
    latest = (now or datetime.now(UTC)) + _SKEW
    refusals = [*check_plan(plan, submitted), *check_journal(folder, plan, attempts), *check_places(plan, attempts)]
    refusals += check_dates(plan, submitted, attempts, latest)
    for one in attempts:
        refusals += [*check_verdict(plan, one), *check_account(folder, plan, one), *check_files(folder, one)]
    rows: list[ResultRow] = []
    refusals += _figures(folder, rows)
    notes = plan_notes(folder, plan)
    return Validated(folder, submitted, plan, tuple(refusals), tuple(notes), () if refusals else tuple(rows))


def _read(folder: Path, name: str, model: type[_Model]) -> _Model | EntryRefusal:
    content = (folder / name).read_bytes()
    if isinstance(found := strict_json(content), str):
        return EntryRefusal(name, found)
    try:
        return parse(model, content, "it")
    except NewerRecord as error:
        return EntryRefusal(name, str(error))
    except ValidationError as error:
        return EntryRefusal(name, f"{validation_reason(error)}.")


def _attempts(folder: Path, attempts: list[AttemptFiles]) -> Iterator[EntryRefusal]:
    """Read every attempt that has a verdict; folders of attempts that never finished hold a journal of calls alone."""
    root = folder / RUN / "attempts"
    if not root.is_dir():
        yield EntryRefusal(f"{RUN}/attempts", "there are no attempts.")
        return
    for place in sorted(root.iterdir()):
        name = f"{RUN}/attempts/{place.name}"
        there = {part for part in ("attempt.json", "verdict.json") if (place / part).is_file()}
        if not there:
            continue
        if len(there) < 2:
            yield EntryRefusal(name, f"it has {there.pop()} alone; attempt and verdict belong together.")
            continue
        attempt, verdict = (
            _read(folder, f"{name}/attempt.json", Attempt),
            _read(folder, f"{name}/verdict.json", Verdict),
        )
        yield from (one for one in (attempt, verdict) if isinstance(one, EntryRefusal))
        if isinstance(attempt, Attempt) and isinstance(verdict, Verdict):
            attempts.append(AttemptFiles(attempt, verdict, name))
            yield from check_amounts(folder, attempts[-1])


def _figures(folder: Path, rows: list[ResultRow]) -> Iterator[EntryRefusal]:
    try:
        rows += read_rows([folder / RUN])
    except RepoAssayError as error:
        yield EntryRefusal(RUN, one_line(str(error), 400))
        return
    stated = strict_json((folder / FIGURES).read_bytes())
    if isinstance(stated, str):
        yield EntryRefusal(FIGURES, stated)
        return
    found_apart = list(differences(stated, figures_of(rows)))
    # Before version 0.3 intervals took attempts at a task as independent. What is shown is worked out anew.
    if found_apart and not list(differences(stated, figures_of(rows, by_task=False))):
        return
    for name, stated_value, found in found_apart:
        yield EntryRefusal(
            FIGURES, f"{name or 'the document'} is stated as {stated_value!r}, and the attempts give {found!r}."
        )
