"""Line comments, each of which may be tied to an axis as evidence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from ulid import ULID

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.database import append, read_stored, stamp
from repoassay.review.rater_accounts import Rater
from repoassay.review.studies import read_rubric_of
from repoassay.review.tables import assignments, comments
from repoassay.text import printable, suggest
from repoassay.types import Anchor

__all__ = ["Comment", "add_comment", "comments_by", "comments_on", "remove_comment"]

_MOST = 500


@dataclass(frozen=True, slots=True)
class Comment:
    """What a rater wrote at lines of the diff; `axis` is None where it belongs to none."""

    id: str
    item: str
    rater: str
    axis: str | None
    anchor: Anchor
    text: str
    created: datetime


def add_comment(
    database: Database, rater: Rater, item: str, anchor: Anchor, text: str, *, now: datetime, axis: str | None = None
) -> Comment:
    """Keep a comment of a rater on an item of their queue.

    Raises:
        BadInput: When the item is not theirs, the axis unknown, the text empty, longer than 10,000 characters, or the
            rater has 500 comments on it already.
    """
    keys = [each.key for each in read_rubric_of(database, rater.study).axes]
    if axis is not None and axis not in keys:
        raise BadInput(f"The rubric has no axis {printable(axis)!r}.", suggest(axis, keys))
    if not text.strip() or len(text) > 10_000:
        raise BadInput("A comment is 1 to 10,000 characters.", "Write or shorten it.")
    comment = Comment(str(ULID()), item, rater.id, axis, anchor, text, now)

    def work(connection: sa.Connection) -> Comment:
        condition = (assignments.c.study == rater.study, assignments.c.item == item, assignments.c.rater == rater.id)
        if connection.execute(sa.select(assignments.c.position).where(*condition)).first() is None:
            raise BadInput(f"The item {printable(item)!r} is not in your queue.", "Open one from your queue.")
        mine = (comments.c.study == rater.study, comments.c.item == item, comments.c.rater == rater.id)
        if (connection.scalar(sa.select(sa.func.count()).select_from(comments).where(*mine)) or 0) >= _MOST:
            raise BadInput(f"There are {_MOST} comments on this item already.", "Join some.")
        row = {"id": comment.id, "study": rater.study, "item": item, "rater": rater.id, "axis": axis, "text": text}
        connection.execute(sa.insert(comments), row | {"anchor": anchor.model_dump_json(), "created": stamp(now)})
        append(connection, rater.study, now, "comment_added", rater.id, item, comment=comment.id, axis=axis, text=text)
        return comment

    return database.write(work)


def remove_comment(database: Database, rater: Rater, comment: str, now: datetime) -> bool:
    """Take back one's own comment; the log keeps it. False when there is no such comment of this rater."""

    def work(connection: sa.Connection) -> bool:
        mine = sa.and_(comments.c.id == comment, comments.c.rater == rater.id, comments.c.removed.is_(None))
        done = connection.execute(sa.update(comments).where(mine).values(removed=stamp(now))).rowcount
        if done:
            append(connection, rater.study, now, "comment_removed", rater.id, comment=comment)
        return bool(done)

    return database.write(work)


def comments_by(database: Database, rater: Rater, item: str) -> tuple[Comment, ...]:
    """Return a rater's own comments on an item, oldest first: all that may be shown before submission."""
    return _select(database, rater.study, item, comments.c.rater == rater.id)


def comments_on(database: Database, study: str, item: str) -> tuple[Comment, ...]:
    """Return everybody's comments on an item, oldest first: for adjudication and reveal."""
    return _select(database, study, item, sa.true())


def _select(database: Database, study: str, item: str, more: sa.ColumnElement[bool]) -> tuple[Comment, ...]:
    query = sa.select(comments).where(comments.c.study == study, comments.c.item == item, comments.c.removed.is_(None))
    with database.reading() as connection:
        rows = connection.execute(query.where(more).order_by(comments.c.id)).all()
    return tuple(
        Comment(
            row.id,
            row.item,
            row.rater,
            row.axis,
            read_stored(Anchor, row.anchor),
            row.text,
            datetime.fromisoformat(row.created),
        )
        for row in rows
    )
