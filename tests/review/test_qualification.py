"""Training and qualification: what is given when, who passes, and that none of it is ever counted."""

from __future__ import annotations

import pytest

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.database import event_log
from repoassay.review.instructions import (
    Expertise,
    confirm_instructions,
    declare_expertise,
    must_read,
    write_instructions,
)
from repoassay.review.leases import open_item, open_next, queue_of
from repoassay.review.preparation import AnswerKey, ItemUse, RaterStage
from repoassay.review.qualification import allow_another_try, preparation_of, require_agreement, use_item
from repoassay.review.rater_accounts import Rater, RaterRole, add_rater, assign
from repoassay.review.studies import close_study, is_closed, items_of, reopen_study
from repoassay.review.submitting import may_reveal, ratings_of, submit
from review.samples import NOW, answers, begun, later

KEY = AnswerKey(states={"core": "problem", "testing": "no_problem"}, would_merge=False, feedback="Look at the sign.")


def prepared(database: Database, **more: object) -> Rater:
    """A study of five items: `s0` trains, `s1` qualifies, three count."""
    [ann] = begun(database, "Ann", count=5, **more)
    for item, use in (("s0", ItemUse.TRAINING), ("s1", ItemUse.QUALIFICATION)):
        use_item(database, "st", item, use, KEY, at=NOW, actor="lead")
    require_agreement(database, "st", 0.9, at=NOW, actor="lead")
    return ann.rater


def rate(database: Database, rater: Rater, states: str, seconds: float = 60) -> str:
    """Rate the next item and return its name; empty when there is none."""
    place = open_next(database, rater, later(seconds))
    if place is None:
        return ""
    key = f"{rater.id}-{place.item}-{seconds}"
    submit(database, rater, place.item, answers(states, would_merge="p" not in states), key=key, now=later(seconds + 1))
    return place.item


def given(database: Database, rater: Rater) -> set[str]:
    return {each.item for each in queue_of(database, rater)}


def test_live_items_come_after_training_and_a_passed_qualification(database: Database) -> None:
    ann = prepared(database)
    assert given(database, ann) == {"s0", "s1"} and preparation_of(database, ann).stage is RaterStage.TRAINING
    with pytest.raises(BadInput, match="not in your queue"):
        open_item(database, ann, "s3", later(5))
    with pytest.raises(BadInput, match="not in your queue"):
        submit(database, ann, "s3", answers(), key="k" * 9, now=later(6))
    assert rate(database, ann, "ccccc", 10) == "s0"  # training asks for nothing
    assert preparation_of(database, ann).stage is RaterStage.QUALIFICATION
    assert rate(database, ann, "pcccc", 20) == "s1"
    found = preparation_of(database, ann)
    assert found.stage is RaterStage.LIVE and [(each.matched, each.of) for each in found.results] == [(3, 3)]
    assert given(database, ann) == {f"s{number}" for number in range(5)}
    live = [rate(database, ann, "ccccc", 30 + number) for number in range(3)]
    assert sorted(live) == ["s2", "s3", "s4"]
    assert {rating.submission for rating in ratings_of(database, "st")} == {"s2", "s3", "s4"}
    assert len(ratings_of(database, "st", preparing=True)) == 5
    kinds = [event.kind for event in event_log(database, "st")]
    assert kinds.count("qualification_passed") == 1 and "qualification_failed" not in kinds


def test_who_fails_gets_no_live_items_until_the_lead_allows_another_try(database: Database) -> None:
    ann = prepared(database)
    rate(database, ann, "ccccc", 10)
    rate(database, ann, "ccccc", 20)
    assert preparation_of(database, ann).stage is RaterStage.FAILED
    assert open_next(database, ann, later(30)) is None and given(database, ann) == {"s0", "s1"}
    allow_another_try(database, ann, at=later(40), actor="lead")
    assert preparation_of(database, ann).stage is RaterStage.QUALIFICATION
    assert rate(database, ann, "pcccc", 50) == "s1"
    assert preparation_of(database, ann).stage is RaterStage.LIVE
    versions = [rating.version for rating in ratings_of(database, "st", preparing=True) if rating.submission == "s1"]
    assert versions == [1, 2]
    with pytest.raises(BadInput, match="has not failed"):
        allow_another_try(database, ann, at=later(60), actor="lead")


