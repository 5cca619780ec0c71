"""What is sent again under a key is accepted once, and what was kept for long enough is deleted, with its key."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from repoassay.db import Database
from repoassay.server.queue import KeyTaken, New, Queue, open_queue_database
from repoassay.server.records import Counts
from repoassay.server.service import Service
from server.serving import Process, connected

if TYPE_CHECKING:
    from httpx import Response

TASK = "edit-ledger-monthly"
DAY = 86400.0


def judged(queue: Queue, count: int, holder: str = "h", patch: bytes = b"p") -> None:
    queue.add(holder, [New("t", patch)] * count, 10**6)
    while claim := queue.claim("me", 60):
        assert queue.finish(claim, "FAIL", "agent", "", "{}")


def aged(database: Database, seconds: float) -> None:
    with database.writing() as run:
        run.exec_driver_sql(f"UPDATE repoassay_verdicts SET finished = finished - {seconds}")
        run.exec_driver_sql(f"UPDATE repoassay_submissions SET created = created - {seconds}")
        run.exec_driver_sql(f"UPDATE repoassay_requests SET created = created - {seconds}")


def test_old_verdicts_are_deleted_with_their_patches_and_young_and_waiting_ones_stay(queue: Queue) -> None:
    judged(queue, 5)
    queue.add("h", [New("t", b"waits")], 10)
    aged(queue.database, 2 * DAY)
    claim = queue.claim("me", 60)
    assert claim
    queue.put_back(claim)
    queue.add("h", [New("t", b"young")], 10)
    for _ in range(2):
        claim = queue.claim("me", 60)
        assert claim
        if claim.patch == b"young":
            assert queue.finish(claim, "PASS", "agent", "", "{}")
    cursor = queue.results("h", 0, 10)[-1].number
    assert [queue.delete_old(DAY, 3) for _ in range(3)] == [3, 2, 0]
    [left] = queue.results("h", 0, 10)
    assert left.number == cursor and left.word == "PASS"  # cursors stay what they were
    assert queue.counts() == Counts(0, 1)
    assert queue.answers() == {"t": 6}  # what was told stays told


def test_a_file_gives_its_space_back(tmp_path: Path) -> None:
    path = tmp_path / "queue.sqlite"
    database = open_queue_database(str(path), tmp_path, "")
    queue = Queue(database)
    judged(queue, 40, patch=bytes(range(256)) * 400)
    aged(database, 2 * DAY)
    assert queue.delete_old(DAY) == 40
    database.compact()
    judged(queue, 1)
    database.close()
    assert path.stat().st_size < 500_000  # of 4 MB
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM repoassay_submissions").fetchone() == (1,)


@pytest.mark.long
def test_a_request_with_a_key_is_accepted_once_for_each_holder(queue: Queue) -> None:
    given = [New("t", b"1"), New("t", b"2", key="own"), New("t", b"2", key="own")]
    first, count = queue.add("h", given, 10, request="K")
    assert count == 2
    again, count = queue.add("h", given, 10, request="K")
    assert ([each.ulid for each in again], count) == ([each.ulid for each in first], 0)
    for other in (given[:2], [*given, given[0]], [New("t", b"1", priority=1), *given[1:]], [New("u", b"1")]):
        with pytest.raises(KeyTaken, match="another request of yours"):
            queue.add("h", other, 10, request="K")
    assert queue.add("other", given, 10, request="K")[1] == 2
    assert queue.counts() == Counts(4, 0)


def test_a_requests_key_is_forgotten_once_it_is_old_and_never_names_what_is_gone(queue: Queue) -> None:
    given = [New("t", b"1")]
    queue.add("h", given, 10, request="K")
    claim = queue.claim("me", 60)
    assert claim and queue.finish(claim, "PASS", "agent", "", "{}")
    with queue.database.writing() as run:
        run.exec_driver_sql("UPDATE repoassay_verdicts SET finished = 0")
    assert queue.delete_old(DAY) == 1
    with pytest.raises(KeyTaken, match="deleted since"):
        queue.add("h", given, 10, request="K")
    aged(queue.database, 2 * DAY)
    queue.delete_old(DAY)
    assert queue.add("h", given, 10, request="K")[1] == 1


def test_the_header_is_the_requests_key(service: Service) -> None:
    with connected(service) as client:

        def post(count: int, key: str) -> Response:
            body = [{"id": TASK, "patch": ""}] * count
            return client.post("/v1/submissions", json=body, headers={"Idempotency-Key": key})

        first = post(2, "night-1")
        assert first.status_code == 202 and post(2, "night-1").json() == first.json()
        other = post(3, "night-1")
        assert (other.status_code, other.json()["error"]) == (409, "key_taken")
        assert "key of its own" in other.json()["message"]
        assert post(1, "x" * 201).status_code == 422
        assert client.get("/healthz").json()["queued"] == 2


@pytest.mark.exhaustive
def test_a_server_deletes_what_is_old_enough(tmp_path: Path) -> None:
    path = tmp_path / "queue.sqlite"
    database = open_queue_database(str(path), tmp_path, "")
    judged(Queue(database), 1200)
    aged(database, 40 * DAY)
    judged(Queue(database), 1)
    database.close()
    with Process("--database", str(path), "--keep", "30") as server:
        while "1200 submissions whose verdicts were old enough are deleted." not in "".join(server.log):
            assert server.process.poll() is None
        assert server.stop() == 0
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM repoassay_submissions").fetchone() == (1,)
