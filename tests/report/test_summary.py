"""What counts, in which denominator, and what a damaged or unfinished run comes to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pytest

from repoassay.errors import BadInput
from repoassay.records import RunFolder
from repoassay.records.slots import AttemptStatus
from repoassay.report import summarise
from repoassay.stats import Rate
from repoassay.types import Attempt, Attribution, Outcome

MakeRun = Callable[..., RunFolder]
Put = Callable[..., Attempt]


def test_every_outcome_lands_where_it_belongs(varied: RunFolder) -> None:
    alpha = summarise(varied).agents[0]
    assert alpha.outcomes == {outcome: 1 + (outcome is Outcome.FAILED) for outcome in Outcome}
    assert (alpha.planned, alpha.finished, alpha.unfinished, alpha.superseded) == (10, 10, 0, 2)
    # Process is unknown for the timed out, the not gradable and the infra fault; result for the last two alone.
    assert alpha.process == Rate(4, 10, 3)
    assert alpha.result == Rate(1, 10, 2)
    assert alpha.not_passed == {Attribution.AGENT: 7, Attribution.SUITE: 1, Attribution.OURS: 1}


def test_an_unfinished_attempt_is_unknown_and_listed(varied: RunFolder) -> None:
    summary = summarise(varied)
    beta = summary.agents[1]
    assert [(gap.task.id, gap.agent, gap.number) for gap in summary.unfinished] == [("task-10", "beta", 1)]
    assert (beta.result.n, beta.finished, beta.unfinished) == (10, 9, 1)
    assert beta.result.unknown == 2  # the unfinished one and an infra fault
    assert summary.torn == (22,)


def test_domains_add_up_to_the_whole(varied: RunFolder) -> None:
    for agent in summarise(varied).agents:
        assert sum(row.tasks for row in agent.domains) == 10
        for whole, parts in ((agent.process, "process"), (agent.result, "result")):
            rates = [getattr(row, parts) for row in agent.domains]
            assert Rate(*(sum(getattr(rate, key) for rate in rates) for key in ("successes", "n", "unknown"))) == whole


def test_only_the_last_of_a_retry_chain_counts(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1)
    first = put(run, "task-01", Outcome.INFRA_FAULT)
    second = put(run, "task-01", Outcome.INFRA_FAULT, retry_of=first.id, number=2)
    third = put(run, "task-01", Outcome.PASSED, retry_of=second.id, number=3)
    summary = summarise(run)
    assert [row.place.standing for row in summary.rows] == [
        AttemptStatus.SUPERSEDED,
        AttemptStatus.SUPERSEDED,
        AttemptStatus.COUNTS,
    ]
    assert {row.place.replaced_by for row in summary.rows[:2]} == {third.id}
    assert summary.agents[0].result == Rate(1, 1, 0)
    assert summary.unfinished == ()


def test_a_retry_of_an_attempt_that_never_finished_fills_its_own_place(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1)
    put(run, "task-01", Outcome.PASSED, retry_of="01NEVERFINISHED")
    assert summarise(run).agents[0].result == Rate(1, 1, 0)


def test_an_attempt_that_repeats_itself_does_not_hang(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1)
    put(run, "task-01", Outcome.PASSED, retry_of="01KG9ATTEMPT00000000000002")
    put(run, "task-01", Outcome.FAILED, retry_of="01KG9ATTEMPT00000000000001")
    assert summarise(run).agents[0].result == Rate(0, 1, 0)


def test_what_the_plan_does_not_hold_counts_nowhere(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1)
    put(run, "task-09")
    put(run, "task-01", agent="stranger")
    put(run, "task-01", number=2)
    summary = summarise(run)
    assert summary.of_standing(AttemptStatus.OUTSIDE_PLAN) == 3
    assert summary.agents[0].result == Rate(0, 1, 1)
    assert len(summary.unfinished) == 1


def test_several_attempts_are_all_in_the_denominator(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=2, attempts=3)
    for number in (1, 2, 3):
        put(run, "task-01", Outcome.PASSED if number == 1 else Outcome.FAILED, number=number)
    summary = summarise(run)
    assert summary.agents[0].result == Rate(1, 6, 3)
    assert summary.scope == "6 attempts of 2 tasks"
    assert summary.agents[0].wall.n == 3


def test_a_journal_line_written_twice_is_one_attempt(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1)
    done = put(run, "task-01")
    run.journal.append("finished", attempt=done.id)
    assert len(summarise(run).rows) == 1


def test_times_that_nobody_measured_are_not_zero(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=2)
    put(run, "task-01", seconds=None)
    assert summarise(run).agents[0].wall.median is None
    put(run, "task-02", seconds=7.0)
    wall = summarise(run).agents[0].wall
    assert (wall.total, wall.median, wall.n) == (7.0, 7.0, 1)


def test_another_version_of_a_task_is_noticed(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1)
    done = put(run, "task-01")
    path = run.attempt_folder(done.id) / "attempt.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"task_digest": "other"}))
    assert summarise(run).rows[0].moved


def test_a_run_without_attempts_or_tasks_has_figures_too(make_run: MakeRun) -> None:
    summary = summarise(make_run(tasks=0))
    assert summary.agents[0].result.over_all.value is None
    assert len(summarise(make_run(tasks=2, name="other")).unfinished) == 2


@pytest.mark.parametrize("damage", ["gone", "torn", "unknown key", "no id"])
def test_a_damaged_attempt_is_one_sentence(make_run: MakeRun, put: Put, damage: str) -> None:
    run = make_run(tasks=1)
    folder = run.attempt_folder(put(run, "task-01").id)
    if damage == "gone":
        shutil.rmtree(folder)
    elif damage == "no id":
        run.journal.append("finished")
    else:
        (folder / "verdict.json").write_text("{" if damage == "torn" else '{"made_up": 1}')
    with pytest.raises(BadInput) as error:
        summarise(run)
    assert str(run.path) in str(error.value)
    assert "\n" not in str(error.value)
