"""The queue in one SQLite file, held by one server at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from repoassay.errors import BadInput, Unavailable
from repoassay.text import printable
from repoassay.web.database import Execute, Row

__all__ = ["SqliteDatabase"]


class SqliteDatabase:
    """A file in WAL mode: one connection writes, one reads, each used by one thread at a time.

    A lock beside the file is held for life and let go by the kernel, so whoever opens the file next knows that the
    server before is dead.

    Raises:
        BadInput: When the file cannot be opened, or another server holds it.
    """

    alone = True
    words: Mapping[str, str] = MappingProxyType(
        {
            "now": "((julianday('now') - 2440587.5) * 86400.0)",
            "number": "INTEGER PRIMARY KEY AUTOINCREMENT",
            "blob": "BLOB",
            "real": "REAL",
        }
    )

    def __init__(self, path: Path) -> None:
        self.place = printable(str(path.absolute()), 500)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._held = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))  # patches are nobody else's to read
        except (OSError, ValueError) as error:
            raise BadInput(f"The queue {self.place} cannot be opened: {error}.", "Choose another file.") from error
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._held)
            raise BadInput(
                f"Another server is using the queue {self.place}.",
                "Stop it, choose another file with --database, or share a queue in PostgreSQL.",
            ) from None
        try:
            self._writer, self._reader = self._connect(path), self._connect(path)
        except sqlite3.Error as error:
            os.close(self._held)
            raise BadInput(f"The queue {self.place} cannot be opened: {error}.", "Choose another file.") from error
        self._writing, self._reading = threading.Lock(), threading.Lock()

    @staticmethod
    def _connect(path: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")  # what was answered 202 must survive a power cut too
        return connection

    @contextlib.contextmanager
    def read(self) -> Iterator[Execute]:
        """Look things up on the reading connection."""
        with self._reading, self._told():
            yield self._execute(self._reader)

    @contextlib.contextmanager
    def write(self, *, ordered: bool = False) -> Iterator[Execute]:
        """Open a transaction; there is one at a time, so every one is ordered."""
        with self._writing, self._told():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._execute(self._writer)
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the connections and let go of the lock."""
        with self._writing, self._reading:
            self._writer.close()
            self._reader.close()
            os.close(self._held)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise Unavailable(f"The queue {self.place} cannot be used: {error}.", "Look at its disk.") from error

    def _execute(self, connection: sqlite3.Connection) -> Execute:
        def execute(statement: str, parameters: Sequence[object] = ()) -> list[Row]:
            return connection.execute(statement.format_map(self.words), parameters).fetchall()

        return execute
