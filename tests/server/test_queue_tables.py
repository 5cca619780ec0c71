"""The queue's versions: what version 0.1 wrote is served the same, and tables are as statements expect them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from old_databases import restored, rows_of
from repoassay.server.queue import New, Queue, open_queue_database
from repoassay.server.queue_tables import answers, requests, servers, submissions, turns, verdicts
from repoassay.server.records import Counts, KeyTaken

PROGRAM = """
import sys
from pathlib import Path
from repoassay.server.queue import Queue, open_queue_database
print(Queue(open_queue_database(sys.argv[1], Path(), "")).counts().queued)
"""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Path or URL of an empty database of each kind."""
    return str(tmp_path / "queue.sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres"))


def test_a_queue_of_version_0_1_is_served_the_same(place: str, tmp_path: Path) -> None:
    restored("queue", place)
    before = rows_of(place, "repoassay_")
    assert [len(rows) for rows in before.values()] == [4, 2, 1]
    queue = Queue(open_queue_database(place, tmp_path, ""))
    after = rows_of(place, "repoassay_")
    for name, rows in before.items():  # columns were added, and nothing was changed
        width = len(rows[0])
        assert sorted((row[:width] for row in after[name]), key=repr) == rows
    assert queue.counts() == Counts(2, 1) and queue.tasks() == {"task-0", "task-1", "task-2"}
    [done] = queue.results("a", 0, 10)
    assert (done.task, done.model, done.key, done.word, done.verdict) == (
        "task-0",
        "m",
        "k",
        "PASS",
        '{"word": "PASS"}',
    )
    assert queue.get("a", done.ulid) == done and queue.answers() == {"task-0": 1}
    assert [each.task for each in queue.page("a", None, 10)] == ["task-0", "task-1", "task-2"]
    stored, new = queue.add("a", [New("task-0", b"\0\xff", "m", "k")], 100)
    assert (stored, new) == ([done], 0)
    with pytest.raises(KeyTaken):
        queue.add("a", [New("task-0", b"other", "m", "k")], 100)
    assert queue.recover() == 1  # of a server of version 0.1 that was killed
    claims = [queue.claim("new", 60) for _ in range(3)]
    assert sorted(each.task for each in claims if each) == ["task-0", "task-1", "task-2"]
    assert all(queue.finish(each, "FAIL", "agent", "", "{}") for each in claims if each)
    assert queue.results("a", 0, 10)[0].number == 1 and queue.tasks() == set()
    queue.database.close()


def test_tables_are_as_statements_expect_them(place: str, tmp_path: Path) -> None:
    Queue(open_queue_database(place, tmp_path, "")).database.close()
    url = place.replace("postgresql:", "postgresql+psycopg:") if "://" in place else f"sqlite:///{place}"
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        found = sa.inspect(connection)
        for table in (submissions, verdicts, turns, answers, servers, requests):
            columns = {each["name"]: each for each in found.get_columns(table.name)}
            assert list(columns) == [column.name for column in table.columns]
            for column in table.columns:
                assert column.type.python_type is columns[column.name]["type"].python_type
                assert column.nullable == columns[column.name]["nullable"] or column.primary_key
        names = {index["name"] for index in found.get_indexes(submissions.name)} | {
            index["name"] for index in found.get_indexes(verdicts.name)
        }
    ours = {name for name in names if name is not None and not name.endswith("_key")}
    assert ours == {
        f"repoassay_{name}" for name in ("lines", "under_way", "undone", "held", "told", "recent", "finished")
    }
    engine.dispose()


@pytest.mark.exhaustive  # tests/db has the quick one
def test_servers_that_start_at_once_make_one_queue(postgres: str) -> None:
    line = [sys.executable, "-c", PROGRAM, postgres]
    programs = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [program.communicate(timeout=120)[0] for program in programs] == ["0\n"] * 3


@pytest.mark.long
def test_handing_in_offline_needs_no_sqlalchemy() -> None:
    program = """
import sys
sys.modules["sqlalchemy"] = None
import repoassay.cli.main, repoassay.cli.submit, repoassay.engine.submit, repoassay.records
from repoassay.exits import exit_with
exit_with("repoassay", lambda: __import__("repoassay.server.queue"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "pip install 'repoassay[serve]'" in done.stderr, done.stderr
