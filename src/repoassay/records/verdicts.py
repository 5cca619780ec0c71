"""Verdicts by what they rest on: the same patch on the same task in the same environment is graded once.

One SQLite file; safe to share between threads and processes. A verdict that time or chance may change is never kept.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repoassay.errors import BadInput
from repoassay.records.versions import NewerRecord, parse, to_json
from repoassay.types import Outcome, Verdict

__all__ = ["KEPT", "VerdictCache", "verdict_key"]

KEPT = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.NO_OUTPUT, Outcome.PATCH_FAILED, Outcome.TAMPERING})
"""Outcomes that may be kept: a time-out may be a busy machine's, and a fault of ours is never a verdict."""


def verdict_key(task_digest: str, patch: bytes, environment: str, grader: str) -> str:
    """What a verdict rests on, as one sha256: task, patch, environment (its digest), and the grader's version."""
    total = hashlib.sha256()
    for part in (task_digest.encode(), hashlib.sha256(patch).digest(), environment.encode(), grader.encode()):
        total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()


class VerdictCache:
    """Verdicts in one file.

    Raises:
        BadInput: When the file cannot be opened as such.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection()
        except (OSError, sqlite3.Error) as error:
            raise BadInput(
                f"The verdict cache {path} cannot be opened: {error}.", "Remove it or use --no-cache."
            ) from error

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self._path, timeout=30, isolation_level=None)
            found.execute("PRAGMA journal_mode=WAL")
            found.execute("PRAGMA synchronous=NORMAL")
            found.execute(
                "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, verdict TEXT NOT NULL) WITHOUT ROWID"
            )
            self._local.connection = found
        return found

    def get(self, key: str) -> Verdict | None:
        """The verdict kept under a key; None when there is none that can be read here.

        Raises:
            BadInput: When the file is damaged.
        """
        row = self._row("SELECT verdict FROM verdicts WHERE key = ?", key)
        if row is None:
            return None
        try:
            return parse(Verdict, row[0].encode())
        except (ValidationError, NewerRecord):  # of another version
            return None

    def put(self, key: str, verdict: Verdict) -> None:
        """Keep a verdict, unless its outcome may change by itself; the first one stays."""
        if verdict.outcome in KEPT:
            self._row("INSERT OR IGNORE INTO verdicts VALUES (?, ?)", key, to_json(verdict).decode())

    def __len__(self) -> int:
        row = self._row("SELECT count(*) FROM verdicts")
        return int(row[0]) if row is not None else 0

    def _row(self, statement: str, *values: str) -> tuple[Any, ...] | None:
        """Execute a statement; the first row of what it selects."""
        try:
            row: tuple[Any, ...] | None = self._connection().execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise BadInput(
                f"The verdict cache {self._path} cannot be used: {error}.", "Remove it or use --no-cache."
            ) from error
        return row
