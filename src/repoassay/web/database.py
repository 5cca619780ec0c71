"""Where the queue lies: SQLite by default, PostgreSQL by URL. SQL is written once, with `?` for every parameter and
words in braces for the little in which the two differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from repoassay.errors import BadInput

__all__ = ["Database", "Execute", "open_database"]

Row = tuple[Any, ...]


class Execute(Protocol):
    """Runs one statement in the open transaction."""

    def __call__(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Return every row the statement yields."""
        ...


class Database(Protocol):
    """What the queue needs of a database, and the few words in which the two differ.

    Attributes:
        place: Where it lies, fit to print: no passwords.
        alone: Whether nobody else can be using it, so that whoever was at work before is dead.
        words: What stands for `{now}`, the time in seconds since 1970; `{number}`, a column that counts up by itself;
            and `{blob}` and `{real}`, columns of bytes and of 8-byte floating point numbers.
    """

    place: str
    alone: bool
    words: Mapping[str, str]

    def read(self) -> AbstractContextManager[Execute]:
        """Look things up. Raises `Unavailable` when the database cannot be had."""
        ...

    def write(self, *, ordered: bool = False) -> AbstractContextManager[Execute]:
        """Open a transaction that is on disk when the block ends, or undone when it raises.

        Args:
            ordered: Let nobody else write so meanwhile: numbers are then visible in the order they were given.

        Raises:
            Unavailable: When the database cannot be had.
        """
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def open_database(given: str | None, folder: Path, name: str) -> Database:
    """Open the queue's database.

    Args:
        given: `postgresql://...`, `sqlite:///FILE` or a file's path; None for `folder/NAME.sqlite`.
        folder: Where the default lies.
        name: What is served, for the default's name.

    Raises:
        BadInput: When it cannot be opened, or another server holds the file.
        MissingExtra: For PostgreSQL without psycopg.
        Unavailable: When the PostgreSQL server does not answer.
    """
    from repoassay.web.sqlite import SqliteDatabase

    if given is None:
        return SqliteDatabase(folder / f"{name}.sqlite")
    if given.startswith(("postgresql://", "postgres://")):
        from repoassay.web.postgres import PostgresDatabase

        return PostgresDatabase(given)
    if "://" in given and not given.startswith("sqlite:///"):
        raise BadInput(
            f"The database {given.partition('://')[0]}://... is of no kind we know.",
            "Give postgresql://USER@HOST/NAME, sqlite:///FILE or a file's path.",
        )
    return SqliteDatabase(Path(given.removeprefix("sqlite:///")))
