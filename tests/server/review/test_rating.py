"""A rater's work through the API: drafts, conflicts, comments, submissions sent twice, leases, amending."""

from __future__ import annotations

import re
import threading

import pytest

from repoassay.review.database import event_log
from repoassay.review.submitting import ratings_of
from repoassay.server.review.review_state import ReviewState
from server.review.conftest import OWNER, Clock
from server.review.samples import Person, answers


@pytest.fixture
def ann(owner: Person, url: str) -> Person:
    owner.study()
    return Person(url, owner.invite("Ann"))


def test_a_draft_comes_back_and_goes_with_the_submission(ann: Person, owner: Person, url: str) -> None:
    item = ann.next()
    half = {"axes": {"core": {"state": "problem"}}, "notes": "half \u2028 done <b>", "active_seconds": 12}
    assert ann.call(f"/item/{item}/draft", version=0, answers=half).json()["version"] == 1
    link = owner.invite("Other")
    again = Person(url)
    again.http.cookies = ann.http.cookies
    page = again.get(f"/item/{item}").text
    assert 'data-version="1"' in page and "half U+2028" not in page and "&lt;b&gt;" in page
    kept = again.get(f"/api/item/{item}/draft").json()
    assert kept["answers"]["axes"]["core"]["state"] == "problem"
    assert kept["missing"] == ["testing", "documentation", "lint", "quality", "minutes", "would_merge"]
    assert ann.call(f"/item/{item}/submit", key="k" * 12, answers=half).status_code == 422
    done = ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers("pcnuc"))
    assert done.json()["mergeable"] is False
    assert Person(url, link).get(f"/item/{item}").status_code == 200
    late = ann.call(f"/item/{item}/draft", version=1, answers=half)
    assert late.status_code == 409 and late.json()["submitted"]


def test_a_conflict_tells_both_and_overwrites_nothing(ann: Person) -> None:
    item = ann.next()
    ann.call(f"/item/{item}/draft", version=0, answers=answers("ccccc"))
    told = ann.call(f"/item/{item}/draft", version=0, answers=answers("ppppp"))
    assert told.status_code == 409
    said = told.json()
    assert said["version"] == 1 and not said["submitted"]
    assert said["stored"]["axes"]["core"]["state"] == "no_problem"
    assert said["offered"]["axes"]["core"]["state"] == "problem"
    assert ann.call(f"/item/{item}/draft", version=1, answers=answers("ppppp")).json()["version"] == 2


def test_a_submission_sent_again_is_one(ann: Person, desk: ReviewState) -> None:
    item = ann.next()
    first = ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers()).json()
    assert ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers()).json()["rating"] == first["rating"]
    other = ann.call(f"/item/{item}/submit", key="o" * 12, answers=answers("ppppp"))
    assert other.status_code == 409 and other.json()["submitted"]
    assert len(ratings_of(desk.database, "st")) == 1


def test_many_windows_at_once_make_one_rating(ann: Person, desk: ReviewState, url: str) -> None:
    item = ann.next()
    people = [Person(url) for _ in range(8)]
    codes = []
    for person in people:
        person.http.cookies, person.csrf = ann.http.cookies, ann.csrf

    def send(number: int) -> None:
        codes.append(people[number].call(f"/item/{item}/submit", key=f"key-{number:08}", answers=answers()).status_code)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [200] + [409] * 7
    assert len(ratings_of(desk.database, "st")) == 1


def test_time_is_what_passed_and_active_time_no_more(ann: Person, desk: ReviewState, clock: Clock) -> None:
    item = ann.next()
    clock.forward(90)
    ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers(active_seconds=10**8, wall_seconds=1))
    (rating,) = ratings_of(desk.database, "st")
    assert (rating.active_seconds, rating.wall_seconds) == (90.0, 90.0)


def test_comments_are_quoted_by_the_server_and_become_evidence(ann: Person, desk: ReviewState) -> None:
    item = ann.next()
    rows = ann.get(f"/item/{item}/diff/0").text
    found = re.search(r'data-line="(\d+)" data-side="new"', rows)
    assert found is not None
    line = int(found[1])
    made = ann.call(
        f"/item/{item}/comments", file=0, side="new", line=line, text="Look", axis="testing", quote="forged"
    )
    assert made.status_code == 200 and made.json()["anchor"]["quote"] != "forged"
    assert "Look" in ann.get(f"/item/{item}/diff/0").text and "Look" in ann.get(f"/item/{item}/comments").text
    second = ann.call(f"/item/{item}/comments", file=0, side="new", line=line, text="Gone", axis="core").json()
    assert ann.call(f"/item/{item}/comments/{second['id']}/remove").json() == {"removed": True}
    assert ann.call(f"/item/{item}/comments/{second['id']}/remove").json() == {"removed": False}
    ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers("cpccc"))
    (rating,) = ratings_of(desk.database, "st")
    (anchor,) = rating.axes["testing"].evidence
    assert anchor.line == line and rating.axes["core"].evidence == ()


