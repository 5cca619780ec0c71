"""The queue's promises, on both databases: nothing lost, nothing judged twice for good, nothing overwritten."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.server.queue import Claim, Counts, KeyTaken, New, Queue, QueueFull, open_queue_database

MANY = 10**6


def add(queue: Queue, count: int = 1, holder: str = "") -> list[str]:
    stored, _ = queue.add(holder, [New(f"task-{number}", b"\0\xff") for number in range(count)], MANY)
    return [each.ulid for each in stored]


def claim(queue: Queue, owner: str = "me", lease: float = 60) -> Claim:
    found = queue.claim(owner, lease)
    assert found is not None
    return found


def finish(queue: Queue, given: Claim, word: str = "PASS") -> bool:
    return queue.finish(given, word, "agent", "", '{"word": "' + word + '"}')


def test_what_was_added_is_claimed_in_order_and_judged_once(queue: Queue) -> None:
    ulids = add(queue, 3)
    assert queue.counts() == Counts(3, 0)
    claims = [claim(queue) for _ in ulids]
    assert [each.ulid for each in claims] == ulids
    assert claims[0].patch == b"\0\xff"
    assert queue.claim("me", 60) is None
    assert queue.counts() == Counts(0, 3)
    assert finish(queue, claims[1])
    assert not finish(queue, claims[1], "FAIL")
    done = queue.get("", ulids[1])
    assert done is not None and (done.status, done.word, done.number) == ("done", "PASS", 1)
    assert queue.counts() == Counts(0, 2)
    assert queue.tasks() == {"task-0", "task-2"}


def test_a_lapsed_claim_is_put_back_and_its_verdict_comes_too_late(queue: Queue) -> None:
    (ulid,) = add(queue)
    late = claim(queue, "slow", lease=-1)
    assert queue.recover() == 1
    assert not finish(queue, late, "FAIL")
    queue.put_back(late)  # not its to put back either
    again = claim(queue, "other")
    assert again.claims == 2
    assert not finish(queue, late, "FAIL")
    assert finish(queue, again)
    found = queue.get("", ulid)
    assert found is not None and found.word == "PASS"


def test_the_same_owner_cannot_finish_an_older_claim(queue: Queue) -> None:
    add(queue)
    first = claim(queue, lease=-1)
    queue.recover()
    second = claim(queue)
    assert not finish(queue, first, "FAIL")
    assert finish(queue, second)


def test_a_renewed_lease_of_a_live_server_is_not_taken(queue: Queue) -> None:
    add(queue, 2)
    live, dead = claim(queue, "live", lease=-1), claim(queue, "dead", lease=-1)
    queue.renew("live", 60)
    assert queue.recover() == 1
    assert claim(queue, "other").ulid == dead.ulid
    assert finish(queue, live)


def test_everything_is_put_back_when_whoever_had_it_is_known_to_be_dead(queue: Queue) -> None:
    add(queue, 2)
    claim(queue), claim(queue)
    assert queue.recover() == 0
    assert queue.recover(everything=True) == 2
    assert queue.counts() == Counts(2, 0)


def test_put_back_counts_faults_and_waits(queue: Queue) -> None:
    (ulid,) = add(queue)
    queue.put_back(claim(queue), fault=True)
    second = claim(queue)
    assert (second.faults, second.claims) == (1, 2)
    queue.put_back(second)  # because we stop: not counted
    third = claim(queue)
    assert (third.faults, third.claims) == (1, 2)
    queue.put_back(third, fault=True, delay=60)
    assert queue.claim("me", 60) is None
    found = queue.get("", ulid)
    assert found is not None and (found.status, found.faults) == ("queued", 2)


def test_release_puts_back_only_what_is_ours(queue: Queue) -> None:
    add(queue, 2)
    claim(queue, "me"), claim(queue, "other")
    assert queue.release("me") == 1
    assert queue.counts() == Counts(1, 1)


def test_a_key_is_answered_with_the_same_submission(queue: Queue) -> None:
    new = New("task", b"patch", "", "key")
    (first,), count = queue.add("a", [new], MANY)
    assert count == 1
    (second,), count = queue.add("a", [new], MANY)
    assert (first.ulid, count) == (second.ulid, 0)
    (other,), count = queue.add("b", [new], MANY)  # another's key is another key
    assert other.ulid != first.ulid and count == 1
    stored, count = queue.add("a", [New("t", b"", "", "twice"), New("t", b"", "", "twice"), new], MANY)
    assert len({each.ulid for each in stored}) == 2 and count == 1
    for different in (New("task", b"other", "", "key"), New("other", b"patch", "", "key")):
        with pytest.raises(KeyTaken) as caught:
            queue.add("a", [New("t", b""), different], MANY)
        assert caught.value.ulid == first.ulid
    assert queue.counts().queued == 3  # a list is taken as a whole or not at all


def test_the_limit_holds_and_known_keys_need_no_room(queue: Queue) -> None:
    queue.add("", [New("t", b"", "", "known")], 2)
    with pytest.raises(QueueFull):
        queue.add("", [New("t", b""), New("t", b"")], 2)
    assert queue.counts().queued == 1
    queue.add("", [New("t", b""), New("t", b"", "", "known")], 2)
    queue.add("", [New("t", b"", "", "known")], 2)
    claim(queue)
    queue.add("", [New("t", b"")], 2)  # what is under way does not wait


def test_holders_see_only_their_own(queue: Queue) -> None:
    (mine,), (theirs,) = add(queue, holder="a"), add(queue, holder="b")
    finish(queue, claim(queue)), finish(queue, claim(queue))
    assert queue.get("a", theirs) is None
    assert [each.ulid for each in queue.page("a", None, 10)] == [mine]
    assert [each.ulid for each in queue.results("b", 0, 10)] == [theirs]


def test_pages_follow_each_other(queue: Queue) -> None:
    ulids = add(queue, 5)
    first = queue.page("", None, 2)
    rest = queue.page("", first[-1].ulid, 10)
    assert [each.ulid for each in first + rest] == ulids
    assert queue.page("", "0" * 26, 10) == []


def test_results_come_in_the_order_of_their_verdicts(queue: Queue) -> None:
    add(queue, 4)
    claims = [claim(queue) for _ in range(4)]
    order = [claims[number] for number in (2, 0, 3, 1)]
    for each in order:
        finish(queue, each)
    found = queue.results("", 0, 10)
    assert [each.ulid for each in found] == [each.ulid for each in order]
    assert queue.results("", found[1].number or 0, 10) == found[2:]


def both(queue: Queue, action: Callable[[Queue], None], other: Queue) -> None:
    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(action, queue if number % 2 else other) for number in range(8)]:
            future.result()


def test_two_servers_on_one_database_judge_each_submission_once(postgres: str, tmp_path: Path) -> None:
    one, two = (Queue(open_queue_database(postgres, tmp_path, "")) for _ in range(2))
    judged: Counter[str] = Counter()
    lock = threading.Lock()

    def work(queue: Queue) -> None:
        add(queue, 10)
        while found := queue.claim(f"{id(queue)}", 60):
            assert finish(queue, found)
            with lock:
                judged[found.ulid] += 1

    both(one, work, two)
    work(one)
    assert set(judged.values()) == {1} and len(judged) == 90
    told = one.results("", 0, 1000)
    assert sorted(each.ulid for each in told) == sorted(judged)
    one.database.close()
    two.database.close()


@pytest.mark.long
def test_a_reader_of_results_misses_none_while_two_servers_write(postgres: str, tmp_path: Path) -> None:
    one, two, reader = (Queue(open_queue_database(postgres, tmp_path, "")) for _ in range(3))
    ulids = add(one, 120)
    seen: list[str] = []

    def read() -> None:
        cursor = 0
        until = time.monotonic() + 30
        while len(seen) < len(ulids) and time.monotonic() < until:
            for each in reader.results("", cursor, 7):
                cursor = each.number or 0
                seen.append(each.ulid)

    thread = threading.Thread(target=read)
    thread.start()

    def work(queue: Queue) -> None:
        while found := queue.claim("me", 60):
            finish(queue, found)

    both(one, work, two)
    thread.join()
    assert sorted(seen) == sorted(ulids)
    for each in (one, two, reader):
        each.database.close()


def test_a_lost_connection_is_opened_again(postgres: str, tmp_path: Path) -> None:
    import psycopg

    from repoassay.errors import Unavailable

    queue = Queue(open_queue_database(postgres, tmp_path, ""))
    add(queue)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with pytest.raises(Unavailable):
        add(queue)
    add(queue)
    assert queue.counts().queued == 2
    queue.database.close()


def test_a_file_belongs_to_one_server(tmp_path: Path) -> None:
    held = open_queue_database(None, tmp_path, "suite")
    with pytest.raises(BadInput, match="Another server is using the queue"):
        open_queue_database(str(tmp_path / "suite.sqlite"), tmp_path, "")
    held.close()
    open_queue_database(f"sqlite:///{tmp_path / 'suite.sqlite'}", tmp_path, "").close()


@pytest.mark.parametrize("given", ["mysql://host/name", "http://", "/dev/null/queue", "\0"])
def test_no_database_is_a_sentence(given: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        open_queue_database(given, tmp_path, "")


def test_a_file_that_is_no_database_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, and longer than a header of one would have to be" * 20)
    with pytest.raises(BadInput, match="cannot be opened"):
        open_queue_database(str(tmp_path / "notes.txt"), tmp_path, "")


def test_another_versions_queue_is_refused(database: Database) -> None:
    Queue(database)
    with database.writing() as run:
        run.exec_driver_sql("UPDATE repoassay_schema SET version = 99")
    with pytest.raises(BadInput, match=r"another version.* 99, .* up to 5\..*pip install --upgrade"):
        Queue(database)
