"""Verdicts by what they rest on: the same patch on the same task in the same environment is graded once.

One SQLite file; safe to share between threads and processes. A verdict that time or chance may change is never kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.records.versions import NewerRecord, parse, to_json
from repoassay.types import Outcome, Verdict

__all__ = ["KEPT", "SqliteFile", "VerdictCache", "verdict_key"]

KEPT = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.NO_OUTPUT, Outcome.PATCH_FAILED, Outcome.TAMPERING})
"""Outcomes that may be kept: a time-out may be a busy machine's, and a fault of ours is never a verdict."""


def verdict_key(task_digest: str, patch: bytes, environment: str, grader: str) -> str:
    """What a verdict rests on, as one sha256: task, patch, environment (its digest), and the grader's version."""
    total = hashlib.sha256()
    for part in (task_digest.encode(), hashlib.sha256(patch).digest(), environment.encode(), grader.encode()):
        total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()


class SqliteFile:
    """One SQLite file; safe to share between threads and processes of a machine.

    Args:
        path: Of the file, made with its folder.
        tables: Statements that make its tables where they are not there.
        noun: What it is called in sentences.
        remedy: What a user can do when it cannot be used.

    Raises:
        BadInput: When the file cannot be opened as such.
    """

    def __init__(self, path: Path, tables: Sequence[str], noun: str, remedy: str) -> None:
        self._path, self._tables, self._noun, self._remedy = path, tables, noun, remedy
        self._local = threading.local()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection()
        except (OSError, sqlite3.Error) as error:
            raise BadInput(f"The {noun} {path} cannot be opened: {error}.", remedy) from error

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self._path, timeout=30, isolation_level=None)
            found.execute("PRAGMA journal_mode=WAL")
            found.execute("PRAGMA synchronous=NORMAL")
            for table in self._tables:
                found.execute(table)
            self._local.connection = found
        return found

    def row(self, statement: str, *values: str | float | None) -> tuple[Any, ...] | None:
        """Execute a statement; the first row of what it selects.

        Raises:
            BadInput: When the file is damaged.
        """
        with self._sqlite_errors():
            row: tuple[Any, ...] | None = self._connection().execute(statement, values).fetchone()
        return row

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep every other writer out for the block, whose statements count all or not at all."""
        with self._sqlite_errors():
            self._connection().execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection().execute("ROLLBACK")
            raise
        with self._sqlite_errors():
            self._connection().execute("COMMIT")

    @contextlib.contextmanager
    def _sqlite_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise BadInput(f"The {self._noun} {self._path} cannot be used: {error}.", self._remedy) from error


class VerdictCache:
    """Verdicts in one file.

    Raises:
        BadInput: When the file cannot be opened as such.
    """

    def __init__(self, path: Path) -> None:
        table = "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, verdict TEXT NOT NULL) WITHOUT ROWID"
        self._file = SqliteFile(path, (table,), "verdict cache", "Remove it or use --no-cache.")

    def get(self, key: str) -> Verdict | None:
        """The verdict kept under a key; None when there is none that can be read here.

        Raises:
            BadInput: When the file is damaged.
        """
        row = self._file.row("SELECT verdict FROM verdicts WHERE key = ?", key)
        if row is None:
            return None
        try:
            return parse(Verdict, row[0].encode())
        except (ValidationError, NewerRecord):  # of another version
            return None

    def put(self, key: str, verdict: Verdict) -> None:
        """Keep a verdict, unless its outcome may change by itself; the first one stays."""
        if verdict.outcome in KEPT:
            self._file.row("INSERT OR IGNORE INTO verdicts VALUES (?, ?)", key, to_json(verdict).decode())

    def __len__(self) -> int:
        row = self._file.row("SELECT count(*) FROM verdicts")
        return int(row[0]) if row is not None else 0
