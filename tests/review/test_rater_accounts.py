from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.assignment import order
from repoassay.review.database import Conflict, event_log
from repoassay.review.leases import open_item, open_next, queue_of, release, renew
from repoassay.review.rater_accounts import RaterRole, add_rater, assign, disable_rater, rater_by_token, raters_of
from repoassay.review.studies import close_study, create_study
from repoassay.review.study import StudyMode
from repoassay.review.submitting import submit
from review.lease_log import LeaseEvent, leased_items
from review.samples import NOW, RUBRIC, answers, begun, items, later, study


def test_a_token_opens_one_door(database: Database) -> None:
    ana, ben = begun(database, "Ana", "Ben")
    assert ana.token != ben.token and rater_by_token(database, ana.token, NOW) == ana.rater
    for wrong in ("", ana.token[:-1], ana.token + "x", ana.rater.id, "' OR 1=1 --", "\x00", "\ud800"):
        assert rater_by_token(database, wrong, NOW) is None
    with database.reading() as connection:
        dump = str(connection.exec_driver_sql("SELECT * FROM review_raters").all())
        dump += str(connection.exec_driver_sql("SELECT * FROM review_events").all())
    assert ana.token not in dump
    disable_rater(database, ana.rater, at=NOW, by="lead")
    assert rater_by_token(database, ana.token, NOW) is None
    assert [each.active for each in raters_of(database, "st")] == [False, True]


def test_names_are_taken_once(database: Database) -> None:
    begun(database, "Ana")
    for wrong in ("Ana", " ", "x" * 201):
        with pytest.raises(BadInput):
            add_rater(database, "st", wrong, at=NOW)
    with pytest.raises(BadInput, match="no study"):
        add_rater(database, "other", "Ana", at=NOW)


def test_each_rater_has_the_order_of_their_number(database: Database) -> None:
    people = begun(database, "Ana", "Ben", count=12, seed=4)
    known = [(item.id, item.hidden.system) for item in items(12)]
    for number, person in enumerate(people):
        assert tuple(each.item for each in queue_of(database, person.rater)) == order(4, number, known)


def test_leads_are_given_nothing_to_rate(database: Database) -> None:
    begun(database)
    for role, count in ((RaterRole.LEAD, 0), (RaterRole.ADMIN, 0), (RaterRole.JUDGE, 4)):
        made = add_rater(database, "st", role.value, role, at=NOW)
        assert len(queue_of(database, made.rater)) == count


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
@pytest.mark.long
def test_many_join_at_once(database: Database) -> None:
    begun(database)
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda number: add_rater(database, "st", f"r{number}", at=NOW), range(6)))
    assert sorted(each.rater.number for each in made) == list(range(6))


def test_a_balanced_study(database: Database) -> None:
    people = begun(database, "Ana", "Ben", "Cyd", count=9, mode=StudyMode.BALANCED, overlap=2)
    assert queue_of(database, people[0].rater) == ()
    assert assign(database, "st", at=NOW, by="lead") == 18 and assign(database, "st", at=NOW, by="lead") == 0
    assert [len(queue_of(database, each.rater)) for each in people] == [6, 6, 6]
    first = queue_of(database, people[0].rater)[0].item
    submit(database, people[0].rater, first, answers(), key="some-key", now=NOW)
    disable_rater(database, people[0].rater, at=NOW, by="lead")
    dee = add_rater(database, "st", "Dee", at=NOW).rater
    assert assign(database, "st", at=NOW, by="lead") == 5  # what Ana submitted counts, the rest is given to others
    people_now = [people[1].rater, people[2].rater, dee]
    counts = Counter(each.item for person in people_now for each in queue_of(database, person))
    assert counts.pop(first) == 1 and set(counts.values()) == {2}


