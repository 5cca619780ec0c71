"""The review database: its tables at their newest version, and the log of events.

What is kept in it is said in `tables`, and how it got its shape in `migrations`; who works on it: `studies`, `raters`,
`leases`, `drafts`, `submitting`, `comments` and `settle`, each a few functions that are given a `Database`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from pydantic import BaseModel, ValidationError

from repoassay.db import Database, Schema, connect_database, migrate
from repoassay.errors import BadInput, RepoAssayError
from repoassay.review.tables import events

__all__ = ["Conflict", "Event", "append", "event_log", "open_database", "read_stored", "stamp"]

_Model = TypeVar("_Model", bound=BaseModel)
_SCHEMA = Schema(Path(__file__).with_name("migrations"), "review_schema", 7305391)


class Conflict(RepoAssayError):
    """A newer answer, perhaps from another window, is stored already; nothing was overwritten.

    Args:
        message: What happened, as one sentence.
        remedy: What to do.
        stored: What the database holds.
        offered: What was to be written.
    """

    def __init__(self, message: str, remedy: str, stored: object, offered: object) -> None:
        super().__init__(message, remedy)
        self.stored = stored
        self.offered = offered


def read_stored(kind: type[_Model], text: str) -> _Model:
    """Read a record out of its column.

    Raises:
        BadInput: It is not as it was written.
    """
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise BadInput(
            f"The review database holds a {kind.__name__} that cannot be read.",
            "It is damaged, or was changed by hand: restore a copy.",
        ) from error


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log: its number, when, what kind, who did it, to which item (may be empty), and details."""

    number: int
    study: str
    at: datetime
    kind: str
    actor: str
    item: str
    details: Mapping[str, Any]


def open_database(location: str | Path) -> Database:
    """Open a review database, making its tables or bringing them to their newest version.

    Args:
        location: Path of an SQLite file (made with its folder), or a URL: `sqlite:///...`, `postgresql://...`.

    Raises:
        BadInput: When the URL or the file cannot be used, or the tables are of a newer version.
        MissingExtra: Without the driver.
        Unavailable: When the server does not answer or refuses us.
    """
    database = connect_database(location, "review database")
    migrate(database, _SCHEMA)
    return database


def stamp(moment: datetime) -> str:
    """Write a time as ISO 8601 in UTC with microseconds, so that text sorts as time does."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def append(
    connection: sa.Connection, study: str, at: datetime, kind: str, actor: str, item: str = "", **details: Any
) -> None:
    """Add an event to the log, in the transaction that makes it true. There is no function that changes one."""
    row = {"study": study, "at": stamp(at), "kind": kind, "actor": actor, "item": item, "details": json.dumps(details)}
    connection.execute(sa.insert(events), row)


def event_log(
    database: Database, study: str, after: int = 0, most: int = 100_000, kinds: Sequence[str] = ()
) -> tuple[Event, ...]:
    """Return a study's events with numbers above `after`, in order; of some kinds only, if any are named."""
    query = sa.select(events).where(events.c.study == study, events.c.number > after)
    if kinds:
        query = query.where(events.c.kind.in_(kinds))
    with database.reading() as connection:
        rows = connection.execute(query.order_by(events.c.number).limit(most)).all()
    return tuple(
        Event(
            row.number,
            row.study,
            datetime.fromisoformat(row.at),
            row.kind,
            row.actor,
            row.item,
            json.loads(row.details),
        )
        for row in rows
    )
