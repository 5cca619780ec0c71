"""Judging what waits: verdicts as offline, faults of ours tried again and labelled, stopping without losing any."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.server.metrics import PrometheusMetrics
from repoassay.server.places import WorkerSettings
from repoassay.server.queue import Counts, New, Queue, StoredSubmission
from repoassay.server.workers import Workers
from repoassay.tasks import TaskFolder
from repoassay.types import Verdict
from server.serving import solution
from waiting import wait_until

pytestmark = pytest.mark.exhaustive

TASK = "edit-ledger-account-prefix"
Tasks = dict[str, TaskFolder]


@contextmanager
def working(queue: Queue, tasks: Tasks, bench: GradingContext, lease: float = 20.0) -> Iterator[Workers]:
    workers = Workers(
        queue, SubmissionEngine(tasks, bench, 2), PrometheusMetrics(), lambda ulid: None, WorkerSettings(lease)
    )
    workers.start()
    try:
        yield workers
    finally:
        workers.stop(30)


def done(queue: Queue, ulid: str) -> StoredSubmission:
    wait_until(lambda: (found := queue.get("", ulid)) is not None and found.status == "done")
    found = queue.get("", ulid)
    assert found is not None and found.verdict is not None
    return found


def add(queue: Queue, task: str, patch: str) -> str:
    ((stored,), _) = queue.add("", [New(task, patch.encode())], 100)
    return stored.ulid


def test_verdicts_are_those_of_the_engine(
    queue: Queue, tasks: Tasks, bench: GradingContext, engine: SubmissionEngine
) -> None:
    given = {
        add(queue, TASK, patch): patch
        for patch in (solution(TASK), "", "no diff", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    }
    with working(queue, tasks, bench):
        found = {ulid: done(queue, ulid) for ulid in given}
    assert sorted(str(each.word) for each in found.values())[0] == "PASS"
    for ulid, patch in given.items():
        offline = engine.grade(TASK, patch).verdict
        kept = Verdict.model_validate_json(found[ulid].verdict or "")
        assert (kept.outcome, kept.comments) == (offline.outcome, offline.comments)
        assert [(each.id, each.outcome) for each in kept.tests] == [(each.id, each.outcome) for each in offline.tests]
        assert found[ulid].whose == "agent"
    assert queue.counts() == Counts(0, 0)


def test_a_fault_of_ours_is_tried_three_times_and_labelled(
    queue: Queue, tasks: Tasks, bench: GradingContext, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ulid = add(queue, TASK, solution(TASK))
    with working(queue, tasks, replace(bench, repositories=tmp_path / "absent")) as workers:
        found = done(queue, ulid)
        assert b"repoassay_faults_total 3.0" in workers.meters.text(queue.counts(), 2)
    assert (found.word, found.whose, found.faults) == ("ERROR", "ours", 2)
    assert json.loads(found.verdict or "")["outcome"] == "infra_fault"
    assert "could not be judged" in str(found.feedback)
    assert not [text for text in (found.feedback, found.verdict) if str(tmp_path) in str(text)]  # the log has it
    assert str(tmp_path / "absent") in caplog.text


def test_what_ends_server_after_server_is_a_fault_and_not_tried_for_ever(
    queue: Queue, tasks: Tasks, bench: GradingContext
) -> None:
    ulid = add(queue, TASK, solution(TASK))
    for _ in range(8):
        assert queue.claim("doomed", 60)
        queue.recover(everything=True)
    with working(queue, tasks, bench):
        found = done(queue, ulid)
    assert (found.word, found.whose) == ("ERROR", "ours")
    assert "ended 8 times" in str(found.feedback)


def test_what_only_other_servers_know_is_left_to_them(queue: Queue, tasks: Tasks, bench: GradingContext) -> None:
    strange, known = add(queue, "elsewhere", ""), add(queue, TASK, "")
    with working(queue, tasks, bench):
        done(queue, known)
        wait_until(lambda: queue.counts() == Counts(1, 0))
    found = queue.get("", strange)
    assert found is not None and (found.status, found.faults) == ("queued", 0)


def test_what_is_under_way_is_put_back_when_we_must_stop_at_once(
    queue: Queue, tasks: Tasks, bench: GradingContext
) -> None:
    ulids = [add(queue, TASK, solution(TASK)) for _ in range(12)]
    workers = Workers(queue, SubmissionEngine(tasks, bench, 2), PrometheusMetrics(), lambda ulid: None)
    workers.start()
    wait_until(lambda: queue.counts().running > 0)
    workers.stop(0)
    counts = queue.counts()
    assert counts.running == 0 and counts.queued > 0
    with working(queue, tasks, bench):
        assert all(done(queue, ulid).word == "PASS" for ulid in ulids)
    assert len(queue.results("", 0, 100)) == len(ulids)


def test_stopping_in_good_time_finishes_what_is_under_way(queue: Queue, tasks: Tasks, bench: GradingContext) -> None:
    for _ in range(6):
        add(queue, TASK, solution(TASK))
    workers = Workers(queue, SubmissionEngine(tasks, bench, 2), PrometheusMetrics(), lambda ulid: None)
    workers.start()
    wait_until(lambda: queue.counts().running > 0)
    assert workers.stop(60) == 0
    counts = queue.counts()
    assert counts.running == 0 and counts.queued + len(queue.results("", 0, 100)) == 6


def test_a_lease_is_kept_for_as_long_as_it_takes(queue: Queue, tasks: Tasks, bench: GradingContext) -> None:
    ulids = [add(queue, TASK, solution(TASK)) for _ in range(4)]
    over = threading.Event()
    taken = []

    def rob() -> None:
        while not over.wait(0.05):
            taken.append(queue.recover())

    robber = threading.Thread(target=rob)
    robber.start()
    with working(queue, tasks, bench, lease=3):
        for ulid in ulids:
            done(queue, ulid)
    over.set()
    robber.join()
    assert sum(taken) == 0
