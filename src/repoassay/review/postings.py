"""What a study has posted to forges: each request by its digest, noted before it is sent and again when it is done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from repoassay.db import Database
from repoassay.review.database import append, stamp
from repoassay.review.tables import postings

__all__ = ["Posting", "begin_posting", "drop_posting", "finish_posting", "postings_of"]


@dataclass(frozen=True, slots=True)
class Posting:
    """One request about an item; `posted` is None where it was begun and nobody knows whether it arrived."""

    item: str
    digest: str
    kind: str
    posted: datetime | None


def postings_of(database: Database, study: str) -> tuple[Posting, ...]:
    """Return all that was begun or posted of a study."""
    with database.reading() as connection:
        rows = connection.execute(sa.select(postings).where(postings.c.study == study)).all()
    return tuple(
        Posting(row.item, row.digest, row.kind, row.posted and datetime.fromisoformat(row.posted)) for row in rows
    )


def begin_posting(database: Database, study: str, item: str, digest: str, kind: str, now: datetime) -> None:
    """Note that a request is about to be sent; nothing changes where that is noted already."""

    def work(connection: sa.Connection) -> None:
        if connection.execute(sa.select(postings.c.kind).where(*_one(study, item, digest))).first() is None:
            row = {"study": study, "item": item, "digest": digest, "kind": kind, "begun": stamp(now)}
            connection.execute(sa.insert(postings), row)

    database.write(work)


def finish_posting(database: Database, study: str, item: str, digest: str, now: datetime, actor: str) -> None:
    """Note that the forge has it, and write so into the log."""

    def work(connection: sa.Connection) -> None:
        connection.execute(sa.update(postings).where(*_one(study, item, digest)).values(posted=stamp(now)))
        append(connection, study, now, "posted", actor, item, digest=digest)

    database.write(work)


def drop_posting(database: Database, study: str, item: str, digest: str) -> None:
    """Forget a request that the forge refused, so that it can be sent once what was wrong is right."""
    database.write(lambda connection: connection.execute(sa.delete(postings).where(*_one(study, item, digest))))


def _one(study: str, item: str, digest: str) -> tuple[sa.ColumnElement[bool], ...]:
    return postings.c.study == study, postings.c.item == item, postings.c.digest == digest
