"""Figures by system, and the difference of two systems against an independent computation."""

from __future__ import annotations

import json

import pytest

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.figures_document import study_figures
from repoassay.review.item_summary import ItemSummary
from repoassay.review.mergeability_gap import gap
from repoassay.review.plan_store import decide_item, plan_hash
from repoassay.review.rater_accounts import add_rater
from repoassay.review.studies import create_study
from repoassay.review.study import HiddenPart, Item
from repoassay.review.submitting import submit
from review.independent import difference_interval, rate_interval, sign_flip
from review.samples import NOW, RUBRIC, answers, study

# Mergeable (1) or not, of three runs of each of eight tasks.
A = ["111", "110", "111", "101", "111", "011", "111", "000"]
B = ["000", "100", "010", "000", "111", "001", "110", "000"]


def made(database: Database) -> None:
    items = [
        Item(
            id=f"{agent}{task}{run}",
            hidden=HiddenPart(task=f"t{task}", system=f"{agent} (m)", agent=agent, model="m", tests=True),
        )
        for agent in ("a", "b")
        for task in range(8)
        for run in range(3)
    ]
    create_study(database, study(), RUBRIC, items, at=NOW)
    ana = add_rater(database, "st", "Ana", at=NOW).rater
    for agent, outcomes in (("a", A), ("b", B)):
        for task, marks in enumerate(outcomes):
            for run, mark in enumerate(marks):
                given = answers("ccccc" if mark == "1" else "pcccc", would_merge=mark == "1")
                submit(database, ana, f"{agent}{task}{run}", given, key=f"the-key-{agent}{task}{run}", now=NOW)


def test_two_agents_differ_as_an_independent_computation_says(database: Database) -> None:
    made(database)
    found = study_figures(database, "st")
    assert [each.name for each in found.systems] == ["a (m)", "b (m)"] and found.plan_hash == plan_hash(database, "st")
    [pair] = found.differences
    by_task = [x.count("1") - y.count("1") for x, y in zip(A, B, strict=True)]
    expected = sign_flip(by_task)
    assert pair.mergeable.difference == pytest.approx(sum(by_task) / 24)
    assert pair.mergeable.test.p_value == pytest.approx(expected) == pair.adjusted
    ends = pair.mergeable.interval
    assert (ends.low, ends.high) == pytest.approx(difference_interval([each / 3 for each in by_task], 24), abs=1e-6)
    for each, marks in zip(found.systems, (A, B), strict=True):
        low, high = rate_interval([[mark == "1" for mark in task] for task in marks])
        assert (each.gap.people_interval.low, each.gap.people_interval.high) == pytest.approx((low, high), abs=1e-9)
    assert ends.n == 8 == pair.mergeable.tasks
    assert json.loads(json.dumps(found.to_dict()))["differences"][0]["first"] == "a (m)"
    assert study_figures(database, "st", grouping="model").differences == ()


def test_items_taken_out_are_in_no_figure(database: Database) -> None:
    made(database)
    decide_item(database, "st", "a00", included=False, reason="leak", at=NOW, actor="lead")
    found = study_figures(database, "st")
    assert found.items == 47 == found.gap.n and found.excluded == {"a00": "leak"}
    with pytest.raises(BadInput, match="no study"):
        study_figures(database, "other")


def test_runs_of_a_task_are_not_independent() -> None:
    """Three tasks of five runs that all go one way are three discordant tasks, not fifteen."""
    rows = [
        ItemSummary(f"s{n}", f"t{n // 5}", "a", True, None, "", {}, {}, False, False, None, None, 1) for n in range(15)
    ]
    found = gap(rows)
    assert found.test.p_value == 0.25 and found.tasks == 3
    assert found.interval.high == 1.0 and found.interval.low is not None and found.interval.low < 0.5


def test_a_mixed_model_stands_beside_and_says_when_there_is_none(database: Database) -> None:
    pytest.importorskip("scipy")
    made(database)
    [pair] = study_figures(database, "st", models=True).differences
    assert pair.mixed is not None and pair.mixed.odds_ratio is not None and pair.mixed.converged
    assert pair.mixed.odds_ratio > 1 and set(pair.mixed.deviations) == {"task", "task by system"}
    assert pair.mixed.interval.low is not None and pair.mixed.interval.low < pair.mixed.odds_ratio
    for task in range(8):
        for run in range(3):
            if B[task][run] == "1":
                decide_item(database, "st", f"b{task}{run}", included=False, reason="x", at=NOW, actor="lead")
    [pair] = study_figures(database, "st", models=True).differences
    assert pair.mixed is not None and pair.mixed.odds_ratio is None and not pair.mixed.converged
    assert "all answers of a group are the same" in pair.mixed.interval.undefined
