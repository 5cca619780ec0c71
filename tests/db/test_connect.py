"""Which database a path or URL means, and what is said of those that cannot be had."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from repoassay.db import Database, connect_database
from repoassay.errors import BadInput, Unavailable


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("mysql://user:secret@x/y", "The notes cannot be of the kind 'mysql'. Give postgresql://"),
        ("http://", "The notes cannot be of the kind 'http'."),
        ("sqlite://", "The notes must be a file."),
        ("sqlite:///:memory:", "The notes must be a file."),
        ("a\0b", "The notes must be a file."),
        ("postgresql://x:se@cret@host/db", "The URL of the notes is not one that PostgreSQL understands. Write"),
        ("postgresql://x:secret@host:port/db", "The URL of the notes is not one that PostgreSQL understands. Write"),
        ("/dev/null/notes", "The notes in /dev/null/notes cannot be opened: "),
    ],
)
@pytest.mark.parametrize("exclusive", [False, True])
def test_what_cannot_be_opened_is_a_sentence_without_passwords(given: str, said: str, exclusive: bool) -> None:
    with pytest.raises(BadInput) as caught:
        connect_database(given, "notes", exclusive=exclusive)
    assert str(caught.value).startswith(said)
    assert "cret" not in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_server_that_does_not_answer_is_a_sentence(scheme: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(Unavailable, match=r"The notes in PostgreSQL cannot be used: .*Look at the server") as caught:
        connect_database(f"{scheme}://nobody:secret@127.0.0.1:1/none", "notes")
    assert "secret" not in str(caught.value)


def test_where_it_lies_is_said_without_the_password(postgres: str) -> None:
    database = connect_database(f"{postgres}&password=secret", "notes")
    assert database.kind == "postgresql" and not database.sole_owner
    assert database.place.startswith("PostgreSQL at /tmp/pg-") and "secret" not in database.place
    database.close()


@pytest.mark.parametrize(("scheme", "folder"), [("", "a folder? 100%"), ("sqlite:///", "new")])
def test_a_file_is_made_with_its_folder(scheme: str, folder: str, tmp_path: Path) -> None:
    database = connect_database(f"{scheme}{tmp_path}/{folder}/notes.sqlite", "notes")
    with database.reading() as connection:
        pragmas = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                   for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")}  # fmt: skip
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}
    assert Path(database.place) == tmp_path / folder / "notes.sqlite" and Path(database.place).is_file()
    assert database.name == f"The notes in {database.place}"
    database.close()


def test_an_exclusive_file_keeps_others_out_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    first = connect_database(path, "notes", exclusive=True)
    assert first.sole_owner and stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(BadInput, match="Another server is using the notes"):
        connect_database(path, "notes", exclusive=True)
    first.close()
    first.close()
    connect_database(path, "notes", exclusive=True).close()


def test_a_killed_owner_lets_go(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from repoassay.db import connect_database
kept = connect_database(sys.argv[1], "notes", exclusive=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "notes.sqlite")], check=False)
    assert done.returncode == -9
    connect_database(tmp_path / "notes.sqlite", "notes", exclusive=True).close()


@pytest.mark.parametrize("damage", ["text", "truncated", "letters"])
@pytest.mark.parametrize("exclusive", [False, True])
def test_a_damaged_file_is_a_sentence_and_stays_as_it_is(tmp_path: Path, damage: str, exclusive: bool) -> None:
    path = tmp_path / "notes.sqlite"
    if damage == "text":
        path.write_text("not a database, and longer than the header of one would have to be" * 20)
    else:
        database = connect_database(path, "notes")
        with database.writing() as connection:
            connection.exec_driver_sql("CREATE TABLE notes (text TEXT)")
            connection.exec_driver_sql("INSERT INTO notes VALUES (?)", ("x" * 100_000,))
        database.close()
        if damage == "letters":  # SQLite's own error has them
            path.write_bytes(path.read_bytes().replace(b"CREATE TABLE notes", b"CREATE TABLE \xc9 tes"))
        else:
            os.truncate(path, path.stat().st_size // 2)
    before = path.read_bytes()
    with pytest.raises(BadInput, match=r"cannot be opened: .*It is damaged, or no such database: restore a copy"):
        connect_database(path, "notes", exclusive=exclusive)
    assert path.read_bytes() == before


@pytest.mark.long
def test_threads_of_an_exclusive_database_write_one_after_another(place: str) -> None:
    database = connect_database(place, "notes", exclusive=True)
    with database.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE notes (text INTEGER)")
        connection.exec_driver_sql("INSERT INTO notes VALUES (0)")
    threads = [threading.Thread(target=_count, args=(database,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.reading(snapshot=False) as connection:
        assert connection.exec_driver_sql("SELECT text FROM notes").scalar() == 80
    database.close()


def _count(database: Database) -> None:
    for _ in range(10):
        with database.writing() as connection:  # reads first, so that two at once would lose one
            now = connection.exec_driver_sql("SELECT text FROM notes").scalar_one()
            connection.exec_driver_sql(f"UPDATE notes SET text = {now + 1}")
