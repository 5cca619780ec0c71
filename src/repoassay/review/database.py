"""The review database: SQLite or PostgreSQL by URL, transactions that survive contention, and the event log.

What is kept in it is said in `tables`; who works on it: `studies`, `raters`, `leases`, `drafts`, `submitting`,
`comments` and `settle`, each a few functions that are given a `Database`.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from repoassay.errors import BadInput, InfraFault, MissingExtra, RepoAssayError

try:
    import sqlalchemy as sa
    from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError
except ImportError as _missing:
    raise MissingExtra("sqlalchemy", "review") from _missing

from repoassay.review.tables import events, metadata

__all__ = ["Conflict", "Database", "Event", "append", "event_log", "open_database", "stamp"]

_ATTEMPTS = 8
_BUSY_MS = 10_000
_WRITING = "repoassay_writing"
Result = TypeVar("Result")


class Conflict(RepoAssayError):
    """Somebody, perhaps the same rater in another window, was there first. Nothing was overwritten.

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


class Database:
    """An open review database, safe to share among threads; processes share the file or the server."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        # SQLite's own waiting is a lottery in which an unlucky thread starves; threads of one process queue instead.
        self._writers = threading.Lock() if engine.dialect.name == "sqlite" else None
        self.cache: dict[tuple[str, str], Any] = {}
        """Values parsed from rows that never change, by (kind, name)."""

    @property
    def kind(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._engine.dialect.name

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Give a connection that sees one consistent state; nothing may be written through it."""
        # SQLite's transactions are snapshots anyway.
        level = {} if self.kind == "sqlite" else {"isolation_level": "REPEATABLE READ"}
        try:
            with self._engine.connect().execution_options(**level) as connection, connection.begin():
                yield connection
        except (UnicodeEncodeError, DataError) as error:
            raise _unstorable() from error
        except SQLAlchemyError as error:
            raise InfraFault(f"The review database cannot be read: {_first_line(error)}.") from error

    def write(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Run `work` in one transaction: all of it happens, or none.

        Work that met contention (a busy database, a deadlock, a unique row that another just wrote) is rolled back and
        run again, so it must have no effect but through its connection.

        Raises:
            BadInput: When a text holds what the database cannot keep.
            InfraFault: When the database cannot be written, or stays contended.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._once(work)
            except (UnicodeEncodeError, DataError) as error:
                raise _unstorable() from error
            except SQLAlchemyError as error:
                # A unique row that another wrote is seen at the second try; one that still clashes then is our mistake.
                last = 3 if isinstance(error, IntegrityError) else _ATTEMPTS
                if attempt >= last or not _contended(error):
                    raise InfraFault(f"The review database cannot be written: {_first_line(error)}.") from error
            time.sleep(random.uniform(0, 0.01 * 2**attempt))  # noqa: S311 - spreads retries, no secret
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _once(self, work: Callable[[sa.Connection], Result]) -> Result:
        if self._writers is None:
            with self._engine.begin() as connection:
                return work(connection)
        writing = {_WRITING: True}
        with self._writers, self._engine.connect().execution_options(**writing) as connection, connection.begin():
            return work(connection)


def open_database(given: str | Path) -> Database:
    """Open a review database, making its tables where there are none.

    Args:
        given: Path of an SQLite file (made with its folder), or a URL: `sqlite:///...`, `postgresql://...`.

    Raises:
        BadInput: When the URL or the database cannot be used.
        MissingExtra: Without the driver.
    """
    text = str(given)
    url = text if "://" in text else f"sqlite:///{Path(text).expanduser().absolute()}"
    if url.startswith(("postgresql://", "postgres://")):
        url = "postgresql+psycopg://" + url.split("://", 1)[1]
    try:
        parsed = sa.make_url(url)
        name = parsed.get_backend_name()
        if name == "sqlite":
            engine = _sqlite(parsed)
        elif name == "postgresql":
            engine = sa.create_engine(parsed, pool_size=10, max_overflow=30, pool_pre_ping=True)
        else:
            raise BadInput(f"A review database cannot be of the kind {name!r}.", "Use sqlite or postgresql.")
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "psycopg", "postgres") from error
    except SQLAlchemyError as error:
        raise BadInput(f"The database URL cannot be read: {_first_line(error)}.", "Write sqlite:///file.db.") from error
    _create(engine)
    return Database(engine)


def stamp(moment: datetime) -> str:
    """Write a time as ISO 8601 in UTC with microseconds, so that text sorts as time does."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def append(
    connection: sa.Connection, study: str, at: datetime, kind: str, actor: str, item: str = "", **details: Any
) -> None:
    """Add an event to the log, in the transaction that makes it true. There is no function that changes one."""
    row = {"study": study, "at": stamp(at), "kind": kind, "actor": actor, "item": item, "details": json.dumps(details)}
    connection.execute(sa.insert(events), row)


def event_log(database: Database, study: str, after: int = 0, most: int = 100_000) -> tuple[Event, ...]:
    """Return a study's events with numbers above `after`, in order."""
    query = sa.select(events).where(events.c.study == study, events.c.number > after)
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


def _sqlite(url: sa.URL) -> sa.Engine:
    if url.database in {None, "", ":memory:"}:
        raise BadInput("A review database must be a file.", "Give a path such as reviews.sqlite.")
    Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(url, pool_size=10, max_overflow=30, connect_args={"timeout": _BUSY_MS / 1000})

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # the driver must not begin transactions of its own
        cursor = connection.cursor()
        for line in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", f"busy_timeout = {_BUSY_MS}"):
            cursor.execute(f"PRAGMA {line}")
        cursor.close()

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A transaction that reads first and writes later fails at once when another wrote between: take the lock first.
        writing = connection.get_execution_options().get(_WRITING, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _create(engine: sa.Engine) -> None:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with engine.connect().execution_options(**{_WRITING: True}) as connection, connection.begin():
                if engine.dialect.name == "postgresql":
                    # Two processes that start at once must not both make the tables.
                    connection.execute(sa.text("SELECT pg_advisory_xact_lock(7305391)"))
                metadata.create_all(connection)
        except SQLAlchemyError as error:
            if attempt == _ATTEMPTS or not _contended(error):
                engine.dispose()
                raise BadInput(
                    f"The review database {engine.url.render_as_string()} cannot be opened: {_first_line(error)}.",
                    "Give a file that can be written, or a server that answers.",
                ) from error
            time.sleep(0.05 * attempt)
        else:
            return


def _unstorable() -> BadInput:
    return BadInput("A name or text holds a character that cannot be kept.", "Remove null characters and half pairs.")


def _contended(error: SQLAlchemyError) -> bool:
    if isinstance(error, IntegrityError):
        return "append-only" not in str(error.orig)
    original = error.orig if isinstance(error, DBAPIError) else None
    state = getattr(original, "sqlstate", None)
    text = str(original)
    return state in {"40001", "40P01", "55P03"} or "database is locked" in text or "database table is locked" in text


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().split("\n", 1)[0][:300].rstrip(".")
