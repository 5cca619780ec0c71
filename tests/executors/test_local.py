"""This machine as a cluster of one node, and executors by name."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from counting_work import counting_setup, question
from demo_set import demo_tasks
from repoassay.engine.answer import word
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submit import SubmissionEngine
from repoassay.errors import BadInput, MissingExtra, Unavailable
from repoassay.executors import CacheParcel, NodeJob, find_executor, is_executor, pack_tree
from repoassay.records import VerdictCache
from repoassay.sandbox import Cache, open_sandbox
from repoassay.types import Outcome


def test_every_job_is_answered_once_with_its_parcels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPOASSAY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "file").write_text("sent")
    packed: list[int] = []

    def pack() -> bytes:
        packed.append(1)
        return pack_tree({"file": tmp_path / "file"})

    cluster = find_executor("local").open(counting_setup(), 2)
    try:
        jobs = [question(number, parcel="things/key") for number in range(20)]
        jobs = [NodeJob(job.record, job.warmth, (CacheParcel("things", "key", pack),)) for job in jobs]
        answers = [future.result(30) for future in [cluster.submit(job) for job in jobs]]
        assert [answer.number for answer in answers] == list(range(20))
        assert {answer.content for answer in answers} == {"sent"} and len(packed) == 1
        with pytest.raises(BadInput, match="7 is no number"):
            cluster.submit(question(7, fail="refuse")).result(30)
        cancel = threading.Event()
        slow = cluster.submit(question(1, seconds=60.0), cancel)
        cancel.set()
        assert slow.result(10).given_up
    finally:
        cluster.close()


def test_names_and_addresses_of_executors() -> None:
    assert is_executor("local") and is_executor("ray") and is_executor("ray://127.0.0.1:6379")
    assert not is_executor("rya")
    for name in ("rya", "ray://", "local://here"):
        with pytest.raises(BadInput):
            find_executor(name)


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:99999"])
def test_an_address_that_is_none_is_said_at_once(address: str) -> None:
    pytest.importorskip("ray")
    with pytest.raises(BadInput, match="no address of a Ray cluster"):
        find_executor(f"ray://{address}").open(counting_setup(), 1)


def test_where_no_cluster_listens_is_said_at_once() -> None:
    pytest.importorskip("ray")
    with pytest.raises(Unavailable, match=r"no Ray cluster at 127\.0\.0\.1:9: .*refused"):
        find_executor("ray://127.0.0.1:9").open(counting_setup(), 1)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"repoassay\[ray\]"):
        find_executor("ray").open(counting_setup(), 1)


@pytest.mark.long
def test_submissions_are_judged_through_records_as_they_are_without(tmp_path: Path) -> None:
    """The seam alone, in one process: the same verdicts, remembered and told as without."""
    name = "toolz-keyrename"
    tasks = {name: demo_tasks(tmp_path)[name]}
    patches = [(tasks[name].solution / "changes.diff").read_text(), "", "garbage"]
    cache = Cache()
    bench = GradingContext(None, cache, open_sandbox("namespaces", cache))
    known = VerdictCache(tmp_path / "verdicts.sqlite")
    with (
        SubmissionEngine(tasks, bench, 1) as plain,
        SubmissionEngine(tasks, bench, 1, known, executor="repoassay.executors.local:LocalExecutor") as through,
    ):
        expected = [plain.grade(name, patch) for patch in patches]
        answers = list(through.grade_many([(name, patch) for patch in patches]))
        again = list(through.grade_many([(name, patch) for patch in patches]))
        assert [word(each.verdict) for each in answers] == ["PASS", "PATCH FAILED", "PATCH FAILED"]
        for one, other in zip(expected, answers, strict=True):
            differing = {"graded_at", "seconds", "tests", "assurance"}
            assert one.verdict.model_dump(exclude=differing) == other.verdict.model_dump(exclude=differing)
            assert [(test.id, test.outcome) for test in one.verdict.tests] == [
                (test.id, test.outcome) for test in other.verdict.tests
            ]
        assert all(each.cached for each in again)
        assert [each.verdict.outcome for each in through.grade_many([(name, b"\xff\x00")])] == [Outcome.PATCH_FAILED]
        with pytest.raises(BadInput, match="no task"):
            through.grade("toolz", "")
