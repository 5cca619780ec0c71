"""Attempts of a run made by nodes: as on one machine, when nodes are lost, and when they lie."""

from __future__ import annotations

import io
import json
import tarfile
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from engine.metering import PRICES, SOLVE, Watching, plan_run, said, shell
from repoassay.engine import all_slots, execute
from repoassay.engine.attempt_cluster import AttemptAnswer, check_executor
from repoassay.engine.budget_shares import BudgetShares, lost_shares
from repoassay.engine.resumption import resume_run
from repoassay.errors import BadInput, InfraFault, RepoAssayError
from repoassay.executors import pack_files, unpack_files
from repoassay.records import RunFolder
from repoassay.types import Outcome, Spending
from unreliable_nodes import LyingExecutor

LOCAL, LOSING, LYING = (
    "repoassay.executors.local:LocalExecutor", "unreliable_nodes:LosingExecutor", "unreliable_nodes:LyingExecutor",
)  # fmt: skip
TURNS = [shell(SOLVE), said()]


def events(run: RunFolder) -> Counter[str]:
    return Counter(str(event["event"]) for event in run.events())


@pytest.mark.long
def test_an_attempt_on_a_node_leaves_what_one_here_leaves(tmp_path: Path) -> None:
    found = []
    for executor in ("local", LOCAL):
        run, suite = plan_run(tmp_path, TURNS, attempts=2)
        execute(run, suite, all_slots(run), Watching(), executor=executor, node_workers=2)
        attempts = list(run.finished())
        assert [each.verdict.outcome for each in attempts] == [Outcome.PASSED] * 2
        assert all(each.attempt.spent and each.attempt.spent.calls == 2 for each in attempts)
        files = {path.relative_to(attempts[0].folder) for path in attempts[0].folder.rglob("*")}
        found.append((files, attempts[0].attempt.submission.files, events(run)))
    assert found[0] == found[1]


@pytest.mark.long
def test_a_lost_node_costs_its_attempts_which_are_made_again_as_new_ones(tmp_path: Path) -> None:
    run, suite = plan_run(tmp_path, TURNS, attempts=4)
    execute(run, suite, all_slots(run), Watching(), executor=LOSING)
    assert events(run) == {"started": 6, "dropped": 2, "finished": 4}
    attempts = list(run.finished())
    assert sorted(each.attempt.number for each in attempts) == [1, 2, 3, 4]
    assert {each.verdict.outcome for each in attempts} == {Outcome.PASSED}
    assert resume_run(run, Watching(), executor=LOCAL).left == 0


def archive(name: str, kind: bytes = tarfile.REGTYPE, leads_to: str = "") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as stream:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, leads_to
        stream.addfile(member, io.BytesIO())
    return target.getvalue()


@pytest.mark.by_day(3)
@pytest.mark.parametrize(
    "change",
    [
        {"files": archive("attempt.json")},
        {"files": archive("verdict.1.json")},
        {"files": archive(".lock")},
        {"files": archive("../../run.json")},
        {"files": archive("submission/totals.csv")},
        {"files": archive("submission", tarfile.SYMTYPE, "/etc")},
        {"files": archive("hard", tarfile.LNKTYPE, "/etc/passwd")},
        {"files": archive("pipe", tarfile.FIFOTYPE)},
        {"files": archive("sparse", tarfile.GNUTYPE_SPARSE)},
        {"files": b"no archive"},
        {"task": "another-task"},
    ],
    ids=str,
)
def test_what_a_node_may_not_send_is_a_fault_of_ours_and_nothing_is_left_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    def lie(answer: AttemptAnswer) -> AttemptAnswer:
        if "task" in change:
            return answer.model_copy(update={"verdict": answer.verdict.model_copy(update=change)})
        return answer.model_copy(update=change)

    monkeypatch.setattr(LyingExecutor, "lie", staticmethod(lie))
    run, suite = plan_run(tmp_path, TURNS)
    execute(run, suite, all_slots(run), Watching(), executor=LYING)
    (found,) = run.finished()
    assert found.verdict.outcome is Outcome.INFRA_FAULT
    assert {path.name for path in found.folder.iterdir()} == {"attempt.json", "verdict.json"}
    assert {path.name for path in tmp_path.iterdir()} == {"dialogue.jsonl", "prices.toml", "upstreams.toml", "runs"}


