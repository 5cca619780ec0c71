"""What a study tells its raters before they begin: instructions with versions, and what each knows of a repository.

Both lie in the log of events, which nobody can change. A version says what it replaces by coming later; a rating is
pinned to the version that its rater had confirmed to have read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.database import append, event_log
from repoassay.review.rater_accounts import Rater
from repoassay.review.studies import items_of, study_of
from repoassay.review.study import StudyMode
from repoassay.review.tables import assignments, events
from repoassay.text import printable

__all__ = [
    "Expertise", "Instructions", "confirm_instructions", "confirmed_in", "declare_expertise", "expertise_of",
    "instructions_of", "must_read", "repositories_to_ask", "write_instructions",
]  # fmt: skip

_WRITTEN, _READ, _EXPERTISE = "instructions_written", "instructions_read", "expertise_given"
_LONGEST = 100_000


class Expertise(StrEnum):
    """How well somebody knows a repository."""

    NONE = "none"
    READ = "read"
    USED = "used"
    CONTRIBUTED = "contributed"
    MAINTAINS = "maintains"


@dataclass(frozen=True, slots=True)
class Instructions:
    """One version, counted from 1, with who wrote it and when."""

    version: int
    text: str
    at: datetime
    by: str


def write_instructions(database: Database, study: str, text: str, *, at: datetime, actor: str) -> Instructions:
    """Add a version; raters confirm it before their next item. The same text again adds none.

    Raises:
        BadInput: When the text is empty or longer than 100,000 characters.
    """
    text = text.replace("\r\n", "\n").strip()
    if not text or len(text) > _LONGEST:
        raise BadInput(f"Instructions have 1 to {_LONGEST:,} characters.", "Say what raters need to know.")

    def work(connection: sa.Connection) -> Instructions:
        # The study's row is locked by nothing else here: two versions at once would be told apart by their numbers.
        count = connection.scalar(_of_kind(study, _WRITTEN).with_only_columns(sa.func.count())) or 0
        append(connection, study, at, _WRITTEN, actor, version=count + 1, text=text)
        return Instructions(count + 1, text, at, actor)

    before = instructions_of(database, study)
    return before[-1] if before and before[-1].text == text else database.write(work)


def instructions_of(database: Database, study: str) -> tuple[Instructions, ...]:
    """Return every version, oldest first."""
    line = event_log(database, study, kinds=[_WRITTEN])
    return tuple(Instructions(number, str(each.details["text"]), each.at, each.actor) for number, each in
                 enumerate(line, 1))  # fmt: skip


def must_read(database: Database, rater: Rater) -> Instructions | None:
    """Return the newest instructions where the rater has not confirmed them yet."""
    every = instructions_of(database, rater.study)
    with database.reading() as connection:
        confirmed = confirmed_in(connection, rater) or 0
    return every[-1] if every and every[-1].version > confirmed else None


def confirm_instructions(database: Database, rater: Rater, version: int, *, at: datetime) -> None:
    """Keep that a rater says to have read a version.

    Raises:
        BadInput: When there is no such version.
    """
    if not 1 <= version <= len(instructions_of(database, rater.study)):
        raise BadInput(f"There are no instructions of version {version}.", "Reload the page.")
    database.write(lambda connection: append(connection, rater.study, at, _READ, rater.id, version=version))


def confirmed_in(connection: sa.Connection, rater: Rater) -> int | None:
    """Return the newest version a rater has confirmed, within a transaction; None for none."""
    line = connection.execute(_of_kind(rater.study, _READ).where(events.c.actor == rater.id))
    return max((int(json.loads(row.details)["version"]) for row in line), default=None)


def declare_expertise(database: Database, rater: Rater, repository: str, level: Expertise, *, at: datetime) -> None:
    """Keep how well a rater knows a repository; the last word counts.

    Raises:
        BadInput: When no item of the study is of that repository.
    """
    if repository not in _repositories(database, rater.study).values():
        raise BadInput(f"No item is of {printable(repository)!r}.", "Choose a repository of this study.")
    details = {"repository": repository, "level": level.value}
    database.write(lambda connection: append(connection, rater.study, at, _EXPERTISE, rater.id, **details))


def expertise_of(database: Database, study: str) -> dict[tuple[str, str], Expertise]:
    """Return what raters said of themselves, by (rater, repository)."""
    line = event_log(database, study, kinds=[_EXPERTISE])
    return {(each.actor, str(each.details["repository"])): Expertise(each.details["level"]) for each in line}


def repositories_to_ask(database: Database, rater: Rater) -> tuple[str, ...]:
    """Return the repositories of a rater's items of which he has not said yet how well he knows them."""
    known = _repositories(database, rater.study)
    if study_of(database, rater.study).mode is StudyMode.BALANCED:
        mine = sa.select(assignments.c.item).where(assignments.c.rater == rater.id)
        with database.reading() as connection:
            repositories = {known[item] for item in connection.scalars(mine) if item in known}
    else:
        # Every item comes to everybody, be it after training only: one page of questions instead of two.
        repositories = set(known.values())
    answers = {repository for who, repository in expertise_of(database, rater.study) if who == rater.id}
    return tuple(sorted(repositories - answers))


def _repositories(database: Database, study: str) -> dict[str, str]:
    """Items of a study with their repositories, where these are known; neither ever changes."""
    known: dict[str, str] | None = database.cache.get(("repositories", study))
    if known is None:
        known = {item.id: item.hidden.repository for item in items_of(database, study) if item.hidden.repository}
        database.cache["repositories", study] = known
    return known


def _of_kind(study: str, kind: str) -> sa.Select[tuple[str]]:
    return sa.select(events.c.details).where(events.c.study == study, events.c.kind == kind)
