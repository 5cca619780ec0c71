"""The review database's versions: what version 0.1 wrote is read the same, and tables are as statements expect them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import sqlalchemy as sa

from old_databases import restored, rows_of
from repoassay.db import Database, connect_database
from repoassay.errors import BadInput, Unavailable
from repoassay.judges.store import judgements_of, judges_of
from repoassay.review import tables
from repoassay.review.adjudication_store import adjudications_of
from repoassay.review.comments import comments_on
from repoassay.review.database import event_log, open_database
from repoassay.review.drafts import draft_of
from repoassay.review.rater_accounts import raters_of
from repoassay.review.studies import item_names, study_of
from repoassay.review.submitting import ratings_of, submit
from repoassay.review.tables import metadata
from repoassay.types import RatingPhase
from review.samples import answers, later

MIGRATIONS = Path(tables.__file__).with_name("migrations")
NEWEST = max(int(path.name[:4]) for path in MIGRATIONS.glob("*.sql"))
PROGRAM = """
import sys
from repoassay.review.database import open_database
from repoassay.review.submitting import ratings_of
database = open_database(sys.argv[1])
print(len(ratings_of(database, "st")))
"""
LOOKER = """
import os, sys
from repoassay.errors import RepoAssayError
from repoassay.review.database import open_database
from repoassay.review.submitting import ratings_of
open_database(sys.argv[1]).close()
if os.geteuid() == 0:
    os.seteuid(65534)
try:
    print(len(ratings_of(open_database(sys.argv[2]), "st")))
except RepoAssayError as error:
    print(type(error).__name__, error)
"""


def version(database: Database) -> int:
    with database.reading() as connection:
        return int(connection.exec_driver_sql("SELECT version FROM review_schema").scalar_one())


def columns(connection: sa.Connection, table: str) -> list[tuple[object, ...]]:
    return [
        (column["name"], column["type"].python_type, column["nullable"])
        for column in sa.inspect(connection).get_columns(table)
    ]


def test_what_version_0_1_wrote_is_read_the_same(place: str) -> None:
    restored("review", place)
    before = rows_of(place, "review_")
    assert sum(map(len, before.values())) == 39 and len(before) == 12
    database = open_database(place)
    assert version(database) == NEWEST
    assert {name: rows for name, rows in rows_of(place, "review_").items() if name in before} == before
    assert study_of(database, "st").name == "st" and item_names(database, "st") == ("s0", "s1", "s2")
    assert [each.name for each in raters_of(database, "st")][:2] == ["Ana", "Bén ✓"]
    ratings = ratings_of(database, "st")
    assert [(each.notes, each.version, each.mergeable) for each in ratings] == [
        ("it breaks", 1, False), ("", 2, False), ("", 1, None),
    ]  # fmt: skip
    ana = raters_of(database, "st")[0]
    draft = draft_of(database, ana, "s1")
    assert draft is not None and draft.answers.notes == "half"
    assert [each.text for each in comments_on(database, "st", "s0")] == ["Why two?"]
    assert [each.state for each in adjudications_of(database, "st")] == ["problem"]
    [judge] = judges_of(database, "st")
    assert [each.why for each in judgements_of(database, judge)] == ["It adds."]
    log = event_log(database, "st")
    submit(database, ana, "s1", answers(), key="one-key-more", now=later(300), phase=RatingPhase.BLIND)
    assert event_log(database, "st")[: len(log)] == log and len(ratings_of(database, "st")) == 4
    with pytest.raises(Unavailable, match="append-only"), database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM review_ratings")
    database.close()


def test_a_database_without_the_tables_of_later_days_gets_them(place: str) -> None:
    """Version 0.1 grew: who began before there were judges has no tables for them."""
    restored("review", place)
    before = rows_of(place, "review_")
    database = connect_database(place, "review database")
    with database.writing() as connection:
        for table in ("review_judgements", "review_judges"):
            connection.exec_driver_sql(f"DROP TABLE {table}")
        if database.kind == "postgresql":
            for name in ("judgements", "judges"):
                for verb in ("update", "delete"):
                    connection.exec_driver_sql(f"DROP FUNCTION review_{name}_no_{verb}")
    database.close()
    database = open_database(place)
    after = rows_of(place, "review_")
    assert {name: after[name] for name in before} == {**before, "review_judgements": [], "review_judges": []}
    assert version(database) == NEWEST
    database.close()


@pytest.mark.parametrize("old", [True, False])
def test_tables_are_as_statements_expect_them(place: str, old: bool) -> None:
    if old:
        restored("review", place)
    database = open_database(place)
    database.close()
    url = place.replace("postgresql:", "postgresql+psycopg:") if "://" in place else f"sqlite:///{place}"
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        found = sa.inspect(connection)
        assert set(found.get_table_names()) == {*metadata.tables, "review_schema"}
        for name, table in metadata.tables.items():
            wanted = [(column.name, column.type.python_type, column.nullable) for column in table.columns]
            assert columns(connection, name) == wanted
            keys = found.get_pk_constraint(name)["constrained_columns"]
            assert set(keys) == {column.name for column in table.primary_key}
            indexes = {index["name"] for index in found.get_indexes(name) if not index.get("duplicates_constraint")}
            assert indexes == {index.name for index in table.indexes}
            unique = {tuple(each["column_names"]) for each in found.get_unique_constraints(name)}
            constraints = [each for each in table.constraints if isinstance(each, sa.UniqueConstraint)]
            assert unique == {tuple(column.name for column in each.columns) for each in constraints}
            foreign = {(*each["constrained_columns"], each["referred_table"]) for each in found.get_foreign_keys(name)}
            assert foreign == {(key.parent.name, key.column.table.name) for key in table.foreign_keys}
    engine.dispose()


@pytest.mark.exhaustive  # tests/db has the quick one
def test_programs_that_open_an_old_database_at_once_all_read_it(place: str) -> None:
    restored("review", place)
    line = [sys.executable, "-c", PROGRAM, place]
    programs = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [program.communicate(timeout=120)[0] for program in programs] == ["3\n"] * 3
    database = open_database(place)
    assert version(database) == NEWEST
    database.close()


def test_a_newer_database_names_both_versions_and_the_remedy(place: str) -> None:
    database = open_database(place)
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE review_schema SET version = 9000")
    database.close()
    with pytest.raises(BadInput, match=r"The review database in .* of version 9000, this .* Install the newest"):
        open_database(place)


def test_a_truncated_file_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "reviews.sqlite"
    restored("review", str(path))
    os.truncate(path, path.stat().st_size - 10_000)
    with pytest.raises(BadInput, match=r"The review database in .* cannot be opened: .* malformed\. It is damaged"):
        open_database(path)


def test_a_file_that_cannot_be_written_is_a_sentence_and_stays_as_it_is(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="reviews-", dir="/tmp") as folder:  # nobody may look into tmp_path
        path = Path(folder, "old.sqlite")
        restored("review", str(path))
        before = path.read_bytes()
        path.chmod(0o444)
        Path(folder).chmod(0o755)
        line = [sys.executable, "-c", LOOKER, str(tmp_path / "other.sqlite"), str(path)]
        said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
        assert path.read_bytes() == before
    assert said.startswith(f"BadInput The review database in {path} cannot be opened: ") and said.count("\n") == 1
    assert said.endswith("Give a file that can be written.\n")