def test_a_node_that_drops_an_attempt_unasked_is_no_way_to_lose_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lies = iter([True])

    def lie(answer: AttemptAnswer) -> AttemptAnswer:
        return answer.model_copy(update={"dropped": next(lies, False)})

    monkeypatch.setattr(LyingExecutor, "lie", staticmethod(lie))
    run, suite = plan_run(tmp_path, TURNS)
    execute(run, suite, all_slots(run), Watching(), executor=LYING)
    assert [each.verdict.outcome for each in run.finished()] == [Outcome.PASSED]
    assert events(run)["started"] == 2


@pytest.mark.exhaustive
def test_the_budget_of_a_run_holds_on_nodes_and_what_lost_ones_had_counts_as_spent(tmp_path: Path) -> None:
    # A call costs 0.2 dollars; an attempt makes two and may spend 0.5; the first two are lost.
    run, suite = plan_run(tmp_path, TURNS, {"budget_usd": "0.5"}, attempts=5, budget_usd="2", prices=PRICES)
    with pytest.raises(RepoAssayError, match="budget of 2 dollars is spent"):
        execute(run, suite, all_slots(run), Watching(), executor=LOSING)
    assert [each.attempt.spent and each.attempt.spent.dollars for each in run.finished()][:2] == [Decimal("0.4")] * 2
    assert events(run)["dropped"] == 2
    assert Decimal(1) + Decimal("0.8") <= lost_shares(run) <= 2
    resume_run(run, Watching(), budget_usd=Decimal(10), executor=LOCAL)
    assert sorted(each.attempt.number for each in run.finished() if each.verdict.outcome is Outcome.PASSED) == [
        1, 2, 3, 4, 5,
    ]  # fmt: skip


def test_shares_are_held_until_they_are_settled(tmp_path: Path) -> None:
    import threading

    run, _ = plan_run(tmp_path, TURNS, {"budget_usd": "0.5"}, budget_usd="1.2", prices=PRICES)
    shares = BudgetShares(run.plan, Decimal("1.2"), Decimal(0))
    (name,) = run.plan.agents
    going = threading.Event()
    assert [shares.admit(name, going).share_usd for _ in range(2)] == [Decimal("0.5")] * 2
    answers: list[object] = []
    waiting = threading.Thread(target=lambda: answers.append(shares.admit(name, going).share_usd))
    waiting.start()
    waiting.join(0.5)
    assert not answers  # 0.2 are left, which is no attempt's share while others may bring some back
    shares.settle(Decimal("0.5"), Spending(dollars=Decimal("0.1")))
    waiting.join(10)
    assert answers == [Decimal("0.5")]
    shares.settle(Decimal("0.5"), None)
    shares.settle(Decimal("0.5"), Spending(dollars=Decimal(-5)))
    assert shares.admit(name, going).share_usd == Decimal("0.5")


def test_what_no_node_can_do_is_said_before_a_run_begins(tmp_path: Path) -> None:
    run, _ = plan_run(tmp_path, TURNS, budget_usd="2", prices=PRICES)
    with pytest.raises(BadInput, match="no executor"):
        check_executor("rya", run.plan, None)
    with pytest.raises(BadInput, match="takes its share of the run's budget along"):
        check_executor(LOCAL, run.plan, None)
    with pytest.raises(BadInput, match="an object of this program"):
        check_executor(LOCAL, run.plan, {"mine": object()})  # type: ignore[dict-item]


def test_files_of_an_attempt_travel_without_links(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "sub/empty").mkdir(parents=True)
    (tree / "sub/one.json").write_text(json.dumps([1]))
    (tree / "sub/two.json").hardlink_to(tree / "sub/one.json")
    (tree / "link").symlink_to("/etc/passwd")
    target = tmp_path / "target"
    target.mkdir()
    unpack_files(pack_files(tree), target)
    assert {str(path.relative_to(target)) for path in target.rglob("*")} == {
        "sub", "sub/empty", "sub/one.json", "sub/two.json",
    }  # fmt: skip
    assert (target / "sub/two.json").read_text() == "[1]"
    with pytest.raises(InfraFault):
        unpack_files(archive("../outside"), target)