def test_balancing_needs_people_and_the_mode(database: Database) -> None:
    begun(database, "Ana", mode=StudyMode.BALANCED, overlap=2)
    with pytest.raises(BadInput, match="needs 2 raters"):
        assign(database, "st", at=NOW, by="lead")
    create_study(database, study(name="all"), RUBRIC, items(2), at=NOW)
    with pytest.raises(BadInput, match="not of the mode"):
        assign(database, "all", at=NOW, by="lead")


def test_an_item_is_held_until_its_time_is_over(database: Database) -> None:
    ana, ben = begun(database, "Ana", "Ben", count=1, mode=StudyMode.OVERLAP, overlap=1, lease_seconds=60)
    mine = open_next(database, ana.rater, NOW)
    assert mine is not None and mine.until == later(60)
    with pytest.raises(Conflict, match="Others are rating"):
        open_item(database, ben.rater, "s0", later(1))
    assert renew(database, ana.rater, "s0", later(50)) and open_next(database, ben.rater, later(100)) is None
    assert open_next(database, ben.rater, later(111)) is not None
    assert not renew(database, ana.rater, "s0", later(112))
    release(database, ben.rater, "s0", later(113))
    again = open_next(database, ana.rater, later(114))
    assert again is not None and again.opened == NOW
    submit(database, ana.rater, "s0", answers(), key="some-key", now=later(115))
    assert open_next(database, ben.rater, later(9999)) is None
    assert not renew(database, ana.rater, "s0", later(116))


def test_the_log_tells_who_holds_what(database: Database) -> None:
    ana, ben = begun(database, "Ana", "Ben", count=3, lease_seconds=60)
    open_item(database, ana.rater, "s0", NOW)
    open_item(database, ana.rater, "s1", later(1))
    open_item(database, ben.rater, "s0", later(2))
    renew(database, ana.rater, "s0", later(30))
    release(database, ana.rater, "s1", later(31))
    open_item(database, ben.rater, "s2", later(32))
    submit(database, ben.rater, "s2", answers(), key="some-key", now=later(33))
    kinds = {"lease_taken": "taken", "lease_renewed": "renewed", "lease_released": "released", "submitted": "submitted"}
    log = [
        LeaseEvent(kinds[each.kind], each.item, each.actor, each.at)  # type: ignore[arg-type]  # values of kinds are literals
        for each in event_log(database, "st")
        if each.kind in kinds
    ]
    for now in (later(40), later(62), later(95)):
        kept = {
            (each.item, person.rater.id): each.until
            for person in (ana, ben)
            for each in queue_of(database, person.rater)
            if each.until is not None and each.until > now
        }
        assert kept == leased_items(log, now, 60)
    assert leased_items(log, later(40), 60) == {
        ("s0", ana.rater.id): later(90),
        ("s0", ben.rater.id): NOW + timedelta(seconds=62),
    }


def test_a_closed_study_opens_nothing(database: Database) -> None:
    [ana] = begun(database, "Ana")
    close_study(database, "st", at=NOW, by="lead")
    close_study(database, "st", at=later(1), by="lead")
    assert sum(event.kind == "study_closed" for event in event_log(database, "st")) == 1
    with pytest.raises(BadInput, match="closed"):
        open_next(database, ana.rater, NOW)
    with pytest.raises(BadInput, match="closed"):
        open_item(database, ana.rater, "s0", NOW)


def test_somebody_elses_item(database: Database) -> None:
    [ana] = begun(database, "Ana")
    with pytest.raises(BadInput, match="not in your queue"):
        open_item(database, ana.rater, "s99", NOW)


def test_a_judge_neither_blocks_nor_is_blocked(database: Database) -> None:
    [ana] = begun(database, "Ana", count=1, mode=StudyMode.OVERLAP, overlap=1)
    judge = add_rater(database, "st", "judge", RaterRole.JUDGE, at=NOW).rater
    assert open_next(database, judge, NOW) is not None
    assert open_next(database, ana.rater, NOW) is not None
    submit(database, judge, "s0", answers(), key="some-key", now=NOW)
    assert open_item(database, ana.rater, "s0", NOW).item == "s0"
