"""Judges and their samples in the review database: added, never changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.judges.definition import Definition
from repoassay.judges.judgement import Judgement
from repoassay.review import (
    Rater,
    RaterRole,
    add_rater,
    append,
    events,
    judgements,
    judges,
    raters_of,
    ratings,
    study_of,
)
from repoassay.text import join_names, printable
from repoassay.types import Rating, RatingPhase

__all__ = ["JudgeRecord", "find_judge", "judge_ratings", "judgements_of", "judges_of", "keep", "note_look", "seat"]


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """A judge of a study: the rater it is, and its definition."""

    rater: Rater
    definition: Definition


def seat(database: Database, study: str, definition: Definition, *, at: datetime, by: str = "") -> JudgeRecord:
    """Return the judge of this definition in a study, adding it where there is none. Its invitation is thrown away.

    Raises:
        BadInput: When there is no such study, its rubric is another one, or a rater has the judge's name.
    """
    settings = study_of(database, study)
    if settings.rubric != definition.rubric:
        raise BadInput(f"The judge was made for another rubric than that of {study!r}.", "Make it with the study's.")
    known = next((each for each in judges_of(database, study) if each.definition == definition), None)
    if known is not None:
        return known
    named = [each for each in raters_of(database, study) if each.name == definition.name]
    rater = named[0] if named and named[0].role is RaterRole.JUDGE else None
    if rater is None:
        rater = add_rater(database, study, definition.name, RaterRole.JUDGE, at=at, by=by).rater
    row = {"rater": rater.id, "study": study, "digest": definition.digest, "definition": definition.model_dump_json()}

    def work(connection: sa.Connection) -> None:
        here = sa.select(judges.c.rater).where(judges.c.study == study, judges.c.digest == definition.digest)
        if connection.execute(here).first() is None:
            connection.execute(sa.insert(judges), row)
            append(connection, study, at, "judge_seated", by or rater.id, rater=rater.id, digest=definition.digest)

    database.write(work)
    return JudgeRecord(rater, definition)


def judges_of(database: Database, study: str) -> tuple[JudgeRecord, ...]:
    """Return a study's judges in the order they were added."""
    people = {each.id: each for each in raters_of(database, study)}
    with database.reading() as connection:
        rows = connection.execute(sa.select(judges).where(judges.c.study == study)).all()
    found = [JudgeRecord(people[row.rater], Definition.model_validate_json(row.definition)) for row in rows]
    return tuple(sorted(found, key=lambda judge: judge.rater.number))


def find_judge(database: Database, study: str, name: str = "") -> JudgeRecord:
    """Return a judge by the beginning of its version, its model or its name; the only one where nothing is given.

    Raises:
        BadInput: When there is none, or more than one.
    """
    study_of(database, study)
    every = judges_of(database, study)
    fits = [
        each for each in every
        if not name or each.definition.digest.startswith(name) or name in (each.definition.model, each.rater.name)
    ]  # fmt: skip
    if len(fits) == 1:
        return fits[0]
    if not every:
        raise BadInput(f"The study {study!r} has no judge.", "Run `repoassay judge` first.")
    what = f"no judge {printable(name)!r}" if not fits else f"{len(fits)} judges that fit"
    names = join_names(each.rater.name for each in every)
    raise BadInput(f"The study {study!r} has {what}.", f"Name one with --judge: {names}.")


def keep(database: Database, study: str, judgement: Judgement) -> bool:
    """Keep a sample. False when there was one of that number already, which stays."""

    def work(connection: sa.Connection) -> bool:
        where = (
            judgements.c.rater == judgement.rater,
            judgements.c.item == judgement.item,
            judgements.c.axis == judgement.axis,
        )
        same = sa.select(judgements.c.sample).where(
            *where, judgements.c.phase == judgement.phase.value, judgements.c.sample == judgement.sample
        )
        if connection.execute(same).first() is not None:
            return False
        row = {"rater": judgement.rater, "phase": judgement.phase.value, "item": judgement.item, "axis": judgement.axis}
        row |= {"judgement": judgement.model_dump_json()}
        connection.execute(sa.insert(judgements), row | {"sample": judgement.sample})
        details = {
            "axis": judgement.axis,
            "phase": judgement.phase.value,
            "sample": judgement.sample,
            "void": bool(judgement.void),
        }
        append(connection, study, judgement.at, "judged", judgement.rater, judgement.item, **details)
        return True

    return database.write(work)


def judgements_of(
    database: Database, judge: JudgeRecord, phase: RatingPhase | None = None, item: str | None = None
) -> tuple[Judgement, ...]:
    """Return a judge's samples, by item, axis and number; of one phase or item only, if given."""
    query = sa.select(judgements.c.judgement).where(judgements.c.rater == judge.rater.id)
    if item is not None:
        query = query.where(judgements.c.item == item)
    if phase is not None:
        query = query.where(judgements.c.phase == phase.value)
    order = (judgements.c.item, judgements.c.axis, judgements.c.phase, judgements.c.sample)
    with database.reading() as connection:
        return tuple(Judgement.model_validate_json(text) for text in connection.scalars(query.order_by(*order)))


def judge_ratings(database: Database, judge: JudgeRecord, item: str | None = None) -> tuple[Rating, ...]:
    """Return what the judge submitted as a rater, of one item if given, in order of version."""
    query = sa.select(ratings.c.rating).where(ratings.c.rater == judge.rater.id)
    if item is not None:
        query = query.where(ratings.c.item == item)
    with database.reading() as connection:
        found: Iterable[str] = connection.scalars(query.order_by(ratings.c.item, ratings.c.version))
        return tuple(Rating.model_validate_json(text) for text in found)


def note_look(database: Database, judge: JudgeRecord, at: datetime) -> int:
    """Log that figures of the test part were looked at, and return how often they have been by now.

    A test part that is looked at again and again while the prompt is changed tests nothing any more.
    """

    def work(connection: sa.Connection) -> int:
        append(connection, judge.rater.study, at, "judge_tested", judge.rater.id, digest=judge.definition.digest)
        seen = sa.select(sa.func.count()).select_from(events)
        return connection.scalar(seen.where(events.c.study == judge.rater.study, events.c.kind == "judge_tested")) or 1

    return database.write(work)
