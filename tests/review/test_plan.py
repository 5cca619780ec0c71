"""Plans: what they hold, when they freeze, and that nothing changes one afterwards."""

from __future__ import annotations

import hashlib

import pytest
import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput, Unavailable
from repoassay.review.plan import ANALYSIS, PlanAnswers, complete_plan, plan_from_toml
from repoassay.review.plan_store import (
    amend_plan,
    amendments_of,
    decide_item,
    excluded_items,
    freeze_plan,
    inclusions_of,
    plan_hash,
    plan_of,
    save_plan,
)
from repoassay.review.studies import create_study
from repoassay.review.submitting import submit
from review.samples import NOW, RUBRIC, answers, begun, items, later, study

PLAN = """
question = "Are passing changes mergeable?"
sampling_frame = "Merged pull requests of 2026"
agents = ["system-0", "system-1"]
tasks = ["t0", "t1"]
runs_per_task = 2
raters = "Two maintainers"
rubric = "mergeable"
analysis = "The default."
"""


def test_a_plan_is_made_with_the_study_and_frozen_by_the_first_rating(database: Database) -> None:
    [ana] = begun(database, "Ana")
    before = plan_of(database, "st")
    assert before is not None and before.frozen is None and before.digest == plan_hash(database, "st")
    assert before.plan.agents == ("system-0", "system-1") and before.plan.tasks == ("t0", "t1")
    assert before.plan.rubric_digest == RUBRIC.digest and before.plan.analysis == ANALYSIS
    assert before.plan.settings["name"] == "st"
    changed = complete_plan(study(), RUBRIC, items(), plan_from_toml(PLAN))
    digest = save_plan(database, "st", changed, at=NOW, actor="lead")
    assert digest != before.digest and digest == hashlib.sha256(changed.to_json().encode()).hexdigest()
    submit(database, ana.rater, "s0", answers(), key="a-key-of-it", now=later(5))
    after = plan_of(database, "st")
    assert after is not None and after.frozen == later(5) and after.digest == digest
    with pytest.raises(BadInput, match="was frozen"):
        save_plan(database, "st", changed, at=NOW, actor="lead")
    assert freeze_plan(database, "st", at=later(9), actor="lead") == digest
    with pytest.raises(Unavailable, match="frozen plan does not change"), database.writing() as connection:
        connection.execute(sa.text("UPDATE review_plans SET plan = 'x'"))


def test_amendments_are_dated_signed_and_reasoned(database: Database) -> None:
    begun(database)
    with pytest.raises(BadInput, match="no frozen plan"):
        amend_plan(database, "st", author="Ada", change="x", reason="y", at=NOW, actor="lead")
    freeze_plan(database, "st", at=NOW, actor="lead")
    for author, change, reason in (("", "x", "y"), ("Ada", " ", "y"), ("Ada", "x", "")):
        with pytest.raises(BadInput, match="amendment needs"):
            amend_plan(database, "st", author=author, change=change, reason=reason, at=NOW, actor="lead")
    made = amend_plan(database, "st", author="Ada", change="More raters", reason="Two fell ill", at=later(3), actor="l")
    assert amendments_of(database, "st") == (made,) and made.at == later(3)


def test_items_leave_the_figures_for_a_reason_and_come_back(database: Database) -> None:
    begun(database)
    with pytest.raises(BadInput, match="for a reason"):
        decide_item(database, "st", "s0", included=False, reason=" ", at=NOW, actor="lead")
    with pytest.raises(BadInput, match="has no item"):
        decide_item(database, "st", "s9", included=False, reason="leak", at=NOW, actor="lead")
    decide_item(database, "st", "s0", included=False, reason="leak", at=NOW, actor="lead")
    decide_item(database, "st", "s1", included=False, reason="leak", at=NOW, actor="lead")
    decide_item(database, "st", "s1", included=True, reason="no leak after all", at=NOW, actor="lead")
    log = inclusions_of(database, "st")
    assert [each.item for each in log] == ["s0", "s1", "s1"] and dict(excluded_items(log)) == {"s0": "leak"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("question = 1", "question"),
        ("x = 1", "x: "),
        ("question", "is not TOML"),
        ("runs_per_task = 0", "runs_per_task"),
        ("a" * 300_000, "larger than"),
    ],
)
def test_a_plan_that_cannot_be_read(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        plan_from_toml(text)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (PlanAnswers(agents=("other",)), "the agent 'system-0'"),
        (PlanAnswers(tasks=("t0",)), "the task 't1'"),
        (PlanAnswers(rubric="quality"), "names the rubric 'quality'"),
    ],
)
def test_a_plan_that_contradicts_its_study(database: Database, given: PlanAnswers, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        create_study(database, study(), RUBRIC, items(), at=NOW, plan=given)
    assert plan_hash(database, "st") == ""
