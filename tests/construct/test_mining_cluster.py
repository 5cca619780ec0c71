"""Mining by nodes: the tasks and rows of one machine, lost nodes, answers that are none, and what nodes cannot do."""

from __future__ import annotations

import io
import tarfile
import threading
from pathlib import Path
from typing import Any

import pytest

from construct.making import CODE, Repo, make_repo
from fake_slurm import FakeSlurm, fake_slurm
from repoassay.construct import (
    CommitStatus,
    InstructionRewriter,
    MinedCommit,
    MiningReport,
    MiningRequest,
    mine_histories,
)
from repoassay.construct.mining.cluster import MinedAnswer
from repoassay.errors import BadInput, Unavailable
from repoassay.sandbox import Cache, Sandbox
from repoassay.tasks import find_suite
from repoassay.workspace import release_lines  # noqa: F401  # asked by the mark, as a test starts
from unreliable_nodes import ElasticExecutor, LyingExecutor

__all__ = ["fake_slurm"]

LOCAL, LOSING, LYING, ELASTIC = (
    "repoassay.executors.local:LocalExecutor", "unreliable_nodes:LosingExecutor", "unreliable_nodes:LyingExecutor",
    "unreliable_nodes:ElasticExecutor",
)  # fmt: skip
BROKEN = CODE + "\n\ndef average(prices):\n    return total(prices) / 2\n"
REPAIRED = CODE + "\n\ndef average(prices):\n    return total(prices) / len(prices)\n"
TEST = "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2]) == 3\n"
AVERAGE_TEST = TEST + "\n\ndef test_average():\n    assert shop.average([1, 3, 5]) == 3\n"
needs_python = pytest.mark.skipif(
    "not release_lines()", reason="this machine has no Python of uv or pyenv to make an environment of"
)


@pytest.fixture
def market(tmp_path: Path) -> Repo:
    """A history with a fix, and a fix whose test passes before."""
    repo = make_repo(tmp_path / "market")
    repo.commit({"shop.py": BROKEN, "tests/test_shop.py": TEST, "LICENSE": ""}, "Start")
    repo.commit({"shop.py": REPAIRED, "tests/test_shop.py": AVERAGE_TEST},
                "Fix the average of three prices\n\nOf [1, 3, 5] it came out as 4.5, and should be 3.")  # fmt: skip
    repo.git("tag", "v1.0")
    more = AVERAGE_TEST + "\n\ndef test_none():\n    assert shop.total([]) == 0\n"
    repo.commit({"shop.py": REPAIRED.replace("sum(prices)", "sum(prices, 0)"), "tests/test_shop.py": more},
                "Handle an empty list of prices in the total of a shop")  # fmt: skip
    return repo


def mined(
    repo: Repo, suite: Path, cache: Cache, sandbox: Sandbox, executor: str, cancel: threading.Event | None = None
) -> MiningReport:
    request = MiningRequest(proofs=1)
    return mine_histories([str(repo.path)], suite, cache, sandbox, request, executor=executor, cancel=cancel)


def told(report: MiningReport) -> list[MinedCommit]:
    return sorted((row.model_copy(update={"seconds": 0.0}) for row in report.rows), key=lambda row: row.commit)


@needs_python
@pytest.mark.exhaustive
def test_nodes_make_the_tasks_that_one_machine_makes(
    market: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox, fake_slurm: FakeSlurm
) -> None:
    here = mined(market, tmp_path / "suite", cache, sandbox, "local")
    assert [row.status for row in told(here) if row.subject.startswith("Fix")] == [CommitStatus.TASK]
    (folder,) = find_suite(tmp_path / "suite").tasks
    for executor in (LOCAL, LOSING, "slurm://2"):
        place = tmp_path / executor.rpartition(":")[2].strip("/") / "suite"
        there = mined(market, place, cache, sandbox, executor)
        assert told(there) == told(here)
        (sent,) = find_suite(place).tasks
        assert sent.digest == folder.digest
        assert not [path for path in place.iterdir() if path.name.startswith(".part")]
        assert mined(market, place, cache, sandbox, executor).plan.size == 0  # nothing is left to try


def archive(name: str) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as stream:
        stream.addfile(tarfile.TarInfo(name), io.BytesIO())
    return target.getvalue()


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"files": archive("../../run.json")}, "outside of its folder"),
        ({"files": archive("task.toml")}, "task that is none"),
        ({"files": b"no archive"}, "no tree of files"),
        ({"commit": "1" * 40}, "another commit"),
        ({"status": CommitStatus.WAITING}, "another commit"),
    ],
    ids=["outside", "another file", "no archive", "another commit", "not tried"],
)
def test_what_is_no_task_of_the_commit_is_a_fault_and_nothing_is_left_of_it(
    market: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch,
    change: dict[str, Any], why: str,
) -> None:  # fmt: skip
    def lie(answer: MinedAnswer) -> MinedAnswer:
        row = answer.row.model_copy(update={"status": CommitStatus.TASK, "cause": "", "task": "../../elsewhere"})
        lies = {"row": row.model_copy(update=change)} if "files" not in change else {"row": row, **change}
        return answer.model_copy(update=lies)

    def refuse(*given: object, **more: object) -> object:
        raise BadInput("Nothing is proven here.")  # what is sent does not depend on it

    monkeypatch.setattr("repoassay.construct.commit.TaskMaking.in_place", refuse)
    monkeypatch.setattr(LyingExecutor, "lie", staticmethod(lie))
    suite = tmp_path / "suite"
    report = mined(market, suite, cache, sandbox, LYING)
    assert [row.status for row in report.tried] == [CommitStatus.FAULT] * 2
    assert all(why in row.reason for row in report.tried)
    assert {path.name for path in suite.iterdir()} == {"README.md", "mine.jsonl", "suite.toml", "tasks", ".lock"}
    assert not list((suite / "tasks").iterdir())


def test_a_lost_cluster_ends_the_command_and_keeps_what_waits(
    market: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ElasticExecutor, "gone", True)
    with pytest.raises(Unavailable, match="The cluster was left"):
        mined(market, tmp_path / "suite", cache, sandbox, ELASTIC)
    cancel = threading.Event()
    cancel.set()
    report = mined(market, tmp_path / "suite", cache, sandbox, ELASTIC, cancel)
    assert report.stopped and not report.tried
    assert sum(row.status is CommitStatus.WAITING for row in report.rows) == 2


def test_what_nodes_cannot_do_is_said_before_anything_is_written(
    market: Repo, tmp_path: Path, cache: Cache, sandbox: Sandbox
) -> None:
    rewriter = InstructionRewriter("scripted/any", None)  # type: ignore[arg-type]
    asked = [
        (LOCAL, {"mirrors": {"https://example.org/a": "."}}, "--mirror"), (LOCAL, {"rewrite": rewriter}, "--rewrite"),
        ("slurm://host", {}, "which nodes Slurm is asked for"), ("rya", {}, "no executor"),
    ]  # fmt: skip
    for executor, more, why in asked:
        request = MiningRequest(**more)  # type: ignore[arg-type]
        with pytest.raises(BadInput, match=why):
            mine_histories([str(market.path)], tmp_path / "suite", cache, sandbox, request, executor=executor)
    assert not (tmp_path / "suite").exists()