NOTHING: tuple[dict[str, object], ...] = (
    {"file": 99, "side": "new", "line": 1}, {"file": -1, "side": "new", "line": 1},
    {"file": 0, "side": "up", "line": 1},
    {"file": 0, "side": "new", "line": 10**7}, {"file": 0, "side": "new", "line": 5, "end_line": 4},
    {"file": 0, "side": "new", "line": 1, "end_line": 10**9}, {"file": "0", "side": "new", "line": 1},
    {"file": 0, "side": "new", "line": "1"}, {"file": 0, "side": ["new"], "line": 1}, {},
)  # fmt: skip


def test_comments_on_nothing_are_refused(ann: Person) -> None:
    item = ann.next()
    for body in NOTHING:
        assert ann.call(f"/item/{item}/comments", text="x", **body).status_code == 422, body


def test_an_item_is_held_while_its_rater_is_there(owner: Person, url: str, clock: Clock, desk: ReviewState) -> None:
    owner.study(mode="overlap", overlap="1")
    ann, bob = Person(url, owner.invite("Ann")), Person(url, owner.invite("Bob"))
    first = ann.next()
    assert ann.next() == first
    assert bob.next() != first and bob.get(f"/item/{first}").status_code == 409
    clock.forward(29 * 60)
    assert ann.call(f"/item/{first}/alive").json()["held"] is True
    clock.forward(20 * 60)
    assert bob.get(f"/item/{first}").status_code == 409
    clock.forward(20 * 60)
    assert ann.call(f"/item/{first}/alive").json()["held"] is False
    assert bob.get(f"/item/{first}").status_code == 200
    # What was nearly done is taken all the same.
    assert ann.call(f"/item/{first}/submit", key="k" * 12, answers=answers()).status_code == 200
    bob.form(f"/item/{first}/release")
    assert "lease_released" in {event.kind for event in event_log(desk.database, "st")}


def test_a_closed_study_takes_nothing_more(ann: Person, owner: Person) -> None:
    item = ann.next()
    owner.form("/studies/st/close")
    assert ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers()).status_code == 422
    assert ann.get(f"/item/{item}").status_code == 422
    assert "no more ratings" in ann.get("/queue").text


@pytest.mark.by_day(1)
@pytest.mark.parametrize("seconds", [-7200.0, -31_536_000.0, 90_000.0])
def test_a_clock_that_jumps_loses_nothing(
    owner: Person, url: str, clock: Clock, desk: ReviewState, seconds: float
) -> None:
    """The machine's clock is set back by hours or a year, or forward by a day, while two people have items open."""
    owner.study(mode="overlap", overlap="2", lease="30")
    ann, bob = Person(url, owner.invite("Ann")), Person(url, owner.invite("Bob"))
    held = {person: person.next() for person in (ann, bob)}
    for person, item in held.items():
        assert person.call(f"/item/{item}/draft", version=0, answers=answers("pcccc")).status_code == 200
    clock.forward(seconds)
    for person, item in held.items():
        assert person.get(f"/item/{item}").status_code == 200
        assert person.call(f"/item/{item}/draft", version=1, answers=answers("ppccc")).status_code == 200
        done = person.call(f"/item/{item}/submit", key=f"key-{item}", answers=answers("ppccc"))
        assert done.status_code == 200, done.text
        while later := person.next():
            clock.forward(-60)
            assert person.call(f"/item/{later}/submit", key=f"key-{later}", answers=answers()).status_code == 200
    owner.join(f"/review/join/{OWNER}")  # sessions end by the clock
    for place in ("", "/raters", "/figures", "/log"):
        assert owner.get(f"/studies/st{place}").status_code == 200
    found = ratings_of(desk.database, "st")
    assert len(found) == 12 and all(rating.wall_seconds >= 0 <= rating.active_seconds for rating in found)
