"""Numbered migrations: in order, once, all or nothing, whoever is killed or starts at the same time."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from repoassay.db import Database, Schema, connect_database, migrate
from repoassay.errors import BadInput, Unavailable

FIRST = """-- The first.
CREATE TABLE notes_schema (version INTEGER NOT NULL);

CREATE TABLE notes (text TEXT NOT NULL);

CREATE INDEX notes_by_text ON notes (text);
"""
SECOND = """ALTER TABLE notes ADD COLUMN colour TEXT;

UPDATE notes SET colour = 'red';
"""
SLOW = {
    "sqlite": "INSERT INTO notes WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000000)"
              " SELECT n, 'blue' FROM c;",
    "postgresql": "SELECT pg_sleep(3);",
}  # fmt: skip
PROGRAM = """
import sys
from pathlib import Path
import sqlalchemy as sa
from repoassay.db import Schema, connect_database, migrate
sa.event.listen(sa.Engine, "before_cursor_execute", lambda *given: print(given[2].split()[0], flush=True))
database = connect_database(sys.argv[1], "notes")
migrate(database, Schema(Path(sys.argv[2]), "notes_schema", 7))
"""


@pytest.fixture
def database(place: str) -> Iterator[Database]:
    """An empty database of each kind."""
    found = connect_database(place, "notes")
    yield found
    found.close()


@pytest.fixture
def schema(tmp_path: Path) -> Schema:
    """One migration in a folder."""
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_notes.sql").write_text(FIRST)
    (folder / "README.md").write_text("No migration.")
    return Schema(folder, "notes_schema", 7)


def with_row(database: Database, schema: Schema) -> None:
    migrate(database, schema)
    with database.writing() as connection:
        connection.exec_driver_sql("INSERT INTO notes VALUES ('mine')")


def state(database: Database) -> tuple[int, list[tuple[object, ...]]]:
    with database.reading() as connection:
        version = connection.exec_driver_sql("SELECT version FROM notes_schema").scalar_one()
        return version, [tuple(row) for row in connection.exec_driver_sql("SELECT * FROM notes")]


def test_each_migration_is_run_once_and_in_order(database: Database, schema: Schema) -> None:
    with_row(database, schema)
    assert state(database) == (1, [("mine",)])
    migrate(database, schema)
    (schema.folder / "0002_colour.sql").write_text(SECOND)
    (schema.folder / "0003_blue.sql").write_text("UPDATE notes SET colour = 'blue' WHERE colour = 'red';\n")
    migrate(database, schema)
    assert state(database) == (3, [("mine", "blue")])
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE notes SET colour = 'red'")
    migrate(database, schema)
    assert state(database) == (3, [("mine", "red")])


def test_a_migration_may_differ_by_kind(database: Database, schema: Schema) -> None:
    for kind in ("sqlite", "postgresql"):
        (schema.folder / f"0002_kind.{kind}.sql").write_text(f"INSERT INTO notes VALUES ('{kind}');\n")
    migrate(database, schema)
    assert state(database) == (2, [(database.kind,)])


def test_tables_without_a_version_are_adopted_with_their_rows(database: Database, schema: Schema) -> None:
    with database.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE notes (text TEXT NOT NULL)")
        connection.exec_driver_sql("INSERT INTO notes VALUES ('mine')")
    migrate(database, schema)
    assert state(database) == (1, [("mine",)])


def test_a_migration_that_fails_changes_nothing(database: Database, schema: Schema, place: str) -> None:
    with_row(database, schema)
    (schema.folder / "0002_colour.sql").write_text(SECOND)
    (schema.folder / "0003_wrong.sql").write_text("UPDATE nothing_here SET x = 1;\n")
    with pytest.raises((BadInput, Unavailable), match="nothing_here"):
        migrate(database, schema)
    again = connect_database(place, "notes")
    assert state(again) == (1, [("mine",)])
    again.close()


@pytest.mark.parametrize("version", [2, 0])
def test_a_version_that_is_not_known_names_both_and_the_remedy(
    database: Database, schema: Schema, version: int
) -> None:  # fmt: skip
    migrate(database, schema)
    with database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE notes_schema SET version = {version}")
    with pytest.raises(BadInput) as caught:
        migrate(database, schema)
    said = f"its tables are of version {version}, this program knows versions up to 1. Install the newest RepoAssay"
    assert str(caught.value).startswith(f"{database.name} was made by another version of RepoAssay: {said}")


ENDLESS = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT sum(n) AS version FROM c"


@pytest.mark.parametrize(
    "brought",
    [
        [f"CREATE VIEW notes_schema AS {ENDLESS}"],
        [*FIRST.split("\n\n"), "INSERT INTO notes_schema VALUES (1)",
         "CREATE TRIGGER forged AFTER INSERT ON notes BEGIN UPDATE notes SET text = 'PASS'; END"],
        ["CREATE VIRTUAL TABLE notes_schema USING rtree (version, low, high)"],
    ],
)  # fmt: skip
def test_a_file_that_brings_programs_of_its_own_is_refused_before_one_is_run(
    brought: list[str], schema: Schema, tmp_path: Path
) -> None:
    """A view in the place of a table may have no end, and a trigger may change what is written."""
    place = tmp_path / "brought.sqlite"
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        for statement in brought:
            connection.execute(statement)
    database = connect_database(place, "notes")
    with pytest.raises(BadInput, match=r"has a (view|trigger|virtual) that is not its own: "):
        migrate(database, schema)


@pytest.mark.exhaustive
def test_programs_that_start_at_once_migrate_once(database: Database, schema: Schema, place: str) -> None:
    with_row(database, schema)
    (schema.folder / "0002_colour.sql").write_text(SECOND)
    (schema.folder / "0003_more.sql").write_text("INSERT INTO notes VALUES ('more', 'green');\n")
    line = [sys.executable, "-c", PROGRAM, place, str(schema.folder)]
    programs = [subprocess.Popen(line, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [program.wait(120) for program in programs] == [0] * 3
    assert state(database) == (3, [("mine", "red"), ("more", "green")])


@pytest.mark.exhaustive
def test_a_killed_migration_leaves_the_old_version(database: Database, schema: Schema, place: str) -> None:
    with_row(database, schema)
    slow = schema.folder / "0002_colour.sql"
    slow.write_text(f"{SECOND}\n{SLOW[database.kind]}\n")
    line = [sys.executable, "-c", PROGRAM, place, str(schema.folder)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        begun = [program.stdout.readline().strip()]
        while begun[-2:] not in (["UPDATE", "INSERT"], ["UPDATE", "SELECT"]):
            assert begun[-1], f"ended early after {begun}"
            begun.append(program.stdout.readline().strip())
        time.sleep(0.2)  # into the slow statement
        program.kill()
    assert program.returncode == -9 and "ALTER" in begun
    assert state(database) == (1, [("mine",)])
    slow.write_text(SECOND)
    migrate(database, schema)
    assert state(database) == (2, [("mine", "red")])
