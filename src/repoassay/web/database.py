"""Where the queue lies: SQLite by default, PostgreSQL by URL."""

from __future__ import annotations

from pathlib import Path

from repoassay.db import Database, connect_database

__all__ = ["open_queue_database"]


def open_queue_database(given: str | None, folder: Path, name: str) -> Database:
    """Open the queue's database.

    What was answered 202 must survive a power cut: a transaction is on disk before it ends. An SQLite file is held by
    one server for life, so whoever opens it next knows that the server before is dead.

    Args:
        given: `postgresql://...`, `sqlite:///FILE` or a file's path; None for `folder/NAME.sqlite`.
        folder: Where the default lies.
        name: What is served, for the default's name.

    Raises:
        BadInput: When it cannot be opened, or another server holds the file.
        MissingExtra: For PostgreSQL without psycopg.
        Unavailable: When the PostgreSQL server does not answer.
    """
    return connect_database(folder / f"{name}.sqlite" if given is None else given, "queue", exclusive=True)
