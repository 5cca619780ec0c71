from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from repoassay.db import Database
from repoassay.errors import BadInput
from repoassay.review.answers import Answers
from repoassay.review.comments import add_comment, comments_by, comments_on, remove_comment
from repoassay.review.database import Conflict, event_log
from repoassay.review.drafts import RatingDraft, draft_of, save_draft
from repoassay.review.submitting import submit
from repoassay.types import Anchor, RatingPhase
from review.samples import NOW, answers, begun

HALF = Answers(notes="half a thought")


def test_a_draft_comes_back(database: Database) -> None:
    ana, ben = begun(database, "Ana", "Ben")
    assert draft_of(database, ana.rater, "s0") is None
    assert save_draft(database, ana.rater, "s0", HALF, version=0, now=NOW).version == 1
    second = save_draft(database, ana.rater, "s0", answers(), version=1, now=NOW)
    assert draft_of(database, ana.rater, "s0") == second == RatingDraft(2, answers(), NOW)
    assert (
        draft_of(database, ben.rater, "s0") is None
        and draft_of(database, ana.rater, "s0", RatingPhase.REVEALED) is None
    )


def test_a_stale_draft_overwrites_nothing(database: Database) -> None:
    [ana] = begun(database, "Ana")
    save_draft(database, ana.rater, "s0", HALF, version=0, now=NOW)
    theirs = save_draft(database, ana.rater, "s0", answers(), version=1, now=NOW)
    mine = Answers(notes="from an old window")
    for stale in (0, 1, 7):
        with pytest.raises(Conflict) as caught:
            save_draft(database, ana.rater, "s0", mine, version=stale, now=NOW)
        assert caught.value.stored == theirs and caught.value.offered == mine
    assert draft_of(database, ana.rater, "s0") == theirs


def test_a_repeated_save_is_no_conflict(database: Database) -> None:
    [ana] = begun(database, "Ana")
    for _ in range(2):
        assert save_draft(database, ana.rater, "s0", HALF, version=0, now=NOW).version == 1
    for _ in range(2):
        assert save_draft(database, ana.rater, "s0", answers(), version=1, now=NOW).version == 2


def test_a_late_autosave_does_not_bring_a_draft_back(database: Database) -> None:
    [ana] = begun(database, "Ana")
    save_draft(database, ana.rater, "s0", HALF, version=0, now=NOW)
    submit(database, ana.rater, "s0", answers(), key="some-key", now=NOW)
    for version in (0, 1):
        with pytest.raises(Conflict, match="submitted"):
            save_draft(database, ana.rater, "s0", HALF, version=version, now=NOW)
    assert draft_of(database, ana.rater, "s0") is None


def test_one_of_many_windows_wins(database: Database) -> None:
    [ana] = begun(database, "Ana")

    def press(number: int) -> bool:
        try:
            save_draft(database, ana.rater, "s0", Answers(notes=str(number)), version=0, now=NOW)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        won = list(pool.map(press, range(6)))
    stored = draft_of(database, ana.rater, "s0")
    assert stored is not None and stored.version == 1
    assert won.count(True) == 1 and stored.answers.notes == str(won.index(True))


def test_a_draft_of_an_item_that_is_not_yours(database: Database) -> None:
    [ana] = begun(database, "Ana")
    with pytest.raises(BadInput, match="not in your queue"):
        save_draft(database, ana.rater, "s99", HALF, version=0, now=NOW)


def test_comments(database: Database) -> None:
    ana, ben = begun(database, "Ana", "Ben")
    place = Anchor(path="a/<x>.py", line=3, end_line=4, quote="x = 1")
    mine = add_comment(database, ana.rater, "s0", place, "Why?", now=NOW, axis="core")
    theirs = add_comment(database, ben.rater, "s0", place, "<script>", now=NOW)
    assert comments_by(database, ana.rater, "s0") == (mine,) and comments_by(database, ana.rater, "s1") == ()
    assert set(comments_on(database, "st", "s0")) == {mine, theirs}
    assert not remove_comment(database, ana.rater, theirs.id, NOW)
    assert remove_comment(database, ana.rater, mine.id, NOW) and not remove_comment(database, ana.rater, mine.id, NOW)
    assert comments_by(database, ana.rater, "s0") == ()
    assert "Why?" in [event.details.get("text") for event in event_log(database, "st")]


def test_comments_that_are_refused(database: Database) -> None:
    [ana] = begun(database, "Ana")
    place = Anchor(path="a", line=1, end_line=1)
    for item, text, axis in (("s0", " ", None), ("s0", "x" * 10_001, None), ("s0", "x", "speed"), ("s9", "x", None)):
        with pytest.raises(BadInput):
            add_comment(database, ana.rater, item, place, text, now=NOW, axis=axis)
