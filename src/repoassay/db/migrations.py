"""Numbered migrations: files of SQL that bring tables from one version to the next, all in one transaction.

A folder holds `NNNN_name.sql`, or `NNNN_name.sqlite.sql` beside `NNNN_name.postgresql.sql` where the two differ.
Statements are separated by empty lines; lines that begin with `--` are comments. A file that was released never
changes: what tables should be instead is another file.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from repoassay.db.database import Database
from repoassay.errors import BadInput
from repoassay.text import printable

__all__ = ["Schema", "migrate"]

_NAME = re.compile(r"(\d{4})_\w+?(?:\.(sqlite|postgresql))?\.sql")
_TABLE = re.compile(r"CREATE TABLE (\w+)")
_RUNS = re.compile(r"\b(trigger|view|virtual)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables that have versions.

    Attributes:
        folder: Its migrations. The first makes the tables; of tables that stand without a version it makes those that
            are missing, and so adopts a database from before there were versions.
        versions: The table of one row that holds the version, made by one of the migrations.
        lock: Key of the advisory lock that lets one program migrate at a time.
    """

    folder: Path
    versions: str
    lock: int


def migrate(database: Database, schema: Schema) -> None:
    """Bring a database to the newest version, in one transaction; does nothing where it is that.

    Whoever is killed meanwhile leaves the old version. Programs that start at once wait for each other.

    Raises:
        BadInput: When the database is of a version that this program does not know, cannot be opened, or is a file with
            triggers or views of others.
        Unavailable: When the server cannot be had.
    """
    files = _migrations(schema.folder, database.kind)
    newest = max(files)

    def work(connection: sa.Connection) -> None:
        before = _version(connection, schema)
        if before is not None and not (isinstance(before, int) and min(files) <= before <= newest):
            raise _unknown(database, before, newest)
        for number in sorted(files):
            if before is None or number > before:
                _run(connection, files[number], adopt=number == min(files))
        if before != newest:
            _set_version(connection, schema, newest)

    with database.opening():
        with database.reading() as connection:  # so that what is up to date needs no lock
            _check_programs(database, connection, files)
            if _version(connection, schema) == newest:
                return
        database.write(work, schema.lock)


def _check_programs(database: Database, connection: sa.Connection, files: Mapping[int, str]) -> None:
    """Refuse a file with a trigger or view of others: SQLite runs them as its own, and one may change rows or not end.

    Their texts are compared, since a file can call each of them what it likes.
    """
    if database.kind == "sqlite":
        own = {"".join(each.split()) for text in files.values() for each in _missing(text, ())}
        for name, text in connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"):
            if (found := _RUNS.search(str(text))) and "".join(str(text).split()) + ";" not in own:
                raise BadInput(
                    f"{database.name} has a {found[1].lower()} that is not its own: {printable(str(name), 100)}.",
                    "Give another file, or drop it there if you trust who made this one.",
                )


def _migrations(folder: Path, kind: str) -> Mapping[int, str]:
    """The text of each migration for a kind of database, by its number."""
    return {
        int(fits[1]): path.read_text("utf-8")
        for path in folder.iterdir()
        if (fits := _NAME.fullmatch(path.name)) and fits[2] in {None, kind}
    }


def _run(connection: sa.Connection, text: str, *, adopt: bool) -> None:
    present = set(sa.inspect(connection).get_table_names()) if adopt else set()
    for statement in _missing(text, present):
        connection.exec_driver_sql(statement)


def _missing(text: str, present: Container[str]) -> Iterator[str]:
    """The statements of a migration, without those on tables that are present."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    table = ""
    for statement in filter(None, (part.strip() for part in re.split(r"\n\s*\n", lines))):
        if makes := _TABLE.match(statement):
            table = makes[1]
        if table not in present:
            yield statement


def _version(connection: sa.Connection, schema: Schema) -> object:
    if not sa.inspect(connection).has_table(schema.versions):
        return None
    return connection.execute(sa.select(_column(schema))).scalar()


def _set_version(connection: sa.Connection, schema: Schema, number: int) -> None:
    table = _column(schema).table
    if not connection.execute(sa.update(table).values(version=number)).rowcount:
        connection.execute(sa.insert(table).values(version=number))


def _column(schema: Schema) -> sa.Column[int]:
    return sa.Table(schema.versions, sa.MetaData(), sa.Column("version", sa.Integer)).c.version


def _unknown(database: Database, found: object, newest: int) -> BadInput:
    return BadInput(
        f"{database.name} was made by another version of RepoAssay: its tables are of version "
        f"{printable(str(found), 40)}, this program knows versions up to {newest}.",
        "Install the newest RepoAssay with `pip install --upgrade repoassay`, or choose another database.",
    )
