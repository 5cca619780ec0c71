"""Shares of a run in this process: what each may spend, what it makes again, and journals collected once."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from engine.metering import PRICES, SOLVE, Watching, outcome, plan_run, said, shell
from repoassay.engine import collect_shares
from repoassay.engine.permissions import Grants, grant_words, permit
from repoassay.engine.resumption import divide_run, resume_run
from repoassay.errors import BadInput, RepoAssayError
from repoassay.records import RunFolder, WorkShare, run_spent
from repoassay.types import Outcome

LOOK = shell("ls")
TURNS = [shell(SOLVE), LOOK, LOOK, said()]  # 0.80 dollars an attempt


def make(run: RunFolder, text: str, **more: object) -> None:
    resume_run(RunFolder(run.path), Watching(), share=WorkShare.parse(text), look_first=False, **more)  # type: ignore[arg-type]


def spent(run: RunFolder) -> Decimal:
    return sum((each.dollars_known for each in run_spent(run.path).values()), Decimal(0))


@pytest.mark.long
def test_each_share_spends_its_part_of_the_runs_budget_and_what_is_left_is_divided_anew(tmp_path: Path) -> None:
    run, _ = plan_run(tmp_path, TURNS, attempts=6, budget_usd="2.0", prices=PRICES, retries=3)
    for share in ("0/2", "1/2", "0/2"):  # 1.00 each: one attempt whole, one that its part of the budget ends
        with pytest.raises(RepoAssayError, match=r"share's part of the run's budget of 1\.0+ dollars is spent"):
            make(run, share)
    assert spent(run) == Decimal("2.0")
    found = collect_shares(run)
    assert (found.left, found.finished) == (4, 4)
    with pytest.raises(BadInput, match=r"0\.000000 for each of 1 shares: too little"):
        divide_run(run, 1)
    divide_run(run, 4, budget_usd=Decimal(6))  # what is left is divided: 1.00 each
    for index in range(4):
        make(run, f"{index}/4", budget_usd=Decimal(6))
    assert collect_shares(run).left == 0
    assert spent(run) == Decimal("5.2")
    outcomes = [outcome(each) for each in run.finished()]
    assert (outcomes.count(Outcome.PASSED), outcomes.count(Outcome.INFRA_FAULT)) == (6, 2)


def test_a_part_that_holds_no_attempt_is_refused(tmp_path: Path) -> None:
    run, _ = plan_run(tmp_path, TURNS, {"budget_usd": "0.8"}, attempts=6, budget_usd="3.0", prices=PRICES)
    with pytest.raises(BadInput, match=r"0\.500000 for each of 6 shares: too little for .* that may spend 0\.8"):
        make(run, "0/6")
    assert not (run.path / "parts" / "division.json").exists()


@pytest.mark.long
def test_shares_make_again_what_ended_so_and_no_share_what_another_has(tmp_path: Path) -> None:
    run, _ = plan_run(tmp_path, [said()], attempts=3)
    resume_run(RunFolder(run.path), Watching(), look_first=False)
    first = {each.attempt.number: each.attempt.id for each in run.finished()}
    for index in (1, 0, 1):
        make(run, f"{index}/2", only=[Outcome.NO_OUTPUT])
    with pytest.raises(BadInput, match=r"--share I/2 --only no_output"):
        make(run, "0/2")
    assert collect_shares(run).left == 0
    again = {each.attempt.number: each.attempt.retry_of for each in run.finished() if each.attempt.retry_of}
    assert again == first


def test_a_collection_that_was_cut_off_or_is_repeated_adds_nothing_twice(tmp_path: Path) -> None:
    run, _ = plan_run(tmp_path, [shell(SOLVE), said()], attempts=4)
    for index in range(2):
        make(run, f"{index}/3")
    assert collect_shares(run).collected == 2
    journal = run.path / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole[: len(whole) // 2])  # in the middle of a line
    assert collect_shares(run).collected == 2 - whole[: len(whole) // 2].count(b'"finished"')
    assert collect_shares(run).collected == 0
    events = [json.loads(line) for line in journal.read_bytes().splitlines() if line.endswith(b"}")]
    assert sorted(event["event"] for event in events) == ["finished"] * 2 + ["started"] * 2
    assert collect_shares(run).left == 2


def test_links_among_the_parts_of_a_received_run_are_refused(tmp_path: Path) -> None:
    run, _ = plan_run(tmp_path, [said()], attempts=2)
    (run.path / "parts").mkdir()
    (run.path / "parts" / "00000-of-00002.lock").symlink_to(tmp_path / "elsewhere")
    for call in (lambda: make(run, "0/2"), lambda: collect_shares(run)):
        with pytest.raises(BadInput, match="is a link"):
            call()
    assert not (tmp_path / "elsewhere").exists()


def test_the_words_for_other_machines_grant_what_was_permitted_and_only_that(tmp_path: Path) -> None:
    run, _ = plan_run(tmp_path, TURNS, prices=PRICES)
    words = dict(word.partition("=")[::2] for word in grant_words(run.plan))
    grants = Grants(
        suite=words["--suite"], agent_dir=Path(words["--agent-dir"]), dialogue=Path(words["--dialogue"]),
        prices=(Path(words["--prices"]),), yes="--yes" in words,
    )  # fmt: skip
    with pytest.raises(BadInput, match="was not planned here"):
        permit(run.plan, Grants(), here=False)
    assert permit(run.plan, grants, here=False).suite_folder == run.plan.suite_folder
    assert "--network" not in words and words["--isolation"] == "namespaces"
