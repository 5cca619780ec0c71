"""Drafts: what a rater has filled in so far, saved at every change and never silently overwritten."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.answers import Answers
from repoassay.review.database import Conflict, append, read_stored, stamp
from repoassay.review.rater_accounts import Rater
from repoassay.review.tables import assignments, drafts
from repoassay.text import printable
from repoassay.types import RatingPhase

__all__ = ["RatingDraft", "draft_of", "save_draft"]


@dataclass(frozen=True, slots=True)
class RatingDraft:
    """A saved draft; `version` counts from 1, and 0 stands for none saved yet."""

    version: int
    answers: Answers
    saved: datetime


def draft_of(database: Database, rater: Rater, item: str, phase: RatingPhase = RatingPhase.BLIND) -> RatingDraft | None:
    """Return a rater's draft of an item, if there is one."""
    with database.reading() as connection:
        return _load(connection, rater, item, phase)


def save_draft(
    database: Database,
    rater: Rater,
    item: str,
    answers: Answers,
    *,
    version: int,
    now: datetime,
    phase: RatingPhase = RatingPhase.BLIND,
) -> RatingDraft:
    """Save a draft over the version the page was working on.

    Saving what is already stored as the next version (a request repeated after its answer was lost) is no conflict.

    Args:
        database: Where.
        rater: Whose.
        item: Of what; it must be in the rater's queue.
        answers: What the form holds.
        version: The version the page has; 0 where it has none.
        now: The clock.
        phase: Blind or revealed.

    Returns:
        The draft as saved, with its new version.

    Raises:
        BadInput: When the item is not the rater's.
        Conflict: When another window saved meanwhile; it holds both, as a `RatingDraft` and `Answers`.
    """
    body = answers.model_dump_json()

    def work(connection: sa.Connection) -> RatingDraft:
        query = sa.select(assignments.c.submitted).where(
            assignments.c.study == rater.study, assignments.c.item == item, assignments.c.rater == rater.id
        )
        if (found := connection.execute(query).first()) is None:
            raise BadInput(f"The item {printable(item)!r} is not in your queue.", "Open one from your queue.")
        if found.submitted and phase is RatingPhase.BLIND:
            # An autosave that was on its way when the form was submitted must not bring the draft back.
            return _same_or_conflict(None, answers, version)
        values = {"version": version + 1, "answers": body, "saved": stamp(now)}
        if version == 0:
            if (stored := _load(connection, rater, item, phase)) is None:
                row = {"study": rater.study, "item": item, "rater": rater.id, "phase": phase.value}
                connection.execute(sa.insert(drafts), row | values)
            else:
                return _same_or_conflict(stored, answers, version)
        else:
            same = sa.and_(_key(rater, item, phase), drafts.c.version == version)
            if not connection.execute(sa.update(drafts).where(same).values(values)).rowcount:
                return _same_or_conflict(_load(connection, rater, item, phase), answers, version)
        append(connection, rater.study, now, "draft_saved", rater.id, item, version=version + 1, phase=phase.value)
        return RatingDraft(version + 1, answers, now)

    return database.write(work)


def _same_or_conflict(stored: RatingDraft | None, answers: Answers, version: int) -> RatingDraft:
    if stored is not None and stored.version == version + 1 and stored.answers == answers:
        return stored
    raise Conflict(
        "This form was saved elsewhere since this page opened it." if stored else "This form was submitted elsewhere.",
        "Compare both versions and keep one.",
        stored,
        answers,
    )


def _load(connection: sa.Connection, rater: Rater, item: str, phase: RatingPhase) -> RatingDraft | None:
    row = connection.execute(sa.select(drafts).where(_key(rater, item, phase))).first()
    if row is None:
        return None
    return RatingDraft(row.version, read_stored(Answers, row.answers), datetime.fromisoformat(row.saved))


def _key(rater: Rater, item: str, phase: RatingPhase) -> sa.ColumnElement[bool]:
    mine = sa.and_(drafts.c.study == rater.study, drafts.c.item == item, drafts.c.rater == rater.id)
    return sa.and_(mine, drafts.c.phase == phase.value)
