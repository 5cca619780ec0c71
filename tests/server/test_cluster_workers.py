"""A server whose submissions are judged by nodes: places that come and go with them, and a cluster that is lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from repoassay.engine import GradingContext, SubmissionEngine
from repoassay.server.metrics import PrometheusMetrics
from repoassay.server.places import WorkerSettings
from repoassay.server.queue import New, Queue, StoredSubmission, open_queue_database
from repoassay.server.workers import Workers
from repoassay.tasks import TaskFolder
from server.serving import SLEEPER, Process, solution
from unreliable_nodes import ElasticExecutor
from waiting import wait_until

TASK = "edit-ledger-account-prefix"
ELASTIC, LOSING = "unreliable_nodes:ElasticExecutor", "unreliable_nodes:LosingExecutor"


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[Queue]:
    database = open_queue_database(None, tmp_path, "queue")
    yield Queue(database)
    database.close()


@contextmanager
def judged(queue: Queue, engine: SubmissionEngine, express: float = 0.0) -> Iterator[Workers]:
    workers = Workers(queue, engine, PrometheusMetrics(), lambda ulid: None, WorkerSettings(4.0, express=express))
    workers.start()
    try:
        yield workers
    finally:
        workers.stop(30)


def add(queue: Queue, *patches: str) -> list[str]:
    return [each.ulid for each in queue.add("", [New(TASK, patch.encode()) for patch in patches], 100)[0]]


def done(queue: Queue, ulid: str) -> StoredSubmission:
    def settled() -> bool:
        found = queue.get("", ulid)
        return found is not None and found.status == "done"

    wait_until(settled)
    found = queue.get("", ulid)
    assert found is not None
    return found


def test_lost_nodes_cost_no_verdict(waiting: Queue, tasks: dict[str, TaskFolder], bench: GradingContext) -> None:
    ulids = add(waiting, solution(TASK), "no diff", solution(TASK), "")
    with judged(waiting, SubmissionEngine(tasks, bench, 2, executor=LOSING)):
        found = [done(waiting, ulid) for ulid in ulids]
    assert [each.word for each in found] == ["PASS", "PATCH FAILED", "PASS", "PATCH FAILED"]
    assert not any(each.faults for each in found)


@pytest.mark.long
def test_places_follow_the_nodes_and_the_express_place_stays(
    waiting: Queue, tasks: dict[str, TaskFolder], bench: GradingContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    with judged(waiting, SubmissionEngine(tasks, bench, executor=ELASTIC), express=5.0):
        assert waiting.servers.places() == 2  # one of them the express place, however few nodes there are
        for workers in (4, 1, 3):
            monkeypatch.setattr(ElasticExecutor, "workers", workers)
            wait_until(lambda: waiting.servers.places() == max(ElasticExecutor.workers, 2))
        named = [thread.name for thread in threading.enumerate() if thread.name.startswith("judge-")]
        assert len(named) == 3


def test_when_the_cluster_is_lost_everything_waits_for_the_next_start(
    waiting: Queue, tasks: dict[str, TaskFolder], bench: GradingContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ElasticExecutor, "gone", True)
    ulids = add(waiting, *[solution(TASK)] * 3)
    with judged(waiting, SubmissionEngine(tasks, bench, executor=ELASTIC)) as workers:
        wait_until(lambda: workers.stopping)
        assert "The cluster was left" in workers.lost
    kept = [waiting.get("", ulid) for ulid in ulids]
    assert [(each.status, each.faults) for each in kept if each] == [("queued", 0)] * 3


@pytest.mark.long
def test_a_server_that_lost_its_cluster_ends_with_a_sentence(tmp_path: Path) -> None:
    plugin = tmp_path / "leaving.py"
    plugin.write_text(
        "from unreliable_nodes import ElasticExecutor\n\nclass Leaving(ElasticExecutor):\n"
        "    def open(self, setup, workers):\n        ElasticExecutor.gone = True\n"
        "        return super().open(setup, workers)\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split()])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        server = Process("--database", str(tmp_path / "queue.sqlite"), "--executor", "leaving:Leaving")
    with server:
        given = httpx.post(f"{server.url}/v1/submissions", json={"id": TASK, "patch": ""})
        assert given.status_code == 202, given.text
        assert server.process.wait(60) == 3
        server._reader.join(10)
    assert "nobody judges any more. The cluster was left." in "".join(server.log)


@pytest.mark.exhaustive
def test_on_ray_nobody_waits_behind_the_sleepers_of_another(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    hers, his = "token-of-whoever-sleeps", "token-of-whoever-works"
    (tmp_path / "tokens").write_text(f"{hers}\n{his}\n")
    sleepers = [{"id": TASK, "patch": SLEEPER.format(number, 20)} for number in range(30)]
    options = ("--token-file", str(tmp_path / "tokens"), "--database", str(tmp_path / "q.sqlite"), "--grace", "0",
               "--executor", "ray", "--express", "2")  # fmt: skip
    with Process(*options) as server, httpx.Client(base_url=server.url, timeout=120) as http:

        def post(token: str, body: Any) -> list[Any]:
            answer = http.post("/v1/submissions", json=body, headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == 202, answer.text
            found: list[Any] = answer.json()["submissions"]
            return found

        post(hers, sleepers)
        wait_until(lambda: http.get("/healthz").json()["running"] >= 1)
        (one,) = post(his, {"id": TASK, "patch": solution(TASK)})
        found = http.get(one["url"], params={"wait": 30}, headers={"Authorization": f"Bearer {his}"}).json()
        assert found["message"] == "PASS", found
        assert http.get("/healthz").json()["queued"] >= 25
        assert server.stop() == 0
