"""Which item a rater opens next, and how long it stays theirs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.assignment import QueuePlace, next_item
from repoassay.review.database import Conflict, append, stamp
from repoassay.review.rater_accounts import Rater, RaterRole
from repoassay.review.studies import study_of
from repoassay.review.study import StudyMode
from repoassay.review.tables import assignments, item_uses, raters, studies
from repoassay.text import printable

__all__ = ["LeasedItem", "full_items", "open_item", "open_next", "place_of", "queue_of", "release", "renew"]


@dataclass(frozen=True, slots=True)
class LeasedItem:
    """An item in a rater's queue: its place from 1, whether submitted, until when it is held, when first opened."""

    item: str
    position: int
    submitted: bool
    until: datetime | None
    opened: datetime | None


def queue_of(database: Database, rater: Rater) -> tuple[LeasedItem, ...]:
    """Return everything a rater was given, in order."""
    with database.reading() as connection:
        return _queue(connection, rater)


def place_of(database: Database, rater: Rater, item: str) -> LeasedItem:
    """Return one item's place in a rater's queue.

    Raises:
        BadInput: When it is not in the queue.
    """
    with database.reading() as connection:
        return _one(connection, rater, item)


def full_items(database: Database, rater: Rater, now: datetime) -> frozenset[str]:
    """Return the items of a rater's queue that others hold or have rated as often as needed; they are not given out."""
    settings = study_of(database, rater.study)
    if settings.mode is not StudyMode.OVERLAP or rater.role is RaterRole.JUDGE:
        return frozenset()
    with database.reading() as connection:
        others = _others(connection, rater, now)
        mine = {each.item for each in _queue(connection, rater) if not each.submitted}
    return frozenset(item for item in mine if others.get(item, 0) >= settings.overlap)


def open_next(database: Database, rater: Rater, now: datetime) -> LeasedItem | None:
    """Give a rater the next item to rate and hold it for them; the one they hold comes first.

    Returns:
        None when nothing is left for this rater now (others may hold the last ones).

    Raises:
        BadInput: When the study is closed.
    """
    settings = study_of(database, rater.study)
    seconds = settings.lease_seconds
    overlap = settings.overlap if settings.mode is StudyMode.OVERLAP and rater.role is not RaterRole.JUDGE else None

    def work(connection: sa.Connection) -> LeasedItem | None:
        _open_study(connection, rater)
        rows = connection.execute(
            sa.select(assignments.c.item, assignments.c.position, assignments.c.lease_until).where(
                assignments.c.study == rater.study, assignments.c.rater == rater.id, assignments.c.submitted.is_(False)
            )
        ).all()
        mine = next((item for item, _, until in rows if until is not None and until > now.timestamp()), None)
        others = {} if overlap is None or mine else _others(connection, rater, now)
        found = next_item([QueuePlace(item, position) for item, position, _ in rows], others, overlap, mine)
        return None if found is None else _take(connection, rater, _one(connection, rater, found), now, seconds)

    return database.write(work)


def open_item(database: Database, rater: Rater, item: str, now: datetime) -> LeasedItem:
    """Hold one item of the rater's own queue.

    Raises:
        BadInput: When it is not in the queue, or the study is closed.
        Conflict: When others hold or have submitted as many ratings as it needs.
    """
    settings = study_of(database, rater.study)
    limited = settings.mode is StudyMode.OVERLAP and rater.role is not RaterRole.JUDGE

    def work(connection: sa.Connection) -> LeasedItem:
        _open_study(connection, rater)
        found = _one(connection, rater, item)
        held = found.until is not None and found.until > now
        if limited and not held and not found.submitted:
            count = _others(connection, rater, now).get(item, 0)
            if count >= settings.overlap:
                raise Conflict(f"Others are rating {printable(item)!r} already.", "Take the next item.", count, item)
        return found if found.submitted else _take(connection, rater, found, now, settings.lease_seconds)

    return database.write(work)


