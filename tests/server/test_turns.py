"""Holders of tokens take turns: whoever hands in hundreds does not hold up whoever hands in one."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.server.access import Tokens, read_tokens
from repoassay.server.queue import New, Queue, QueueFull, Quota, QuotaUsed, open_queue_database
from repoassay.server.service import Guards, Service
from server.serving import SLEEPER, Process, connected, solution

TASK = "edit-ledger-monthly"
MANY = 10**6


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
    quota = Quota(waiting=4)
    queue.add("a", new, 7, quota)
    with pytest.raises(QuotaUsed, match="4 submissions may wait"):
        queue.add("a", new, 7, quota)
    queue.add("b", new, 7, quota)
    with pytest.raises(QueueFull):
        queue.add("c", new, 7, quota)
    queue.add("c", new[:1], 7, quota)
    assert queue.counts().queued == 7


def test_bytes_that_wait_are_bounded_too(queue: Queue) -> None:
    new = [New("t", b"x" * 10) for _ in range(3)]
    quota = Quota(size=40)
    queue.add("a", new, MANY, quota, size=70)
    with pytest.raises(QuotaUsed, match="40 bytes may wait"):
        queue.add("a", new, MANY, quota, size=70)
    queue.add("b", new, MANY, quota, size=70)
    with pytest.raises(QueueFull):
        queue.add("c", new[:2], MANY, quota, size=70)
    queue.add("c", new[:1], MANY, quota, size=70)
    while claim := queue.claim("w", 60):
        assert queue.finish(claim, "PASS", "agent", "", "{}")
    assert queue.add("a", new, MANY, quota, size=70)[1] == 3  # what is judged does not wait


def test_of_one_holders_the_highest_priority_is_first_and_others_are_not_held_up(queue: Queue) -> None:
    for task, priority in (("low", -5), ("first", 0), ("second", 0), ("high", 5)):
        queue.add("a", [New(task, b"", priority=priority)], MANY)
    queue.add("b", [New("hers", b"", priority=-100)], MANY)
    assert order(queue) == ["high", "hers", "first", "second", "low"]


@pytest.mark.long
def test_turns_and_places_are_shared_by_weight(queue: Queue) -> None:
    queue.add("heavy", [New("heavy", b"")] * 60, MANY, Quota(weight=3))
    queue.add("light", [New("light", b"")] * 60, MANY)
    under_way = [queue.claim("me", 60) for _ in range(8)]
    assert sorted(each.task for each in under_way if each) == ["heavy"] * 6 + ["light"] * 2
    assert all(each and queue.finish(each, "PASS", "agent", "", "{}") for each in under_way)
    turns = order(queue)[:40]
    assert 29 <= turns.count("heavy") <= 31
    assert all("light" in turns[place : place + 5] for place in range(35))  # and nobody waits long


@pytest.mark.long
def test_whoever_comes_late_has_no_turns_left_over_from_before(queue: Queue) -> None:
    add(queue, "a", 50)
    for _ in range(30):
        claim = queue.claim("me", 60)
        assert claim and queue.finish(claim, "PASS", "agent", "", "{}")
    add(queue, "late", 20)
    assert [task[0] for task in order(queue)[:10]] == ["l", "a"] * 5


def test_so_many_an_hour_are_accepted_and_then_it_is_said_when_to_come_back(queue: Queue) -> None:
    quota = Quota(hour=3, day=5)

    def added(count: int, key: str | None = None) -> float:
        try:
            queue.add("a", [New("t", b"", key=key)] * count, MANY, quota)
        except QuotaUsed as error:
            return error.wait
        return 0.0

    def aged(seconds: float) -> None:
        with queue.database.writing() as run:
            run.exec_driver_sql(f"UPDATE repoassay_submissions SET created = created - {seconds}")

    assert added(1, "k") == 0 and added(1, "k") == 0  # the same again counts once
    aged(600)
    assert added(2) == 0
    assert 2990 < added(1) <= 3000 and 3590 < added(2) <= 3600  # when the first, and the second, is an hour old
    aged(3000)
    assert added(1) == 0 and added(1, "k") == 0
    aged(3600)
    assert added(1) == 0 and added(3) > 3600  # now the day's
    queue.add("b", [New("t", b"")] * 3, MANY, quota)


def test_a_queue_of_the_version_before_is_taken_over(database: Database) -> None:
    queue = Queue(database)
    add(queue, "a", 2), add(queue, "b", 1)
    with database.writing() as run:
        run.exec_driver_sql("DROP TABLE repoassay_turns")
        run.exec_driver_sql("DROP INDEX repoassay_lines")
        run.exec_driver_sql("DROP INDEX repoassay_recent")
        run.exec_driver_sql("ALTER TABLE repoassay_submissions DROP COLUMN priority")
        run.exec_driver_sql("ALTER TABLE repoassay_submissions DROP COLUMN task_digest")
        run.exec_driver_sql("DROP TABLE repoassay_answers")
        run.exec_driver_sql("DROP TABLE repoassay_servers")
        run.exec_driver_sql("DROP TABLE repoassay_requests")
        run.exec_driver_sql("DROP INDEX repoassay_finished")
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
            assert client.get("/v1/submissions", headers=hers).status_code == 200  # what is no stream takes no place
            with client.stream("GET", "/v1/results?wait=60", headers=his) as answer:
                assert answer.status_code == 200


def cursors(http: httpx.Client, headers: dict[str, str]) -> list[int]:
    return [json.loads(line)["cursor"] for line in http.get("/v1/results", headers=headers).iter_lines() if line]


def test_what_is_beside_a_token_is_its_weight(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"{'a' * 20} weight=7\n{'b' * 20}\n")
    tokens = read_tokens(path)
    assert [tokens.weight(str(tokens.holder(each * 20))) for each in "ab"] == [7, 1]
    for wrong in ("weight=0", "weight=101", "weight=x", "hour=3", "weight=2 weight=3"):
        path.write_text(f"{'a' * 20} {wrong}\n")
        with pytest.raises(BadInput, match="weight=N") as caught:
            read_tokens(path)
        assert "aaaa" not in str(caught.value)


HERS, HIS = "token-of-whoever-sleeps", "token-of-whoever-works"


def ask(http: httpx.Client, token: str, url: str, **given: Any) -> Any:
    answer = http.request("POST" if given else "GET", url, headers={"Authorization": f"Bearer {token}"}, **given)
    assert answer.status_code < 300, answer.text
    return answer.json()


def judged(http: httpx.Client, token: str, url: str) -> Any:
    while (found := ask(http, token, f"{url}?wait=60"))["status"] != "done":
        pass
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize("workers", [1, 2])
def test_one_patch_is_judged_within_seconds_of_hundreds_that_sleep_until_their_limit(
    workers: int, tmp_path: Path
) -> None:
    (tmp_path / "tokens").write_text(f"{HERS}\n{HIS}\nthird-token-that-sleeps\n")
    options = ("--token-file", str(tmp_path / "tokens"), "--database", str(tmp_path / "q.sqlite"), "--grace", "0",
               "--workers", str(workers), "--timeout", "100", "--express", "2")  # fmt: skip
    sleepers = [{"id": TASK, "patch": SLEEPER.format(number, 600)} for number in range(300)]
    one = {"id": TASK, "patch": solution(TASK)}
    with Process(*options) as server, httpx.Client(base_url=server.url, timeout=120) as http:

        def post(token: str, body: Any) -> Any:
            return ask(http, token, "/v1/submissions", json=body)["submissions"]

        assert judged(http, HIS, post(HIS, one)[0]["url"])["message"] == "PASS"  # now everything is warm
        post(HERS, sleepers)
        while http.get("/healthz").json()["running"] < workers:
            time.sleep(0.05)
        seconds = []
        for _ in range(3):
            began = time.monotonic()
            assert judged(http, HIS, post(HIS, one)[0]["url"])["message"] == "PASS"
            seconds.append(time.monotonic() - began)
        assert max(seconds) < 10, seconds
        # Another token's sleepers take the express place while nobody else is waiting, and give it up.
        third = post("third-token-that-sleeps", sleepers[:5])
        while http.get("/healthz").json()["running"] < workers + 1:
            time.sleep(0.05)
        began = time.monotonic()
        assert judged(http, HIS, post(HIS, one)[0]["url"])["message"] == "PASS"
        assert time.monotonic() - began < 15
        # What was given up waits, with no fault and no verdict, and what sleeps elsewhere is still under way.
        given_up = ask(http, "third-token-that-sleeps", third[0]["url"])
        assert (given_up["message"], given_up["faults"]) == (None, 0)
        hers = ask(http, HERS, "/v1/submissions?limit=1000")["submissions"]
        assert [each["status"] for each in hers] == ["running"] * workers + ["queued"] * (300 - workers)


@pytest.mark.exhaustive
def test_what_was_given_up_is_judged_to_the_end_later(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(f"{HERS}\n{HIS}\nthird-token-of-somebody\n")
    options = ("--token-file", str(tmp_path / "tokens"), "--database", str(tmp_path / "q.sqlite"), "--grace", "0",
               "--workers", "1", "--timeout", "9", "--express", "1")  # fmt: skip
    with Process(*options) as server, httpx.Client(base_url=server.url, timeout=120) as http:

        def post(token: str, seconds: int) -> str:
            body = {"id": TASK, "patch": SLEEPER.format(0, seconds)}
            return str(ask(http, token, "/v1/submissions", json=body)["submissions"][0]["url"])

        post(HERS, 600), post(HERS, 601)
        while http.get("/healthz").json()["running"] < 1:
            time.sleep(0.05)
        longer = post("third-token-of-somebody", 5)  # within its limit, whatever it waits for
        while http.get("/healthz").json()["running"] < 2:
            time.sleep(0.05)
        time.sleep(1)
        assert judged(http, HIS, post(HIS, 0))["message"] == "FAIL"
        found = judged(http, "third-token-of-somebody", longer)
        assert (found["message"], found["faults"]) == ("FAIL", 0)  # it slept for 5 s and not until its limit


@pytest.mark.exhaustive
def test_a_server_judges_one_patch_while_hundreds_of_sleepers_of_another_token_wait(tmp_path: Path) -> None:
    hers, his = "token-of-whoever-sleeps", "token-of-whoever-works"
    (tmp_path / "tokens").write_text(f"{hers}\n{his}\n")
    sleepers = [{"id": TASK, "patch": SLEEPER.format(number, 4)} for number in range(300)]
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
