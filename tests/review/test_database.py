from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repoassay.db import Database
from repoassay.errors import BadInput, Unavailable
from repoassay.review.database import append, event_log, open_database
from repoassay.review.studies import create_study, hidden_of, item_names, items_of, payload_of, study_names, study_of
from repoassay.review.submitting import ratings_of, submit
from review.samples import NOW, RUBRIC, answers, begun, items, study

WRITER = """
import sys
from review.samples import NOW, answers
from repoassay.review.database import open_database
from repoassay.review.rater_accounts import raters_of
from repoassay.review.submitting import submit
database = open_database(sys.argv[1])
rater = raters_of(database, "st")[0]
for number in range(2000):
    submit(database, rater, f"s{number}", answers(notes=str(number)), key=f"the-key-{number}", now=NOW)
    print(number, flush=True)
"""


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
@pytest.mark.long
def test_a_study_comes_back_after_reopening(database: Database, place: str) -> None:
    begun(database, "Ana")
    again = open_database(place)
    assert study_names(again) == ("st",) and study_of(again, "st") == study()
    assert items_of(again, "st") == tuple(items()) and item_names(again, "st") == ("s0", "s1", "s2", "s3")
    assert payload_of(again, "st", "s1").title == "Change 1" and hidden_of(again, "st", "s1").system == "system-1"
    assert [event.number for event in event_log(again, "st")] == sorted(e.number for e in event_log(database, "st"))
    again.close()


def test_names_of_studies_and_items_are_checked(database: Database) -> None:
    begun(database)
    with pytest.raises(BadInput, match="already a study"):
        create_study(database, study(), RUBRIC, items(), at=NOW)
    for name in ("other", "x\x00", "'; DROP TABLE review_studies; --"):
        with pytest.raises(BadInput):
            study_of(database, name)
        with pytest.raises(BadInput):
            payload_of(database, "st", name)


def test_what_was_changed_by_hand_is_a_sentence(tmp_path: Path) -> None:
    place = tmp_path / "reviews.sqlite"
    database = open_database(place)
    begun(database)
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE review_items SET payload = '[]'")
    with pytest.raises(BadInput, match="holds a ItemPayload that cannot be read"):
        payload_of(database, "st", "s1")
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE review_schema SET version = 'x'")
    database.close()
    with pytest.raises(BadInput, match="tables are of version x"):
        open_database(place)


def test_a_failed_transaction_leaves_nothing(database: Database) -> None:
    begun(database)
    before = event_log(database, "st")

    def work(connection: object) -> None:
        append(connection, "st", NOW, "half", "me")  # type: ignore[arg-type]  # write gives a connection
        raise BadInput("no")

    with pytest.raises(BadInput, match="no"):
        database.write(work)
    assert event_log(database, "st") == before
    assert event_log(database, "st", after=before[-1].number) == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("mysql://x/y", "kind 'mysql'"),
        ("sqlite://", "must be a file"),
        ("sqlite:///:memory:", "must be a file"),
        ("postgresql://nobody@/none?host=/nowhere", "cannot be used"),
        ("postgresql://nobody:secret@127.0.0.1:1/none", "cannot be used"),
        ("postgresql://nobody:secret@host:port/none", "not one that PostgreSQL understands"),
        ("x.sqlite\0", "must be a file"),
        ("://", "kind ''"),
    ],
)
def test_databases_that_cannot_be_opened(given: str, said: str) -> None:
    with pytest.raises((BadInput, Unavailable), match=said) as caught:
        open_database(given)
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").write_text("not a database " * 100)
    with pytest.raises(BadInput, match="cannot be opened"):
        open_database(tmp_path / "x.sqlite")


def test_reading_cannot_write(tmp_path: Path) -> None:
    database = open_database(tmp_path / "made" / "x.sqlite")
    begun(database)
    with database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 10_000
    with pytest.raises(Unavailable, match="cannot be used"), database.reading() as connection:
        connection.exec_driver_sql("SELECT * FROM nothing_here")
    database.close()


@pytest.mark.by_day(1)
@pytest.mark.parametrize("moment", [pytest.param(1, marks=pytest.mark.exhaustive), 40])
@pytest.mark.long
def test_a_killed_writer_loses_and_doubles_nothing(database: Database, place: str, moment: int) -> None:
    [ana] = begun(database, "Ana", count=2000)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    line = [sys.executable, "-c", WRITER, place]
    with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        said = [int(writer.stdout.readline()) for _ in range(moment)]
        time.sleep(0.001)
        writer.send_signal(signal.SIGKILL)
        said += [int(text) for text in writer.stdout.read().split()]
    kept = {each.notes for each in ratings_of(database, "st")}
    assert {str(number) for number in said} <= kept and len(kept) <= len(said) + 1
    # The page asks again for what it was not told of.
    for number in range(len(said) + 1):
        submit(database, ana.rater, f"s{number}", answers(notes=str(number)), key=f"the-key-{number}", now=NOW)
    every = [each.notes for each in ratings_of(database, "st")]
    assert sorted(every, key=int) == [str(number) for number in range(len(said) + 1)]


def test_without_sqlalchemy_the_rest_still_works() -> None:
    program = """
import sys
sys.modules["sqlalchemy"] = None
import repoassay.review.exchange, repoassay.review.rubric, repoassay.review.reliability, repoassay.review.study
from repoassay.review.simple_table import metr_example
assert len(metr_example().ratings) == 15
from repoassay.errors import MissingExtra
try:
    from repoassay.review import open_database
except MissingExtra as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'repoassay[review]'" in done.stdout
