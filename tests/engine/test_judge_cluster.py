"""A judge's questions asked by nodes: answers and account as on this machine, when nodes are lost, and its budget."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fake_provider import FakeProvider
from fake_slurm import FakeSlurm, fake_slurm
from json_answers import data_of
from judges.cases import begin, items, said, turns
from repoassay.cli.main import cli
from repoassay.db import Database
from repoassay.engine import open_judge_nodes
from repoassay.engine.budget_shares import DollarShares
from repoassay.errors import BadInput
from repoassay.judges import JudgeRecord, judge_study, judgements_of, open_judge
from repoassay.model_proxy import BudgetSpent, Dialogue, NoAnswer, Prices, Turn, known_upstreams
from repoassay.records import read_calls
from repoassay.review.database import open_database

__all__ = ["fake_slurm"]

LOCAL, LOSING = "repoassay.executors.local:LocalExecutor", "unreliable_nodes:LosingExecutor"
PRICES = '[[price]]\nmodel = "paid/j"\ninput = 1000\noutput = 1000\nfrom = 2020-01-01\nsource = "test"\n'


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = open_database(tmp_path / "reviews.sqlite")
    yield found
    found.close()


@pytest.fixture
def judge(database: Database) -> JudgeRecord:
    return begin(database, items(2), model="paid/j")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Files that say where a provider is that says `turns`, and what it costs."""
    monkeypatch.setenv("PAID_KEY", "sk-this-is-a-key-of-nobody")
    (tmp_path / "prices.toml").write_text(PRICES)
    providers: list[FakeProvider] = []

    def begun(script: Sequence[Turn]) -> dict[str, list[Path]]:
        provider = FakeProvider(Dialogue(turn=tuple(script)))
        providers.append(provider)
        provider.__enter__()
        (tmp_path / "up.toml").write_text(f'[upstream.paid]\nbase_url = "{provider.origin}/v1"\nkey_env = "PAID_KEY"\n')
        return {"upstreams": [tmp_path / "up.toml"], "prices": [tmp_path / "prices.toml"]}

    yield begun
    for provider in providers:
        provider.__exit__(None, None, None)


@pytest.mark.parametrize("executor", [LOCAL, "slurm://2"])
@pytest.mark.long
def test_answers_and_account_are_those_of_this_machine(
    tmp_path: Path, database: Database, judge: JudgeRecord, place: Any, fake_slurm: FakeSlurm, executor: str
) -> None:
    files = place(turns("c" * 20))
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    known = known_upstreams(files["upstreams"]).values()
    with open_judge(judge, known, here, prices=Prices.shipped(*files["prices"]), budget=Decimal(50)) as door:
        text = door.asker("be a judge", "judge")
        spent = door.totals()
    with open_judge_nodes(judge, there, executor, budget=Decimal(50), workers=2, **files) as door:
        done = judge_study(database, judge, door.asker, samples=1, workers=4)
        assert door.totals().dollars == 10 * spent.dollars if spent.dollars else False
    assert (done.stored, done.failed, done.left) == (10, 0, 0)
    assert {each.answer.state for each in judgements_of(database, judge) if each.answer} == {"no_problem"} and text
    calls = read_calls(there).calls
    assert [call.seq for call in calls] == list(range(1, 11))
    assert {call.attempt for call in calls} == {f"judge-{judge.rater.id}"}
    assert b"sk-this-is-a-key" not in there.read_bytes()


def test_what_lost_nodes_were_asked_is_asked_again_and_counts_as_spent(
    tmp_path: Path, judge: JudgeRecord, place: Any
) -> None:
    files = place(turns("c" * 5))
    journal = tmp_path / "usage.jsonl"
    with open_judge_nodes(judge, journal, LOSING, budget=Decimal(100), **files) as door:
        assert door.asker("system", "user")
        assert door.totals().dollars is None and door.totals().calls == 1
    calls = read_calls(journal).calls
    assert [call.fault for call in calls] == ["node_lost", "node_lost", ""]
    share = calls[0].price
    assert share is not None and share > 8  # 8,000 tokens of an answer
    with open_judge_nodes(judge, journal, LOCAL, budget=2 * share, **files) as door, pytest.raises(BudgetSpent):
        door.asker("system", "user")


def test_a_budget_holds_whatever_is_under_way(tmp_path: Path, judge: JudgeRecord, place: Any) -> None:
    files = place(turns("c" * 40))
    journal = tmp_path / "usage.jsonl"
    with open_judge_nodes(judge, journal, LOCAL, budget=Decimal(12), workers=4, **files) as door:
        answers: list[str] = []

        def asks() -> None:
            try:
                while True:
                    answers.append(door.asker("system", "user"))
            except BudgetSpent as error:
                answers.append(str(error))

        line = [threading.Thread(target=asks) for _ in range(4)]
        for each in line:
            each.start()
        for each in line:
            each.join(60)
        spent = door.totals().dollars
    assert spent is not None and 12 <= spent + Decimal("1.1") < 12 + Decimal("2.2")  # within one call of it
    assert [each for each in answers if "budget" in each]


@pytest.mark.long
def test_whoever_gives_up_waits_for_no_answer(tmp_path: Path, judge: JudgeRecord, place: Any) -> None:
    files = place([said("late", fault={"silence": 60})])
    with open_judge_nodes(judge, tmp_path / "usage.jsonl", LOCAL, **files) as door:
        threading.Timer(0.5, door.abandon).start()
        began = time.monotonic()
        with pytest.raises(NoAnswer):
            door.asker("system", "user")
        assert time.monotonic() - began < 50


def test_what_nodes_cannot_do_is_one_sentence(
    tmp_path: Path, database: Database, judge: JudgeRecord, place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = place(turns("c"))

    def opened(executor: str = LOCAL, **more: Any) -> None:
        with open_judge_nodes(judge, tmp_path / "usage.jsonl", executor, **files | more):
            pass

    for more, sentence in (
        ({"executor": "rya"}, "no executor"), ({"prices": [], "budget": Decimal(1)}, "needs a price"),
        ({"upstreams": []}, "no upstream"), ({"prices": [tmp_path / "gone.toml"]}, "gone.toml"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=sentence):
            opened(**more)
    monkeypatch.delenv("PAID_KEY")
    with pytest.raises(BadInput, match="PAID_KEY"):
        opened()
    assert DollarShares(None, Decimal(0), "judge").hold(Decimal(1), threading.Event()).share_usd == 1


@pytest.mark.parametrize("executor", [LOCAL, "slurm://2"])
@pytest.mark.long
def test_the_command_takes_an_executor(
    tmp_path: Path, database: Database, judge: JudgeRecord, place: Any, fake_slurm: FakeSlurm, executor: str
) -> None:
    files = place(turns("c" * 10))
    words = [
        "judge", tmp_path / "reviews.sqlite", "--study", "st", "--model", "paid/j", "--samples", 1, "--yes",
        "--model-upstream", files["upstreams"][0], "--prices", files["prices"][0], "--json",
    ]  # fmt: skip
    done = CliRunner().invoke(cli, [str(word) for word in (*words, "--executor", executor)])
    assert done.exit_code == 0, done.output
    assert data_of(done.stdout)["stored"] == 10
    scripted = [*words[:4], "--model", "scripted/j", "--dialogue", __file__, "--executor", executor]
    refused = CliRunner().invoke(cli, [str(word) for word in scripted])
    assert isinstance(refused.exception, BadInput)
