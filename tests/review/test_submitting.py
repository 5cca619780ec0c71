from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa

from repoassay.db import Database
from repoassay.errors import BadInput, Unavailable
from repoassay.review.database import Conflict, event_log, open_database
from repoassay.review.drafts import draft_of, save_draft
from repoassay.review.leases import open_item, open_next, queue_of
from repoassay.review.rater_accounts import Rater
from repoassay.review.studies import close_study, payload_of
from repoassay.review.study import Reveal
from repoassay.review.submitting import import_ratings, may_reveal, ratings_by, ratings_of, submit
from repoassay.review.tables import adjudications, events, ratings
from repoassay.types import Rating, RatingPhase
from review.samples import NOW, RUBRIC, answers, begun, later

BOTH: dict[str, Any] = {"phases": (RatingPhase.BLIND, RatingPhase.REVEALED)}


def test_a_rating_is_kept_as_given(database: Database) -> None:
    [ana] = begun(database, "Ana")
    opened = open_item(database, ana.rater, "s2", later(1))
    stored = submit(
        database,
        ana.rater,
        "s2",
        answers("pcnuc", notes="naïve \x00 text \u202e"),
        key="k" * 8,
        now=later(9),
    )
    assert ratings_of(database, "st") == (stored,) == ratings_by(database, ana.rater, "s2")
    assert (stored.mergeable, stored.position, stored.version) == (False, opened.position, 1)
    assert (stored.created, stored.submitted) == (later(1), later(9))
    kinds = [event.kind for event in event_log(database, "st")]
    assert kinds[-3:] == ["lease_taken", "plan_frozen", "submitted"]


def test_repeating_a_submission_changes_nothing(database: Database) -> None:
    [ana] = begun(database, "Ana")
    first = submit(database, ana.rater, "s0", answers(), key="same-key", now=NOW)
    again = submit(database, ana.rater, "s0", answers("ppppp"), key="same-key", now=later(5))
    assert again == first and len(ratings_of(database, "st")) == 1
    with pytest.raises(Conflict, match="used for another"):
        submit(database, ana.rater, "s1", answers(), key="same-key", now=NOW)
    with pytest.raises(Conflict, match="already submitted") as caught:
        submit(database, ana.rater, "s0", answers("ppppp"), key="other-key", now=NOW)
    assert caught.value.stored == first and caught.value.offered == answers("ppppp")


def test_two_raters_may_use_the_same_key(database: Database) -> None:
    ana, ben = begun(database, "Ana", "Ben")
    for who in (ana, ben):
        submit(database, who.rater, "s0", answers(), key="same-key", now=NOW)
    assert len(ratings_of(database, "st")) == 2


def test_a_submission_ends_draft_and_lease_together(database: Database) -> None:
    [ana] = begun(database, "Ana")
    open_item(database, ana.rater, "s0", NOW)
    save_draft(database, ana.rater, "s0", answers(), version=0, now=NOW)
    submit(database, ana.rater, "s0", answers(), key="some-key", now=NOW)
    assert draft_of(database, ana.rater, "s0") is None
    [mine] = [each for each in queue_of(database, ana.rater) if each.item == "s0"]
    assert mine.submitted and mine.until is None


def test_a_refused_submission_leaves_no_trace(database: Database) -> None:
    [ana] = begun(database, "Ana")
    before = len(event_log(database, "st"))
    incomplete = answers().model_copy(update={"minutes": None})
    with pytest.raises(BadInput, match="minutes"):
        submit(database, ana.rater, "s0", incomplete, key="some-key", now=NOW)
    with pytest.raises(BadInput, match="not in your queue"):
        submit(database, ana.rater, "s99", answers(), key="some-key", now=NOW)
    stranger = Rater("nobody", "st", 7, "Eve", ana.rater.role)
    with pytest.raises(BadInput, match="not in your queue"):
        submit(database, stranger, "s0", answers(), key="some-key", now=NOW)
    with pytest.raises(BadInput, match="8 to 200"):
        submit(database, ana.rater, "s0", answers(), key="short", now=NOW)
    assert ratings_of(database, "st") == () and len(event_log(database, "st")) == before


def test_work_of_an_expired_lease_is_not_lost(database: Database) -> None:
    ana, ben = begun(database, "Ana", "Ben", count=1, mode="overlap", lease_seconds=30)
    open_next(database, ana.rater, NOW)
    assert open_next(database, ben.rater, later(10)) is None
    assert open_next(database, ben.rater, later(31)) is not None
    for who in (ben, ana):
        submit(database, who.rater, "s0", answers(), key="some-key", now=later(60))
    assert len(ratings_of(database, "st")) == 2


def test_revealed_answers_stand_beside_blind_ones(database: Database) -> None:
    [ana] = begun(database, "Ana", reveal=Reveal.AFTER_SUBMISSION, **BOTH)
    assert not may_reveal(database, ana.rater, "s0")
    with pytest.raises(BadInput, match="blind before"):
        submit(database, ana.rater, "s0", answers(), key="revealed", now=NOW, phase=RatingPhase.REVEALED)
    blind = submit(database, ana.rater, "s0", answers("ccccc"), key="blind-key", now=NOW)
    assert may_reveal(database, ana.rater, "s0") and not may_reveal(database, ana.rater, "s1")
    second = submit(database, ana.rater, "s0", answers("pcccc"), key="amend-1-key", now=NOW, phase=RatingPhase.REVEALED)
    third = submit(database, ana.rater, "s0", answers("ppccc"), key="amend-2-key", now=NOW, phase=RatingPhase.REVEALED)
    assert [each.version for each in ratings_by(database, ana.rater, "s0")] == [1, 2, 3]
    assert (second.amends, third.amends, blind.mergeable, third.mergeable) == (blind.id, second.id, True, False)
    assert ratings_of(database, "st", RatingPhase.BLIND) == (blind,)


