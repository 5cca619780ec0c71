"""Holders of tokens take turns: whoever hands in hundreds does not hold up whoever hands in one."""

from __future__ import annotations

import hashlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from repoassay.db import Database
from repoassay.server.access import Tokens
from repoassay.server.queue import New, Queue, QueueFull, QuotaUsed, open_queue_database
from repoassay.server.service import Guards, Service
from server.serving import Process, connected, solution

TASK = "edit-ledger-monthly"
MANY = 10**6
SLEEPER = """--- a/src/pocketledger/__init__.py
+++ b/src/pocketledger/__init__.py
@@ -3,3 +3,6 @@
 from pocketledger.entries import Entry, LedgerError, Posting
+import time
+time.sleep(4)
+number = {}
 from pocketledger.reader import read_ledger
 from pocketledger.reports import RegisterRow, balances, register
"""


def add(queue: Queue, holder: str, count: int = 1) -> list[str]:
    stored, _ = queue.add(holder, [New(f"{holder}{number}", b"") for number in range(count)], MANY)
    return [each.ulid for each in stored]


def order(queue: Queue, *, finish: bool = True, each: int | None = None) -> list[str]:
    """The tasks in the order in which they are claimed."""
    found = []
    while claim := queue.claim("me", 60, each):
        found.append(claim.task)
        if finish:
            assert queue.finish(claim, "PASS", "agent", "", "{}")
    return found


def test_one_is_not_behind_hundreds_of_another(queue: Queue) -> None:
    hers = add(queue, "a", 300)
    begun = [queue.claim("me", 60), queue.claim("me", 60)]
    (his,) = add(queue, "b")
    following = queue.claim("me", 60)
    assert following is not None and following.ulid == his  # after no more than the two that were under way
    assert [each.ulid for each in begun if each] == hers[:2]
    with queue.database.reading() as run:  # what was first come, first served would have judged before it
        fifo = run.exec_driver_sql("SELECT ulid FROM repoassay_submissions ORDER BY number").scalars().all()
    assert fifo.index(his) == 300


def test_turns_go_round_and_within_one_holder_what_came_first_is_first(queue: Queue) -> None:
    for holder, count in (("a", 4), ("b", 2), ("c", 1)):
        add(queue, holder, count)
    assert order(queue) == ["a0", "b0", "c0", "a1", "b1", "a2", "a3"]
    add(queue, "a", 2), add(queue, "b", 2)
    assert order(queue) == ["b0", "a0", "b1", "a1"]  # a had the last turn


def test_whoever_has_less_under_way_is_first_so_that_long_ones_do_not_take_every_place(queue: Queue) -> None:
    add(queue, "a", 10)
    first, second = queue.claim("me", 60), queue.claim("me", 60)
    assert first and second
    add(queue, "b", 3)
    assert queue.finish(first, "PASS", "agent", "", "{}")
    for _ in range(3):  # one place stays a's sleeper's; by turns alone every second claim would be another sleeper
        claim = queue.claim("me", 60)
        assert claim and claim.task.startswith("b") and queue.finish(claim, "PASS", "agent", "", "{}")
    assert (claim := queue.claim("me", 60)) and claim.task == "a2"


def test_a_holder_has_no_more_under_way_than_allowed(queue: Queue) -> None:
    add(queue, "a", 5), add(queue, "b", 1)
    assert order(queue, finish=False, each=2) == ["a0", "b0", "a1"]
    assert queue.counts().queued == 3
    assert order(queue, finish=False) == ["a2", "a3", "a4"]


def test_what_is_put_back_for_later_does_not_hold_up_the_rest(queue: Queue) -> None:
    add(queue, "a", 2), add(queue, "b", 1)
    claim = queue.claim("me", 60)
    assert claim and claim.task == "a0"
    queue.put_back(claim, delay=60)
    assert order(queue) == ["b0", "a1"]


def test_a_quota_is_one_holders_and_the_limit_everybodys(queue: Queue) -> None:
    new = [New("t", b"") for _ in range(3)]
    queue.add("a", new, 7, 4)
    with pytest.raises(QuotaUsed):
        queue.add("a", new, 7, 4)
    queue.add("b", new, 7, 4)
    with pytest.raises(QueueFull):
        queue.add("c", new, 7, 4)
    queue.add("c", new[:1], 7, 4)
    assert queue.counts().queued == 7


def test_a_queue_of_the_version_before_is_taken_over(database: Database) -> None:
    queue = Queue(database)
    add(queue, "a", 2), add(queue, "b", 1)
    with database.writing() as run:
        run.exec_driver_sql("DROP TABLE repoassay_turns")
        run.exec_driver_sql("DROP INDEX repoassay_lines")
        run.exec_driver_sql("CREATE INDEX repoassay_waiting ON repoassay_submissions (number) WHERE status = 'queued'")
        run.exec_driver_sql("UPDATE repoassay_schema SET version = 1")
    assert sorted(order(Queue(database))) == ["a0", "a1", "b0"]
    Queue(database)


