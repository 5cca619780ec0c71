"""Transactions: all or nothing, tried again when contended, ordered by a lock, and one sentence when they fail."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from repoassay.db import Database, connect_database, epoch_now
from repoassay.errors import BadInput, Unavailable

metadata = sa.MetaData()
notes = sa.Table("notes", metadata, sa.Column("number", sa.Integer, primary_key=True), sa.Column("text", sa.Text))


@pytest.fixture
def database(place: str) -> Iterator[Database]:
    """A database with a table."""
    found = connect_database(place, "notes")
    found.write(metadata.create_all)
    yield found
    found.close()


def numbers(database: Database) -> list[int]:
    with database.reading() as connection:
        return list(connection.scalars(sa.select(notes.c.number).order_by(notes.c.number)))


def test_what_raises_leaves_nothing(database: Database) -> None:
    def work(connection: sa.Connection) -> None:
        connection.execute(sa.insert(notes).values(number=1))
        raise BadInput("no")

    with pytest.raises(BadInput, match="no"):
        database.write(work)
    with pytest.raises(BadInput, match="no"), database.writing() as connection:
        work(connection)
    assert numbers(database) == []


@pytest.mark.long
def test_a_snapshot_does_not_see_what_is_written_meanwhile(database: Database) -> None:
    count = sa.select(sa.func.count()).select_from(notes)
    with database.reading() as connection:
        assert connection.scalar(count) == 0
        database.write(lambda writer: writer.execute(sa.insert(notes).values(number=1)))
        assert connection.scalar(count) == 0
    assert numbers(database) == [1]


def test_work_that_clashes_is_undone_and_run_again(database: Database) -> None:
    tries: list[None] = []

    def add(connection: sa.Connection) -> None:
        tries.append(None)
        connection.execute(sa.insert(notes).values(number=len(tries)))
        if len(tries) == 1:
            connection.execute(sa.insert(notes).values(number=1))

    database.write(add)
    assert numbers(database) == [2]


def test_a_lock_puts_transactions_in_order(database: Database, place: str) -> None:
    other = connect_database(place, "notes")

    def add(kept: Database) -> None:
        with kept.writing(lock=7) as connection:  # tried once: without the lock PostgreSQL would meet clashes
            most = connection.scalar(sa.select(sa.func.max(notes.c.number))) or 0
            connection.execute(sa.insert(notes).values(number=most + 1))

    with ThreadPoolExecutor(6) as pool:
        for future in [pool.submit(add, (database, other)[each % 2]) for each in range(24)]:
            future.result()
    assert numbers(database) == list(range(1, 25))
    other.close()


def test_failures_are_one_sentence(database: Database) -> None:
    for statement in ("SELECT * FROM nothing_here", "this is\nno SQL"):
        with pytest.raises(Unavailable) as caught, database.reading() as connection:
            connection.exec_driver_sql(statement)
        assert caught.value.message.startswith(f"{database.name} cannot be used: ") and "\n" not in str(caught.value)
    clash = sa.insert(notes).values(number=1)
    database.write(lambda connection: connection.execute(clash))
    with pytest.raises(Unavailable, match="cannot be used"):
        database.write(lambda connection: connection.execute(clash))
    with pytest.raises(BadInput, match="a character that cannot be kept"):
        database.write(lambda connection: connection.execute(sa.insert(notes).values(number=2, text="\ud800")))
    assert numbers(database) == [1]


def test_the_clock_is_the_database_s_own(database: Database) -> None:
    before = time.time()
    with database.reading(snapshot=False) as connection:
        now = connection.scalar(sa.select(epoch_now()))
    assert isinstance(now, float) and before - 1 < now < time.time() + 1
