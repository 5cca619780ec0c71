"""Budgets of calls, tokens and dollars, and the context window: within one call, and what was left is graded."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from engine.metering import PRICES, SOLVE, STUBBORN, TINY, Watching, make, one, outcome, plan_run, said, shell
from repoassay.engine import execute
from repoassay.engine.resumption import resume_run
from repoassay.engine.scheduler import all_slots
from repoassay.errors import BadInput, RepoAssayError
from repoassay.records.calls import JOURNAL, journal_spent, read_calls, run_spent
from repoassay.tasks.suite import find_suite
from repoassay.types import Ended, Outcome

LOOK = shell("ls")


def test_within_its_limits_an_attempt_is_judged_as_ever_and_every_token_counted(tmp_path: Path) -> None:
    found = one(tmp_path, [LOOK, shell(SOLVE), said()], {"max_iterations": "3"})
    assert outcome(found) is Outcome.PASSED
    spent = found.attempt.spent
    assert spent and (spent.calls, spent.usage.input, spent.usage.output, spent.exhausted) == (3, 300, 150, "")
    assert spent == journal_spent(found.folder)
    assert spent.dollars is None and spent.dollars_note.startswith("no price for scripted/any")


@pytest.mark.parametrize(
    "agent", [TINY, pytest.param(STUBBORN, marks=pytest.mark.exhaustive)], ids=["gives up", "stubborn"]
)
@pytest.mark.parametrize(
    ("limits", "prices", "calls"),
    [
        ({"max_iterations": "2"}, "", 2),
        ({"max_tokens": "500"}, "", 3),
        ({"max_tokens": "600"}, "", 4),
        ({"budget_usd": "0.4"}, PRICES, 2),
        ({"budget_usd": "0.6"}, PRICES, 3),
    ],
)
def test_a_spent_budget_ends_the_attempt_within_one_call_and_its_work_is_graded(
    tmp_path: Path, limits: dict[str, str], prices: str, calls: int, agent: dict[str, str]
) -> None:
    found = one(tmp_path, [shell(SOLVE), *[LOOK] * 20], limits, prices=prices, agent=agent)
    assert outcome(found) is Outcome.BUDGET
    assert (found.verdict.process, found.verdict.result) == (True, True)
    assert found.attempt.submission.files[0].path == "totals.csv"
    spent = found.attempt.spent
    assert spent and spent.calls == calls
    assert spent.exhausted in found.verdict.comments[0]
    assert sum(call.forwarded for call in read_calls(found.folder / JOURNAL).calls) == calls
    if agent is STUBBORN:
        assert found.attempt.submission.exit and found.attempt.submission.exit.ended is Ended.CANCELLED


def test_partial_work_that_is_not_enough_is_budget_and_false(tmp_path: Path) -> None:
    found = one(tmp_path, [LOOK] * 20, {"max_iterations": "2"})
    assert outcome(found) is Outcome.BUDGET
    assert (found.verdict.process, found.verdict.result) == (False, False)


@pytest.mark.exhaustive
def test_an_edit_under_way_is_taken_across_and_graded(tmp_path: Path) -> None:
    suite = find_suite("starter", only=["edit-ledger-elided-amount"])
    patch = (suite.tasks[0].solution / "changes.diff").read_text()
    apply = shell(f"cd /workspace/repo && git apply <<'END'\n{patch}END\n")
    run, _ = plan_run(tmp_path, [apply, *[LOOK] * 20], {"max_iterations": "2"}, agent=STUBBORN, suite=suite)
    execute(run, suite, all_slots(run), Watching())
    (found,) = run.finished()
    assert outcome(found) is Outcome.BUDGET, found.verdict.comments
    assert found.verdict.result is True
    assert (found.folder / "submission" / "changes.diff").stat().st_size > 100


def test_an_agent_that_ends_with_its_last_call_was_not_stopped(tmp_path: Path) -> None:
    found = one(tmp_path, [shell(SOLVE), said()], {"max_iterations": "2"})
    assert outcome(found) is Outcome.PASSED


@pytest.mark.long
def test_a_prompt_beyond_the_context_window_is_refused_as_the_vendor_would_and_ends_the_attempt(tmp_path: Path) -> None:
    found = one(tmp_path, [shell("seq 1 9000 | tr '\\n' ' '"), *[LOOK] * 5], {"context_window": "4000"},
                agent=STUBBORN)  # fmt: skip
    assert outcome(found) is Outcome.BUDGET
    assert found.attempt.spent and found.attempt.spent.calls == 1
    assert "context_length_exceeded" in (found.folder / "log.txt").read_text()


def test_an_agent_that_gives_up_at_its_first_prompt_too_long_was_stopped_by_it(tmp_path: Path) -> None:
    found = one(tmp_path, [shell(f"{SOLVE}; seq 1 9000 | tr '\\n' ' '"), *[LOOK] * 5], {"context_window": "4000"})
    assert outcome(found) is Outcome.BUDGET
    assert found.verdict.result is True
    assert "context window" in found.verdict.comments[0]


def test_dollars_cannot_be_limited_without_a_price(tmp_path: Path) -> None:
    run, suite = plan_run(tmp_path, [said()], {"budget_usd": "1"})
    with pytest.raises(BadInput, match="needs a price for scripted/any"):
        execute(run, suite, all_slots(run), Watching())
    assert not list(run.finished())


@pytest.mark.long
def test_the_runs_budget_stops_the_run_spares_the_agent_and_more_money_continues_it(tmp_path: Path) -> None:
    turns = [shell(SOLVE), LOOK, LOOK, said()]  # 0.20 dollars a call
    run, suite = plan_run(tmp_path, turns, attempts=5, budget_usd="2.0", prices=PRICES, retries=3)
    with pytest.raises(RepoAssayError, match=r"The run's budget of 2\.0 dollars is spent"):
        execute(run, suite, all_slots(run), Watching())
    before = list(run.finished())
    assert [outcome(found) for found in before] == [Outcome.PASSED, Outcome.PASSED, Outcome.INFRA_FAULT]
    assert before[2].attempt.submission.files
    assert sum(spent.dollars_known for spent in run_spent(run.path).values()) == Decimal("2.0")

    with pytest.raises(RepoAssayError, match="is spent"):
        resume_run(run, Watching())
    assert len(list(run.finished())) == 3

    resume_run(run, Watching(), budget_usd=Decimal(10))
    after = list(run.finished())
    assert [outcome(found) for found in after].count(Outcome.PASSED) == 5
    (retry,) = [found for found in after if found.attempt.retry_of]
    assert retry.attempt.retry_of == before[2].attempt.id
    total = sum(spent.dollars_known for spent in run_spent(run.path).values())
    assert total == sum(found.attempt.spent.dollars_known for found in after if found.attempt.spent)


def test_attempts_of_one_run_have_budgets_of_their_own(tmp_path: Path) -> None:
    found = make(tmp_path, [shell(SOLVE), said()], {"max_iterations": "2"}, attempts=3, workers=3)
    assert [outcome(each) for each in found] == [Outcome.PASSED] * 3