def test_what_items_are_for_is_fixed_once_one_was_opened(database: Database) -> None:
    ann = prepared(database)
    open_next(database, ann, later(1))
    with pytest.raises(BadInput, match="opened an item already"):
        use_item(database, "st", "s2", ItemUse.TRAINING, KEY, at=NOW, actor="lead")
    with pytest.raises(BadInput, match="opened an item already"):
        require_agreement(database, "st", 0.1, at=NOW, actor="lead")
    assert [item.use for item in items_of(database, "st")][:3] == ["training", "qualification", "live"]


def test_a_key_must_fit_and_something_must_count(database: Database) -> None:
    begun(database, count=1)
    for key in (AnswerKey(), AnswerKey(states={"core": "worse"}), AnswerKey(states={"x": "problem"}), None):
        with pytest.raises(BadInput):
            use_item(database, "st", "s0", ItemUse.TRAINING, key, at=NOW, actor="lead")
    with pytest.raises(BadInput, match="left"):
        use_item(database, "st", "s0", ItemUse.TRAINING, KEY, at=NOW, actor="lead")


def test_everybody_prepares_also_where_few_rate_each_item(database: Database) -> None:
    ann = prepared(database, mode="overlap", overlap=1)
    bob = add_rater(database, "st", "Bob", at=NOW).rater
    for rater in (ann, bob):
        assert [rate(database, rater, "pcccc", second) for second in (10, 20)] == ["s0", "s1"]
    done = [rate(database, rater, "ccccc", 30) for rater in (ann, bob)]
    assert len(set(done)) == 2


def test_a_balanced_design_waits_for_the_qualified(database: Database) -> None:
    ann = prepared(database, mode="balanced", overlap=1)
    judge = add_rater(database, "st", "Judge", RaterRole.JUDGE, at=NOW).rater
    assert given(database, judge) == {"s2", "s3", "s4"}
    with pytest.raises(BadInput, match="needs 1 raters, but the study has 0"):
        assign(database, "st", at=NOW, by="lead")
    rate(database, ann, "pcccc", 10)
    rate(database, ann, "pcccc", 20)
    assert assign(database, "st", at=NOW, by="lead") == 3 and len(given(database, ann)) == 5


def test_nothing_is_revealed_of_what_prepares(database: Database) -> None:
    ann = prepared(database, phases=("blind", "revealed"), reveal="after_submission")
    item = rate(database, ann, "pcccc", 10)
    assert not may_reveal(database, ann, item)
    rate(database, ann, "pcccc", 20)
    assert may_reveal(database, ann, rate(database, ann, "ccccc", 30))


def test_ratings_are_pinned_to_the_instructions_that_were_read(database: Database) -> None:
    [ann] = (each.rater for each in begun(database, "Ann"))
    assert must_read(database, ann) is None
    rate(database, ann, "ccccc", 10)
    first = write_instructions(database, "st", "Judge as a maintainer.", at=NOW, actor="lead")
    assert write_instructions(database, "st", "Judge as a maintainer.\n", at=NOW, actor="lead").version == first.version
    waiting = must_read(database, ann)
    assert waiting is not None and waiting.version == 1
    confirm_instructions(database, ann, 1, at=later(20))
    rate(database, ann, "ccccc", 30)
    write_instructions(database, "st", "Judge twice.", at=later(40), actor="lead")
    confirm_instructions(database, ann, 2, at=later(41))
    rate(database, ann, "ccccc", 50)
    assert must_read(database, ann) is None
    assert [rating.instructions for rating in ratings_of(database, "st")] == [None, 1, 2]
    with pytest.raises(BadInput, match="no instructions of version 3"):
        confirm_instructions(database, ann, 3, at=later(60))
    with pytest.raises(BadInput, match="No item is of"):
        declare_expertise(database, ann, "example/repo", Expertise.USED, at=later(60))


def test_closing_can_be_undone(database: Database) -> None:
    [ann] = (each.rater for each in begun(database, "Ann"))
    close_study(database, "st", at=NOW, by="lead")
    assert is_closed(database, "st")
    with pytest.raises(BadInput, match="is closed"):
        open_next(database, ann, later(1))
    for _ in range(2):
        reopen_study(database, "st", at=later(2), actor="lead")
    assert not is_closed(database, "st") and rate(database, ann, "ccccc", 10)
    assert [event.kind for event in event_log(database, "st")].count("study_reopened") == 1