def renew(database: Database, rater: Rater, item: str, now: datetime) -> bool:
    """Hold an item longer. False when the lease had ended or the item was submitted: open it anew."""
    until = now.timestamp() + study_of(database, rater.study).lease_seconds

    def work(connection: sa.Connection) -> bool:
        live = sa.and_(
            _mine(rater, item), assignments.c.submitted.is_(False), assignments.c.lease_until > now.timestamp()
        )
        done = connection.execute(sa.update(assignments).where(live).values(lease_until=until)).rowcount
        if done:
            append(connection, rater.study, now, "lease_renewed", rater.id, item)
        return bool(done)

    return database.write(work)


def release(database: Database, rater: Rater, item: str, now: datetime) -> None:
    """Give an item back, so that somebody else may take it; a draft stays."""

    def work(connection: sa.Connection) -> None:
        live = sa.and_(_mine(rater, item), assignments.c.lease_until.is_not(None))
        if connection.execute(sa.update(assignments).where(live).values(lease_until=None)).rowcount:
            append(connection, rater.study, now, "lease_released", rater.id, item)

    database.write(work)


def _take(connection: sa.Connection, rater: Rater, found: LeasedItem, now: datetime, seconds: int) -> LeasedItem:
    held = found.until is not None and found.until > now
    until = now.timestamp() + seconds
    opened = found.opened or now
    values = {"lease_until": until, "opened": stamp(opened)}
    connection.execute(sa.update(assignments).where(_mine(rater, found.item)).values(values))
    append(connection, rater.study, now, "lease_renewed" if held else "lease_taken", rater.id, found.item)
    return LeasedItem(found.item, found.position, found.submitted, datetime.fromtimestamp(until, UTC), opened)


def _others(connection: sa.Connection, rater: Rater, now: datetime) -> dict[str, int]:
    """Count, for each item, the people other than this rater who have submitted or hold it.

    What trains and qualifies is not counted: everybody rates it.
    """
    counted = sa.or_(assignments.c.submitted.is_(True), assignments.c.lease_until > now.timestamp())
    query = (
        sa.select(assignments.c.item, sa.func.count())
        .join(raters, raters.c.id == assignments.c.rater)
        .where(assignments.c.study == rater.study, assignments.c.rater != rater.id)
        .where(raters.c.role == RaterRole.RATER.value, counted)
        .where(assignments.c.item.not_in(sa.select(item_uses.c.item).where(item_uses.c.study == rater.study)))
        .group_by(assignments.c.item)
    )
    return {str(item): int(count) for item, count in connection.execute(query)}


def _queue(connection: sa.Connection, rater: Rater) -> tuple[LeasedItem, ...]:
    query = sa.select(assignments).where(assignments.c.study == rater.study, assignments.c.rater == rater.id)
    return tuple(_assigned(row) for row in connection.execute(query.order_by(assignments.c.position)))


def _one(connection: sa.Connection, rater: Rater, item: str) -> LeasedItem:
    row = connection.execute(sa.select(assignments).where(_mine(rater, item))).first()
    if row is None:
        raise BadInput(f"The item {printable(item)!r} is not in your queue.", "Open one from your queue.")
    return _assigned(row)


def _assigned(row: sa.Row[tuple[object, ...]]) -> LeasedItem:
    return LeasedItem(
        row.item,
        row.position,
        row.submitted,
        None if row.lease_until is None else datetime.fromtimestamp(row.lease_until, UTC),
        None if row.opened is None else datetime.fromisoformat(row.opened),
    )


def _open_study(connection: sa.Connection, rater: Rater) -> None:
    """Refuse when the study is closed; the lock lets one rater at a time count who holds what."""
    row = connection.execute(
        sa.select(studies.c.closed).where(studies.c.name == rater.study).with_for_update(key_share=True)
    ).one()
    if row.closed is not None:
        raise BadInput(f"The study {rater.study!r} is closed.", "Ask its lead.")


def _mine(rater: Rater, item: str) -> sa.ColumnElement[bool]:
    return sa.and_(assignments.c.study == rater.study, assignments.c.item == item, assignments.c.rater == rater.id)
