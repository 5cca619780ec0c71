"""Several servers on one queue: they serve the same tasks by the same terms, and what one dies over another judges."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

import repoassay
from repoassay.db import Database
from repoassay.engine import SubmissionEngine
from repoassay.engine.grading_context import GradingContext
from repoassay.errors import BadInput
from repoassay.server.metrics import PrometheusMetrics
from repoassay.server.queue import New, Queue, open_queue_database
from repoassay.server.register import ServerEntry
from repoassay.server.workers import Workers
from repoassay.tasks import TaskFolder
from server.serving import Process, solution

TASK = "edit-ledger-monthly"
TERMS = {"--feedback": "verdict", "--timeout": "None"}
FIRST = ServerEntry("first", "all", 4, {"a": "1", "b": "2"}, TERMS)


@pytest.fixture
def shared(postgres: str, tmp_path: Path) -> Iterator[Queue]:
    """A queue that servers can share."""
    database = open_queue_database(postgres, tmp_path, "")
    yield Queue(database)
    database.close()


def test_servers_with_other_tasks_or_terms_are_refused_with_a_sentence(shared: Queue) -> None:
    shared.servers.join(FIRST, 60)
    shared.servers.join(replace(FIRST, owner="subset", places=2, tasks={"b": "2", "c": "3"}), 60)
    assert shared.servers.places() == 6
    with pytest.raises(BadInput, match=r"another version of these tasks: b\. Give every server"):
        shared.servers.join(replace(FIRST, owner="other", tasks={"a": "1", "b": "x"}), 60)
    with pytest.raises(BadInput, match="--feedback verdict, this one with full"):
        shared.servers.join(replace(FIRST, owner="other", terms={**TERMS, "--feedback": "full"}), 60)
    shared.servers.leave("subset")
    assert shared.servers.places() == 4


@pytest.mark.long
def test_a_killed_server_counts_until_its_lease_has_ended(shared: Queue) -> None:
    shared.servers.join(FIRST, 0.5)
    other = replace(FIRST, owner="other", tasks={"a": "x"})
    shared.servers.renew("first", 60)
    time.sleep(0.6)
    with pytest.raises(BadInput):
        shared.servers.join(other, 60)
    shared.servers.renew("first", 0.5)
    time.sleep(0.6)
    assert shared.servers.places() == 0
    shared.servers.join(other, 60)


@pytest.mark.long
def test_what_was_handed_in_for_another_version_of_a_task_stops_a_server(queue: Queue) -> None:
    queue.add("h", [New("a", b"", task_digest="1"), New("z", b"", task_digest="9"), New("b", b"")], 10)
    with pytest.raises(BadInput, match="handed in for another version of these tasks: a"):
        queue.servers.join(replace(FIRST, tasks={"a": "2", "b": "5"}), 60)
    queue.servers.join(FIRST, 60)


def test_a_server_whose_file_is_its_own_forgets_the_one_before(tmp_path: Path) -> None:
    for tasks in ({"a": "1"}, {"a": "2"}):
        database = open_queue_database(None, tmp_path, "queue")
        Queue(database).servers.join(replace(FIRST, tasks=tasks), 60)
        database.close()


def test_answers_of_every_server_are_charged_and_outlast_the_restart(database: Database) -> None:
    queue = Queue(database)
    queue.add("h", [New("a", b"")] * 4, 10)
    counts = []
    for _ in range(3):
        claim = queue.claim("me", 60)
        assert claim and queue.finish(claim, "FAIL", "agent", "", "{}")
        counts.append(claim.answers)
    assert counts == [0, 1, 2] and queue.answers() == {"a": 3}


@pytest.mark.exhaustive
def test_a_submission_for_another_version_is_not_judged(
    shared: Queue, tasks: dict[str, TaskFolder], bench: GradingContext
) -> None:
    workers = Workers(shared, SubmissionEngine(tasks, bench, 1), PrometheusMetrics(), lambda ulid: None)
    workers.start()
    other = New(TASK, solution(TASK).encode(), task_digest="0" * 64)
    ((strange,), _), ((ours,), _) = shared.add("h", [other], 9), shared.add("h", [replace(other, task_digest=None)], 9)
    workers.wake()
    while (found := shared.get("h", ours.ulid)) is None or found.status != "done":
        time.sleep(0.05)
    workers.stop(30)
    found = shared.get("h", strange.ulid)
    assert found is not None and (found.status, found.faults, found.word) == ("queued", 0, None)


@pytest.mark.exhaustive
@pytest.mark.timeout(900)  # 24 verdicts, some of them begun again, on a machine that may be busy
def test_workers_that_are_killed_again_and_again_cost_no_verdict_and_give_none_twice(postgres: str) -> None:
    options = ("--queue", postgres, "--lease", "2")
    with contextlib.ExitStack() as stack:
        front = stack.enter_context(Process(*options, "--role", "front"))
        workers = [stack.enter_context(Process(*options, "--role", "worker")) for _ in range(2)]
        http = stack.enter_context(httpx.Client(base_url=front.url, timeout=90))
        assert http.get("/healthz").json()["places"] == 6  # two and an express place each
        assert httpx.get(f"{workers[0].url}/v1/submissions").status_code == 404
        assert b"repoassay_places 6.0" in httpx.get(f"{workers[0].url}/metrics").content
        patches = {"PASS": solution(TASK), "PATCH FAILED": "--- a/no\n+++ b/no\n@@ -1 +1 @@\n-a\n+b\n"}
        wanted: dict[str, str] = {}
        for number in range(24):
            message = "PASS" if number % 4 else "PATCH FAILED"
            given = {"id": TASK, "patch": patches[message], "key": f"{number}"}
            (accepted,) = http.post("/v1/submissions", json=given).json()["submissions"]
            wanted[accepted["submission"]] = message
        for kill in range(3):
            until = time.monotonic() + 60
            while http.get("/healthz").json()["running"] == 0 and time.monotonic() < until:
                time.sleep(0.02)
            time.sleep(random.uniform(0.1, 0.6))
            workers[kill % 2].kill()
            workers[kill % 2] = stack.enter_context(Process(*options, "--role", "worker"))
        for ulid, message in wanted.items():
            while (found := http.get(f"/v1/submissions/{ulid}", params={"wait": 60}).json())["status"] != "done":
                pass
            assert (found["message"], found["faults"]) == (message, 0)
        told = [json.loads(line)["submission"] for line in http.get("/v1/results").iter_lines() if line]
        assert sorted(told) == sorted(wanted)
        assert [each.stop() for each in (*workers, front)] == [0, 0, 0]


@pytest.mark.exhaustive
def test_a_worker_with_another_data_set_is_refused_at_its_start(postgres: str, tmp_path: Path) -> None:
    other = tmp_path / "suite"
    shutil.copytree(Path(repoassay.__file__).parent / "benchmarks/starter/suite", other)
    test = next((other / "tasks" / TASK / "tests").rglob("*.py"))
    test.write_text(test.read_text() + "\n# changed\n")
    program = str(Path(sys.executable).with_name("repoassay"))
    line = [program, "serve", "--suite", str(other), "--queue", postgres, "--role", "worker", "--port", "0"]
    with Process("--queue", postgres, "--role", "front"):
        done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        assert "another version of these tasks" in done.stderr and TASK in done.stderr


@pytest.mark.by_day(1)
@pytest.mark.parametrize("role", ["front", "worker"])
@pytest.mark.long
def test_a_file_cannot_be_shared(role: str, tmp_path: Path) -> None:
    program = str(Path(sys.executable).with_name("repoassay"))
    line = [program, "serve", "--suite", "starter", "--queue", str(tmp_path / "q.sqlite"), "--role", role]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "--queue postgresql://" in done.stderr
