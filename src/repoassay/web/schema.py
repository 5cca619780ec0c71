"""The queue's tables: made when they are absent, brought up to date when an older version of ours made them."""

from __future__ import annotations

from repoassay.errors import BadInput
from repoassay.web.database import Database

__all__ = ["make_ready"]

_VERSION = 2
_TABLES = (
    "CREATE TABLE IF NOT EXISTS repoassay_schema (version INTEGER NOT NULL)",
    """CREATE TABLE IF NOT EXISTS repoassay_submissions (
            number {number}, ulid TEXT NOT NULL UNIQUE, holder TEXT NOT NULL, client_key TEXT,
            task TEXT NOT NULL, model TEXT NOT NULL, patch {blob} NOT NULL, digest TEXT NOT NULL,
            created {real} NOT NULL, status TEXT NOT NULL DEFAULT 'queued', owner TEXT,
            lease {real} NOT NULL DEFAULT 0, ready {real} NOT NULL DEFAULT 0,
            claims INTEGER NOT NULL DEFAULT 0, faults INTEGER NOT NULL DEFAULT 0, UNIQUE (holder, client_key))""",
    """CREATE TABLE IF NOT EXISTS repoassay_verdicts (
            number {number}, ulid TEXT NOT NULL UNIQUE REFERENCES repoassay_submissions (ulid),
            holder TEXT NOT NULL, word TEXT NOT NULL, whose TEXT NOT NULL, feedback TEXT NOT NULL,
            verdict TEXT NOT NULL, finished {real} NOT NULL)""",
    # Everybody who ever handed something in, and when their last turn was: the higher, the later.
    """CREATE TABLE IF NOT EXISTS repoassay_turns (
            holder TEXT PRIMARY KEY, turn BIGINT NOT NULL DEFAULT 0)""",
    """CREATE INDEX IF NOT EXISTS repoassay_lines ON repoassay_submissions (holder, number)
            WHERE status = 'queued'""",
    """CREATE INDEX IF NOT EXISTS repoassay_under_way ON repoassay_submissions (holder)
            WHERE status = 'running'""",
    """CREATE INDEX IF NOT EXISTS repoassay_undone ON repoassay_submissions (status)
            WHERE status <> 'done'""",
    "CREATE INDEX IF NOT EXISTS repoassay_held ON repoassay_submissions (holder, number)",
    "CREATE INDEX IF NOT EXISTS repoassay_told ON repoassay_verdicts (holder, number)",
)


def make_ready(database: Database) -> None:
    """Make what is absent.

    Raises:
        BadInput: When the database was made by a version we do not know.
        Unavailable: When it cannot be had.
    """
    with database.write(ordered=True) as run:
        run(_TABLES[0])
        found = run("SELECT version FROM repoassay_schema")
        if found and not 1 <= found[0][0] <= _VERSION:
            raise BadInput(
                f"The queue in {database.place} was made by another version of RepoAssay.",
                "Choose another database with --database.",
            )
        for statement in _TABLES[1:]:
            run(statement)
        if not found:
            run("INSERT INTO repoassay_schema VALUES (?)", (_VERSION,))
        elif found[0][0] < _VERSION:  # the first version had no turns, and one line for everybody
            run("DROP INDEX IF EXISTS repoassay_waiting")
            run("INSERT INTO repoassay_turns (holder) SELECT DISTINCT holder FROM repoassay_submissions")
            run("UPDATE repoassay_schema SET version = ?", (_VERSION,))
