"""Submitting ratings: once, whole, and never changed afterwards; reading them back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NoReturn

import sqlalchemy as sa
from ulid import ULID

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.answers import Answers, Context, check_rating, rated
from repoassay.review.database import Conflict, append, read_stored
from repoassay.review.instructions import confirmed_in
from repoassay.review.plan_store import freeze_at_first_rating
from repoassay.review.qualification import advance, required_agreement
from repoassay.review.rater_accounts import Rater, RaterRole
from repoassay.review.studies import read_rubric_of, study_of
from repoassay.review.study import Reveal, Study
from repoassay.review.tables import assignments, drafts, item_uses, items, raters, ratings, studies
from repoassay.text import printable
from repoassay.types import Rating, RatingPhase

__all__ = ["import_ratings", "may_reveal", "ratings_by", "ratings_of", "submit"]


def submit(
    database: Database,
    rater: Rater,
    item: str,
    answers: Answers,
    *,
    key: str,
    now: datetime,
    phase: RatingPhase = RatingPhase.BLIND,
) -> Rating:
    """Submit finished answers. The draft goes, the lease ends, the event is logged: all of it or none.

    A request repeated with the same `key` (its answer was lost, the server was killed) returns the rating that is
    stored and changes nothing. A rating whose lease has expired is taken all the same: no work is lost. In the
    revealed phase each submission is a new version that amends the one before; all are kept.

    Args:
        database: Where.
        rater: Whose.
        item: Of what; it must be in the rater's queue.
        answers: Complete answers.
        key: Chosen by the page when the form was opened, 8 to 200 characters, one a submission.
        now: The clock.
        phase: Blind, or revealed where the study has that phase.

    Raises:
        BadInput: When answers are missing or unknown, the item is not the rater's, the study is closed, or the phase
            has not come.
        Conflict: When this rater has already submitted the item, or used the key for another; it holds both.
    """
    if not 8 <= len(key) <= 200:
        raise BadInput("A submission needs a key of 8 to 200 characters.", "Make one when the form is opened.")
    study, rubric = study_of(database, rater.study), read_rubric_of(database, rater.study)
    identity, needed = str(ULID()), required_agreement(database, rater.study)

    def work(connection: sa.Connection) -> Rating:
        place = connection.execute(sa.select(assignments).where(_assigned(rater, item)).with_for_update()).first()
        if place is None:
            raise BadInput(f"The item {printable(item)!r} is not in your queue.", "Open one from your queue.")
        used = sa.select(ratings.c.rating).where(ratings.c.rater == rater.id, ratings.c.key == key)
        if (stored := connection.scalar(used)) is not None:
            return _same(read_stored(Rating, stored), item, phase, answers)
        before = _versions(connection, rater, item)
        # A qualification that may be tried again asks for another blind rating: its assignment is open again.
        _check_phase(connection, study, item, phase, before if place.submitted else (), answers)
        rating = rated(
            answers,
            rubric,
            Context(
                id=identity,
                study=rater.study,
                submission=item,
                rater=rater.id,
                phase=phase,
                version=len(before) + 1,
                amends=before[-1].id if before else None,
                position=place.position,
                instructions=confirmed_in(connection, rater),
                created=now if place.opened is None else datetime.fromisoformat(place.opened),
                submitted=now,
            ),
        )
        _insert(connection, rating, key)
        freeze_at_first_rating(connection, rater.study, at=now, actor=rater.id)
        done = {"submitted": True, "lease_until": None}
        connection.execute(sa.update(assignments).where(_assigned(rater, item)).values(done))
        draft = sa.and_(drafts.c.study == rater.study, drafts.c.item == item, drafts.c.rater == rater.id)
        connection.execute(sa.delete(drafts).where(draft, drafts.c.phase == phase.value))
        details = {"rating": rating.id, "version": rating.version, "phase": phase.value}
        append(connection, rater.study, now, "submitted", rater.id, item, **details)
        if phase is RatingPhase.BLIND:
            advance(connection, rater, item, study, needed, now)
        return rating

    return database.write(work)


def may_reveal(database: Database, rater: Rater, item: str) -> bool:
    """Whether this rater may see tests, signals, judges and the maker of an item now."""
    study = study_of(database, rater.study)
    with database.reading() as connection:
        rated_it = bool(_versions(connection, rater, item))
        return rated_it and _revealed(connection, study, item)


def ratings_of(
    database: Database, study: str, phase: RatingPhase | None = None, *, judges: bool = False, preparing: bool = False
) -> tuple[Rating, ...]:
    """Return a study's ratings, oldest first; of one phase only, if given. For leads, figures and exports.

    Those of judges are left out unless asked for: no consensus, figure or queue may count a program as one of people.
    So are those of `preparing` items, which train and qualify raters: they never count.
    """
    query = sa.select(ratings.c.rating).where(ratings.c.study == study)
    if not preparing:
        query = query.where(ratings.c.item.not_in(sa.select(item_uses.c.item).where(item_uses.c.study == study)))
    if not judges:
        programs = sa.select(raters.c.id).where(raters.c.study == study, raters.c.role == RaterRole.JUDGE.value)
        query = query.where(ratings.c.rater.not_in(programs))
    if phase is not None:
        query = query.where(ratings.c.phase == phase.value)
    with database.reading() as connection:
        return tuple(read_stored(Rating, text) for text in connection.scalars(query.order_by(ratings.c.id)))


def ratings_by(database: Database, rater: Rater, item: str) -> tuple[Rating, ...]:
    """Return what one rater submitted of an item, in order of version."""
    with database.reading() as connection:
        return _versions(connection, rater, item)


def import_ratings(database: Database, study: str, new_ratings: Iterable[Rating], *, at: datetime, by: str) -> int:
    """Add ratings made elsewhere to a study whose items and raters they name; one already there is passed over.

    Returns:
        How many were added.

    Raises:
        BadInput: When one is of another study or rubric, or names an item or rater the study has not.
        Conflict: When another rating holds the same identity or version; nothing is added then.
    """
    rubric = read_rubric_of(database, study)
    line = [check_rating(rating, rubric) for rating in new_ratings]

    def work(connection: sa.Connection) -> int:
        known_items = set(connection.scalars(sa.select(items.c.id).where(items.c.study == study)))
        known_raters = set(connection.scalars(sa.select(raters.c.id).where(raters.c.study == study)))
        added = 0
        for rating in line:
            if rating.study != study or rating.submission not in known_items or rating.rater not in known_raters:
                raise BadInput(
                    f"Rating {rating.id!r} names a study, item or rater that {study!r} has not.",
                    "Import it into the study it was exported from.",
                )
            clash = sa.select(ratings.c.rating).where(ratings.c.study == study, ratings.c.item == rating.submission)
            same = sa.and_(ratings.c.rater == rating.rater, ratings.c.version == rating.version)
            stored = connection.scalar(clash.where(same)) or connection.scalar(
                sa.select(ratings.c.rating).where(ratings.c.id == rating.id)
            )
            if stored is not None:
                if read_stored(Rating, stored) != rating:
                    raise Conflict(
                        f"Rating {rating.id!r} differs from the one stored.", "Keep one of both.", stored, rating
                    )
                continue
            _insert(connection, rating, f"import:{rating.id}")
            freeze_at_first_rating(connection, study, at=at, actor=by)
            where = (assignments.c.study == study, assignments.c.item == rating.submission)
            connection.execute(
                sa.update(assignments).where(*where, assignments.c.rater == rating.rater).values(submitted=True)
            )
            added += 1
        append(connection, study, at, "imported", by, added=added)
        return added

    return database.write(work)


def _check_phase(
    connection: sa.Connection, study: Study, item: str, phase: RatingPhase, before: tuple[Rating, ...], answers: Answers
) -> None:
    closed = connection.scalar(sa.select(studies.c.closed).where(studies.c.name == study.name)) is not None
    if phase is RatingPhase.BLIND:
        if before:
            raise Conflict("You have already submitted this item.", "Open the next one.", before[-1], answers)
        if closed:
            raise BadInput(f"The study {study.name!r} is closed.", "Ask its lead.")
        return
    if RatingPhase.REVEALED not in study.phases:
        raise BadInput(f"The study {study.name!r} has no revealed phase.", "Its blind ratings are final.")
    if not before:
        raise BadInput("An item is rated blind before it is revealed.", "Submit the blind rating first.")
    if not _revealed(connection, study, item):
        raise BadInput(f"The study {study.name!r} reveals when it is closed.", "Wait for its lead.")


def _revealed(connection: sa.Connection, study: Study, item: str) -> bool:
    """Whether what a rater has submitted blind may be revealed to that rater; never of what trains or qualifies."""
    prepares = sa.select(item_uses.c.use).where(item_uses.c.study == study.name, item_uses.c.item == item)
    if connection.scalar(prepares) is not None:
        return False
    if study.reveal is Reveal.AFTER_CLOSE:
        return connection.scalar(sa.select(studies.c.closed).where(studies.c.name == study.name)) is not None
    return study.reveal is Reveal.AFTER_SUBMISSION


def _versions(connection: sa.Connection, rater: Rater, item: str) -> tuple[Rating, ...]:
    mine = sa.and_(ratings.c.study == rater.study, ratings.c.item == item, ratings.c.rater == rater.id)
    query = sa.select(ratings.c.rating).where(mine).order_by(ratings.c.version)
    return tuple(read_stored(Rating, text) for text in connection.scalars(query))


def _same(stored: Rating, item: str, phase: RatingPhase, answers: Answers) -> Rating:
    if (stored.submission, stored.phase) != (item, phase):
        _reused(stored, answers)
    return stored


def _reused(stored: Rating, answers: Answers) -> NoReturn:
    raise Conflict("This submission's key was used for another one.", "Reload the page.", stored, answers)


def _insert(connection: sa.Connection, rating: Rating, key: str) -> None:
    row = {"id": rating.id, "study": rating.study, "item": rating.submission, "rater": rating.rater, "key": key}
    row |= {"phase": rating.phase.value, "rating": rating.model_dump_json()}
    connection.execute(sa.insert(ratings), row | {"version": rating.version})


def _assigned(rater: Rater, item: str) -> sa.ColumnElement[bool]:
    return sa.and_(assignments.c.study == rater.study, assignments.c.item == item, assignments.c.rater == rater.id)