def test_several_servers_take_turns_together_and_nothing_twice(postgres: str, tmp_path: Path) -> None:
    queues = [Queue(open_queue_database(postgres, tmp_path, "")) for _ in range(3)]
    for holder in "abc":
        add(queues[0], holder, 30)
    first = [queues[number % 3].claim(f"{number}", 60) for number in range(9)]
    assert [each.task for each in first if each] == [f"{holder}{number}" for number in range(3) for holder in "abc"]
    assert queues[0].recover(everything=True) == 9
    taken: list[str] = []
    lock = threading.Lock()

    def work(queue: Queue) -> None:
        while claim := queue.claim(f"{id(queue)}", 60):
            with lock:
                taken.append(claim.ulid)
            assert queue.finish(claim, "PASS", "agent", "", "{}")

    with ThreadPoolExecutor(6) as pool:
        for future in [pool.submit(work, queues[number % 3]) for number in range(6)]:
            future.result()
    assert len(taken) == len(set(taken)) == 90
    for queue in queues:
        queue.database.close()


def test_over_quota_is_a_sentence_and_says_when_to_come_back(service: Service) -> None:
    tokens = Tokens(tuple(hashlib.sha256(each.encode()).digest() for each in ("a" * 20, "b" * 20)))
    guards = Guards(tokens, queue=6)
    assert guards.share == 3  # by default nobody can fill the others' room
    with connected(Service(service.queue, service.engine, guards)) as client:

        def post(token: str, count: int) -> httpx.Response:
            headers = {"Authorization": f"Bearer {token * 20}"}
            return client.post("/v1/submissions", json=[{"id": TASK, "patch": ""}] * count, headers=headers)

        assert post("a", 3).status_code == 202
        over = post("a", 1)
        assert (over.status_code, over.json()["error"]) == (429, "quota_used")
        assert int(over.headers["Retry-After"]) >= 1 and over.json()["message"].endswith("judged.")
        assert post("a", 4).status_code == 413  # never possible
        assert post("b", 3).status_code == 202


def test_waiting_requests_of_one_token_leave_room_for_the_others(service: Service) -> None:
    tokens = Tokens(tuple(hashlib.sha256(each.encode()).digest() for each in ("a" * 20, "b" * 20)))
    with connected(Service(service.queue, service.engine, Guards(tokens, waiting=2))) as client:
        hers, his = ({"Authorization": f"Bearer {each * 20}"} for each in "ab")
        with client.stream("GET", "/v1/results?wait=60", headers=hers), client.stream(
            "GET", "/v1/results?wait=60", headers=hers
        ):  # fmt: skip
            over = client.get("/v1/results?wait=60", headers=hers)
            assert (over.status_code, over.json()["error"]) == (429, "too_many_waiting")
            assert int(over.headers["Retry-After"]) >= 1
            assert client.get("/v1/results", headers=hers).status_code == 200  # what does not wait takes no place
            with client.stream("GET", "/v1/results?wait=60", headers=his) as answer:
                assert answer.status_code == 200


def cursors(http: httpx.Client, headers: dict[str, str]) -> list[int]:
    return [json.loads(line)["cursor"] for line in http.get("/v1/results", headers=headers).iter_lines() if line]


@pytest.mark.exhaustive
def test_a_server_judges_one_patch_while_hundreds_of_sleepers_of_another_token_wait(tmp_path: Path) -> None:
    hers, his = "token-of-whoever-sleeps", "token-of-whoever-works"
    (tmp_path / "tokens").write_text(f"{hers}\n{his}\n")
    sleepers = [{"id": TASK, "patch": SLEEPER.format(number)} for number in range(300)]
    options = ("--token-file", str(tmp_path / "tokens"), "--database", str(tmp_path / "q.sqlite"), "--grace", "0")
    with Process(*options) as server, httpx.Client(base_url=server.url, timeout=120) as http:

        def post(token: str, body: Any) -> list[Any]:
            answer = http.post("/v1/submissions", json=body, headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == 202, answer.text
            found: list[Any] = answer.json()["submissions"]
            return found

        assert len(post(hers, sleepers)) == 300
        (one,) = post(his, {"id": TASK, "patch": solution(TASK)})
        headers = {"Authorization": f"Bearer {his}"}
        while (found := http.get(one["url"], params={"wait": 60}, headers=headers).json())["status"] != "done":
            pass
        assert found["message"] == "PASS"
        waiting = http.get("/healthz").json()["queued"]
        theirs = http.get("/v1/submissions", params={"limit": 60}, headers={"Authorization": f"Bearer {hers}"}).json()
        assert all(each["message"] != "PATCH FAILED" for each in theirs["submissions"])  # they do sleep
        before = [each for each in cursors(http, {"Authorization": f"Bearer {hers}"}) if each < found["cursor"]]
    # Strictly in the order of arrival its verdict would have been the 301st, after all of theirs.
    assert waiting >= 250 and found["cursor"] == len(before) + 1 <= 50
