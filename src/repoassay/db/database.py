"""An open database: snapshots to read, transactions that survive contention, errors of one sentence."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from repoassay.errors import BadInput, Unavailable
from repoassay.text import printable

__all__ = ["WRITING", "Database", "epoch_now"]

WRITING = "repoassay_writing"
"""Execution option of connections that will write: SQLite takes its lock for them at once."""
_ATTEMPTS = 8
_LOCK = sa.select(sa.func.pg_advisory_xact_lock(sa.bindparam("key", type_=sa.BigInteger())))
_PAGES = ("freelist_count", "page_count")
_DAMAGED = ("malformed", "not a database", "can't decode")
Result = TypeVar("Result")


class Database:
    """An open database, safe to share among threads; processes share the file or the server.

    Args:
        engine: Where connections come from.
        what: What it is called in sentences, such as `review database`.
        place: Where it lies, fit to print: no passwords.
        serial: Whether one thread writes and one reads at a time.
        holder: Descriptor of the locked file that keeps other programs out, closed at the end; None without one.
    """

    def __init__(
        self, engine: sa.Engine, what: str, place: str, *, serial: bool = False, holder: int | None = None
    ) -> None:
        self._engine = engine
        self._what = what
        self._holder = holder
        self.place = place
        # SQLite's own waiting is a lottery in which an unlucky thread starves; threads of one process queue instead.
        self._writers = threading.Lock() if serial or engine.dialect.name == "sqlite" else None
        self._readers = threading.Lock() if serial else None
        self.cache: dict[tuple[str, str], Any] = {}
        """Values parsed from rows that never change, by (kind, name)."""

    @property
    def kind(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._engine.dialect.name

    @property
    def name(self) -> str:
        """How sentences begin: `The review database in PLACE`."""
        return f"The {self._what} in {self.place}"

    @property
    def sole_owner(self) -> bool:
        """Whether no other program can be using it, so that whoever was at work before is dead."""
        return self._holder is not None

    @contextmanager
    def reading(self, *, snapshot: bool = True) -> Iterator[sa.Connection]:
        """Give a connection to read through.

        Args:
            snapshot: Whether several statements must see one consistent state; a single one does so anyway.

        Raises:
            BadInput: When a text was to be compared that the database cannot hold.
            Unavailable: When the database cannot be read.
        """
        # SQLite's transactions are snapshots anyway.
        levels = {"isolation_level": "REPEATABLE READ" if snapshot else "AUTOCOMMIT"}
        options = levels if self.kind == "postgresql" else {}
        with (
            self._readers or nullcontext(),
            self._sentences(),
            self._engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def writing(self, lock: int | None = None) -> Iterator[sa.Connection]:
        """Give a connection whose changes are on disk when the block ends, or undone when it raises.

        Args:
            lock: Key of an advisory lock held until the end: transactions with the same key follow each other, on
                every server. SQLite lets one transaction write at a time anyway.

        Raises:
            BadInput: When a text holds what the database cannot keep.
            Unavailable: When the database cannot be written; nothing is tried twice.
        """
        with self._sentences(), self._transaction(lock) as connection:
            yield connection

    def write(self, work: Callable[[sa.Connection], Result], lock: int | None = None) -> Result:
        """Run `work` in one transaction: all of it happens, or none.

        Work that met contention (a busy database, a deadlock, a unique row that another just wrote) is rolled back and
        run again, so it must have no effect but through its connection.

        Args:
            work: What is to be done.
            lock: As for `writing`.

        Raises:
            BadInput: When a text holds what the database cannot keep.
            Unavailable: When the database cannot be written, or stays contended.
        """
        with self._sentences():
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    with self._transaction(lock) as connection:
                        return work(connection)
                except SQLAlchemyError as error:
                    # A unique row that another wrote is seen at the second try; one that clashes then is our mistake.
                    last = 3 if isinstance(error, IntegrityError) else _ATTEMPTS
                    if attempt >= last or not _contended(error):
                        raise
                time.sleep(random.uniform(0, 0.01 * 2**attempt))  # noqa: S311 - spreads retries, no secret
        raise AssertionError("unreachable")

    def compact(self) -> None:
        """Give an SQLite file's space back once more than half of it is free; PostgreSQL does so by itself.

        Everybody waits meanwhile: about a second for each 100 MB that remain.

        Raises:
            Unavailable: When there is no room for the copy that is made.
        """
        if self.kind != "sqlite":
            return
        with self._writers or nullcontext(), self._readers or nullcontext(), self._sentences():
            raw = self._engine.raw_connection()  # no transaction, in which it cannot be done
            try:
                free, whole = (raw.cursor().execute(f"PRAGMA {name}").fetchone()[0] for name in _PAGES)
                if 2 * free > whole:
                    raw.cursor().execute("VACUUM")
            finally:
                raw.close()

    def close(self) -> None:
        """Close every connection once it is not in use, and let other programs in."""
        with self._writers or nullcontext(), self._readers or nullcontext():
            self._engine.dispose()
            if self._holder is not None:
                os.close(self._holder)
                self._holder = None

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Say of an SQLite file that it cannot be opened, and close what cannot be used.

        Raises:
            BadInput: Instead of `Unavailable`, when the file cannot be opened.
        """
        try:
            yield
        except Unavailable as error:
            self.close()
            if self.kind == "sqlite":
                line = _first_line(error.__cause__ or error)
                raise BadInput(f"{self.name} cannot be opened: {line}.", _remedy(line)) from error
            raise
        except BadInput:
            self.close()
            raise

    @contextmanager
    def _transaction(self, lock: int | None) -> Iterator[sa.Connection]:
        options = {WRITING: True}
        with (
            self._writers or nullcontext(),
            self._engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            if lock is not None and self.kind == "postgresql":
                connection.execute(_LOCK, {"key": lock})
            yield connection

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except (UnicodeEncodeError, DataError) as error:
            raise BadInput(
                "A name or text holds a character that cannot be kept.", "Remove null characters and half pairs."
            ) from error
        except (SQLAlchemyError, UnicodeDecodeError) as error:  # bytes in a text that are none
            remedy = "Look at its disk." if self.kind == "sqlite" else "Look at the server."
            raise Unavailable(f"{self.name} cannot be used: {_first_line(error)}.", remedy) from error


def _contended(error: SQLAlchemyError) -> bool:
    if isinstance(error, IntegrityError):
        return "append-only" not in str(error.orig)
    original = error.orig if isinstance(error, DBAPIError) else None
    state = getattr(original, "sqlstate", None)
    text = str(original)
    return state in {"40001", "40P01", "55P03"} or "database is locked" in text or "database table is locked" in text


def _first_line(error: BaseException) -> str:
    line = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
    return printable(line, 300).rstrip(".") or type(error).__name__


def _remedy(line: str) -> str:
    if any(word in line for word in _DAMAGED):
        return "It is damaged, or no such database: restore a copy, or give another file."
    return "Give a file that can be written."


class epoch_now(FunctionElement[float]):  # noqa: N801 - reads as an SQL function in statements
    """The time in seconds since 1970 when the statement runs, as an SQL expression."""

    type = sa.Double()
    inherit_cache = True


@compiles(epoch_now, "sqlite")
def _sqlite(*_: Any, **__: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(epoch_now, "postgresql")
def _postgresql(*_: Any, **__: Any) -> str:
    return "extract(epoch FROM clock_timestamp())::float8"
