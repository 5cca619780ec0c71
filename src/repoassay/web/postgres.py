"""The queue in PostgreSQL, which several servers may share."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from repoassay.errors import BadInput, MissingExtra, Unavailable
from repoassay.text import printable
from repoassay.web.database import Execute, Row

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresDatabase"]

_ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""A server that is gone without a word is noticed within half a minute; seconds, but the last in milliseconds."""
_ORDER = 0x7265706F61737361
"""Key of the advisory lock that puts writers in order: "repoassa" in bytes."""


class PostgresDatabase:
    """A database by URL: one connection writes, one reads, each used by one thread at a time and reopened when lost.

    Raises:
        BadInput: When the URL is none.
        MissingExtra: Without psycopg.
        Unavailable: When the server does not answer or refuses us.
    """

    alone = False
    words: Mapping[str, str] = MappingProxyType(
        {
            "now": "extract(epoch FROM clock_timestamp())::float8",
            "number": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            "blob": "BYTEA",
            "real": "DOUBLE PRECISION",
        }
    )

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtra("psycopg", "postgres") from None
        self._psycopg = psycopg
        self._url = self._checked(url)
        self._writer = _Line()
        self._reader = _Line()
        self.place = "PostgreSQL"
        with self._told():
            info = self._open(self._writer).info
            self.place = printable(f"PostgreSQL at {info.host}:{info.port}, database {info.dbname}", 500)

    @contextlib.contextmanager
    def read(self) -> Iterator[Execute]:
        """Look things up on the reading connection."""
        with self._reader.lock, self._told():
            yield self._execute(self._open(self._reader))

    @contextlib.contextmanager
    def write(self, *, ordered: bool = False) -> Iterator[Execute]:
        """Open a transaction; an ordered one waits for the ordered ones of other servers to be visible."""
        with self._writer.lock, self._told():
            connection = self._open(self._writer)
            with connection.transaction():
                if ordered:
                    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_ORDER,))
                yield self._execute(connection)

    def close(self) -> None:
        """Close the connections."""
        for line in (self._writer, self._reader):
            with line.lock:
                if line.connection is not None:
                    line.connection.close()
                    line.connection = None

    def _checked(self, url: str) -> str:
        """The URL with settings of ours; errors do not show it, for a password may be anywhere in what is wrong."""
        from psycopg.conninfo import conninfo_to_dict, make_conninfo

        try:
            parts = {name: str(value or "") for name, value in conninfo_to_dict(url).items()}
            whole = make_conninfo(url, **_ALIVE)
        except self._psycopg.Error:
            parts = {"port": "none"}
        odd = not re.fullmatch("[0-9,]*", parts.get("port", ""))
        if odd or "@" in parts.get("host", "") + parts.get("dbname", ""):
            raise BadInput(
                "The database URL is not one that PostgreSQL understands.",
                "Write postgresql://USER@HOST:PORT/NAME; a password in it must be percent-encoded.",
            )
        return whole

    def _open(self, line: _Line) -> psycopg.Connection[Any]:
        if line.connection is None or line.connection.closed:
            line.connection = self._psycopg.connect(self._url, autocommit=True, connect_timeout=10)
        return line.connection

    def _execute(self, connection: psycopg.Connection[Any]) -> Execute:
        def execute(statement: str, parameters: Sequence[object] = ()) -> list[Row]:
            # Statements are ours: they hold no % and no ? but for parameters.
            done = connection.execute(statement.format_map(self.words).replace("?", "%s").encode(), parameters)
            return done.fetchall() if done.description else []

        return execute

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            said = printable(str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__, 300)
            raise Unavailable(f"The queue in {self.place} cannot be used: {said}.", "Look at the server.") from error


class _Line:
    """A connection that may be lost, and who may use it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.connection: psycopg.Connection[Any] | None = None
