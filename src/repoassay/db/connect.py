"""Databases by path or URL: which kind, how connections are made, who else is kept out."""

from __future__ import annotations

import fcntl
import os
import re
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from repoassay.db.database import WRITING, Database
from repoassay.errors import BadInput, MissingExtra
from repoassay.text import printable

__all__ = ["connect_database"]

_BUSY_MS = 10_000
_PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", f"busy_timeout = {_BUSY_MS}")
_ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""A server that is gone without a word is noticed within half a minute; seconds, but the last in milliseconds."""
_POSTGRESQL = re.compile(r"postgres(ql)?(\+psycopg)?://")
_HOW = "Give postgresql://USER@HOST/NAME, sqlite:///FILE or a file's path."


def connect_database(location: str | Path, what: str, *, exclusive: bool = False) -> Database:
    """Open a database, without a look at its tables.

    Args:
        location: Path of an SQLite file (made with its folder), or a URL: `sqlite:///FILE`, `postgresql://...`.
        what: What it is called in sentences, such as `review database`.
        exclusive: Keep other programs out of an SQLite file, which only its owner can read then. Of both kinds, one
            connection writes and one reads, and whoever finds one lost is told instead of another being tried.

    Raises:
        BadInput: When the URL or the file cannot be used, or another program keeps us out of it.
        MissingExtra: Without the driver.
        Unavailable: When the server does not answer or refuses us.
    """
    text = str(location)
    if _POSTGRESQL.match(text):
        return _postgresql(_POSTGRESQL.sub("postgresql://", text), what, exclusive)
    kind = text.partition("://")[0]
    if "://" in text and kind != "sqlite":
        raise BadInput(f"The {what} cannot be of the kind {printable(kind)!r}.", _HOW)
    try:
        url = sa.make_url(text) if "://" in text else sa.URL.create("sqlite", database=text)
    except SQLAlchemyError as error:
        raise BadInput(f"The URL of the {what} cannot be read.", _HOW) from error
    if url.database in {None, "", ":memory:"} or "\0" in str(url.database):
        raise BadInput(f"The {what} must be a file.", _HOW)
    return _sqlite(url.set(database=str(Path(str(url.database)).expanduser().absolute())), what, exclusive)


def _sqlite(url: sa.URL, what: str, exclusive: bool) -> Database:
    path = Path(str(url.database))
    place = printable(str(path), 500)
    holder = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if exclusive:
            holder = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except (OSError, ValueError) as error:
        if holder is not None:
            os.close(holder)
        raise BadInput(f"The {what} in {place} cannot be opened: {error}.", "Choose another file.") from error
    if holder is not None:
        _lock(holder, what, place)
    engine = sa.create_engine(url, connect_args={"timeout": _BUSY_MS / 1000}, **_pool(exclusive))
    sa.event.listen(engine, "connect", _prepare)
    sa.event.listen(engine, "begin", _begin)
    database = Database(engine, what, place, serial=exclusive, holder=holder)
    with database.opening(), database.reading() as connection:
        connection.exec_driver_sql("PRAGMA schema_version")  # reads the file's head
    return database


def _lock(holder: int, what: str, place: str) -> None:
    """Take the lock beside the file; the kernel lets go of it whenever this program ends."""
    try:
        fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(holder)
        raise BadInput(
            f"Another server is using the {what} {place}.",
            f"Stop it, choose another file with --database, or share a {what} in PostgreSQL.",
        ) from None


def _prepare(connection: Any, _: object) -> None:
    connection.isolation_level = None  # the driver must not begin transactions of its own
    cursor = connection.cursor()
    for line in _PRAGMAS:
        cursor.execute(f"PRAGMA {line}")
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    # A transaction that reads first and writes later fails at once when another wrote between: take the lock first.
    writing = connection.get_execution_options().get(WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _postgresql(url: str, what: str, exclusive: bool) -> Database:
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtra("psycopg", "postgres") from error
    whole = _checked(url, what)
    engine = sa.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(whole), pool_pre_ping=not exclusive, **_pool(exclusive)
    )
    database = Database(engine, what, "PostgreSQL", serial=exclusive)
    with database.opening(), database.reading() as connection:
        info = connection.connection.dbapi_connection.info  # type: ignore[union-attr]  # a psycopg connection
        database.place = printable(f"PostgreSQL at {info.host}:{info.port}, database {info.dbname}", 500)
    return database


def _checked(url: str, what: str) -> str:
    """The URL with settings of ours; errors do not show it, for a password may be anywhere in what is wrong."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        parts = {name: str(value or "") for name, value in conninfo_to_dict(url).items()}
        whole = make_conninfo(url, connect_timeout=10, **_ALIVE)
    except psycopg.Error:
        parts, whole = {"port": "none"}, ""
    wrong = not re.fullmatch("[0-9,]*", parts.get("port", ""))
    if wrong or "@" in parts.get("host", "") + parts.get("dbname", ""):
        raise BadInput(
            f"The URL of the {what} is not one that PostgreSQL understands.",
            "Write postgresql://USER@HOST:PORT/NAME; a password in it must be percent-encoded.",
        )
    return whole


def _pool(exclusive: bool) -> dict[str, Any]:
    return {"pool_size": 2, "max_overflow": 0} if exclusive else {"pool_size": 10, "max_overflow": 30}