def test_revealing_waits_for_the_study_to_close(database: Database) -> None:
    [ana] = begun(database, "Ana", reveal=Reveal.AFTER_CLOSE, **BOTH)
    submit(database, ana.rater, "s0", answers(), key="blind-key", now=NOW)
    assert not may_reveal(database, ana.rater, "s0")
    with pytest.raises(BadInput, match="when it is closed"):
        submit(database, ana.rater, "s0", answers(), key="too-early", now=NOW, phase=RatingPhase.REVEALED)
    close_study(database, "st", at=NOW, by="lead")
    assert may_reveal(database, ana.rater, "s0")
    submit(database, ana.rater, "s0", answers(), key="now-it-is", now=NOW, phase=RatingPhase.REVEALED)
    with pytest.raises(BadInput, match="closed"):
        submit(database, ana.rater, "s1", answers(), key="too-late!", now=NOW)


def test_a_study_that_never_reveals(database: Database) -> None:
    [ana] = begun(database, "Ana")
    submit(database, ana.rater, "s0", answers(), key="blind-key", now=NOW)
    assert not may_reveal(database, ana.rater, "s0")
    with pytest.raises(BadInput, match="no revealed phase"):
        submit(database, ana.rater, "s0", answers(), key="amend-key", now=NOW, phase=RatingPhase.REVEALED)


@pytest.mark.by_day(4)
@pytest.mark.parametrize("table", [ratings, events, adjudications])
@pytest.mark.parametrize("verb", ["update", "delete"])
def test_what_is_kept_cannot_be_changed(database: Database, table: sa.Table, verb: str) -> None:
    [ana] = begun(database, "Ana")
    submit(database, ana.rater, "s0", answers(), key="some-key", now=NOW)
    from repoassay.review.adjudication import Adjudication, DisagreementCause
    from repoassay.review.adjudication_store import settle

    made = Adjudication(item="s0", axis="core", state="problem", cause=DisagreementCause.RATER_ERROR, by="lead", at=NOW)
    settle(database, "st", made)
    statement = sa.delete(table) if verb == "delete" else sa.update(table).values(study="other")
    with pytest.raises(Unavailable, match="append-only"):
        database.write(lambda connection: connection.execute(statement))


def test_the_same_submission_from_many_threads_is_one_rating(database: Database) -> None:
    ana, ben = begun(database, "Ana", "Ben")
    together = threading.Barrier(8)

    def press(number: int) -> Rating | Conflict:
        together.wait()
        try:
            return submit(database, ana.rater, "s0", answers(), key=f"window-{number % 2}", now=NOW)
        except Conflict as error:
            return error

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(press, range(8)))
    assert len({each.id for each in done if isinstance(each, Rating)}) == 1
    assert sum(isinstance(each, Conflict) for each in done) == 4
    assert len(ratings_of(database, "st")) == 1 and ben.rater.number == 1


def test_two_processes_share_a_database(database: Database, place: str) -> None:
    people = begun(database, *(f"rater {number}" for number in range(6)), count=8, mode="overlap", overlap=2)
    other = open_database(place)

    def rate(number: int) -> None:
        mine, who = (database, other)[number % 2], people[number].rater
        while (found := open_next(mine, who, NOW)) is not None:
            submit(mine, who, found.item, answers(), key=f"the-key-{found.item}", now=NOW)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(rate, range(6)))
    kept = ratings_of(other, "st")
    other.close()
    counts = {item: sum(each.submission == item for each in kept) for item in (f"s{n}" for n in range(8))}
    assert set(counts.values()) == {2} and len(kept) == 16


def test_import_is_whole_and_repeatable(database: Database) -> None:
    ana, ben = begun(database, "Ana", "Ben")
    first = submit(database, ana.rater, "s0", answers("pcccc"), key="some-key", now=NOW)
    of_ben = first.model_copy(update={"id": "imported", "rater": ben.rater.id})
    assert import_ratings(database, "st", [first, of_ben], at=NOW, by="lead") == 1
    assert import_ratings(database, "st", [first, of_ben], at=NOW, by="lead") == 0
    with pytest.raises(Conflict):
        import_ratings(database, "st", [of_ben.model_copy(update={"notes": "other"})], at=NOW, by="lead")
    alien = of_ben.model_copy(update={"id": "alien", "submission": "s77"})
    fine = of_ben.model_copy(update={"id": "fine", "submission": "s1"})
    with pytest.raises(BadInput, match="has not"):
        import_ratings(database, "st", [fine, alien], at=NOW, by="lead")
    assert len(ratings_of(database, "st")) == 2
    with pytest.raises(BadInput, match="axes make it False"):
        import_ratings(database, "st", [fine.model_copy(update={"mergeable": True})], at=NOW, by="lead")
    assert RUBRIC.digest == first.rubric


def test_what_cannot_be_stored_is_refused_in_a_sentence(database: Database) -> None:
    [ana] = begun(database, "Ana")
    for item in ("s0\x00", "s\ud800"):
        try:
            with pytest.raises(BadInput):
                submit(database, ana.rater, item, answers(), key="some-key", now=NOW)
            with pytest.raises(BadInput):
                payload_of(database, "st", item)
        except UnicodeEncodeError:
            pytest.fail("a traceback instead of a sentence")
