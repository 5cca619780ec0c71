"""People of a study, from the wire: prepared by items with known answers, held against controls, paid and told."""

from __future__ import annotations

import csv
import io
import re

import pytest

from repoassay.review.studies import items_of, uses_of
from repoassay.review.study import Golden
from repoassay.server.review.review_state import ReviewState
from server.review.conftest import Clock
from server.review.samples import Person, answers
from server.review.test_blindness import crawl


def hand_in(person: Person, item: str, states: str, **more: object) -> dict[str, object]:
    given = person.call(f"/item/{item}/submit", key=f"key-{item}-{states}", answers=answers(states, **more))
    assert given.status_code == 200, given.text
    found: dict[str, object] = given.json()
    return found


def by_key(desk: ReviewState, item: str) -> str:
    """The letters of answers that are those of the item's key."""
    key = uses_of(desk.database, "st")[item][1]
    return "".join("p" if key.states.get(axis) == "problem" else "c"
                   for axis in ("core", "testing", "documentation", "lint", "quality"))  # fmt: skip


@pytest.mark.long
def test_training_qualification_live(owner: Person, url: str, desk: ReviewState) -> None:
    made = owner.study(controls="2", faulty="2", attention="1", training="2", qualification="2")
    assert made.url.path.endswith("/st"), made.text
    ann, bob = Person(url, owner.invite("Ann")), Person(url, owner.invite("Bob"))
    assert ann.get("/queue").text.count("training</span>") == 2
    for _ in range(2):
        item = ann.next()
        assert "/start/feedback" not in ann.get(f"/item/{item}").text
        assert ann.get(f"/start/feedback/{item}").status_code == 404
        then = hand_in(ann, item, "ccccc")["then"]
        assert then == f"/review/start/feedback/{item}"
        assert "Known answer" in ann.get(f"/start/feedback/{item}").text
    for _ in range(2):
        item = ann.next()
        assert hand_in(ann, item, by_key(desk, item))["then"] is None
        assert ann.get(f"/start/feedback/{item}").status_code == 404
    assert "You are qualified" in ann.get("/queue").text
    live = []
    while item := ann.next():
        live.append(item)
        hand_in(ann, item, "ccccc")
    assert len(live) == 11
    for _ in range(4):
        hand_in(bob, bob.next(), "nnnnn")
    assert bob.next() == "" and "You did not qualify" in bob.get("/queue").text
    page = owner.get("/studies/st").text
    found = re.search(r"/preparation/again/(\w+)", page)
    assert found is not None and "qualified" in page and "failed" in page
    assert owner.form(f"/studies/st/preparation/again/{found[1]}").status_code == 200
    for _ in range(2):
        item = bob.next()
        hand_in(bob, item, by_key(desk, item))
    assert "You are qualified" in bob.get("/queue").text and bob.next()
    # Ann would merge everything: every known-bad control and the attention check went by her.
    raters = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", owner.get("/studies/st/raters").text))
    assert re.search(
        r"Ann missed an attention check 0/2 \(0 %\).* 0/3 \(0 %\).* 0/1 \(0 %\).* 2/2 \(100 %\)", raters
    ), raters
    assert len(owner.get("/studies/st/export.jsonl").text.splitlines()) == 11
    log = owner.get("/studies/st/log").text
    assert "qualification_passed" in log and "qualification_failed" in log and "qualification_again" in log


@pytest.mark.exhaustive
def test_raters_are_not_told_which_items_are_controls(owner: Person, url: str, desk: ReviewState) -> None:
    owner.study(controls="2", faulty="3", attention="1", training="1", qualification="1", two="on",
                reveal="after_submission")  # fmt: skip
    ann = Person(url, owner.invite("Ann"))
    while item := ann.next():
        prepares = item in uses_of(desk.database, "st")
        hand_in(ann, item, by_key(desk, item) if prepares else "ccccc")
    told = {item.id: str(item.hidden.evidence.get("told", "none")) for item in items_of(desk.database, "st")}
    training = {item for item, (use, _) in uses_of(desk.database, "st").items() if use == "training"}
    for path, text in crawl(ann, "/queue").items():
        shown = text.lower().replace("cache-control", "")
        assert "golden" not in shown and " fault:" not in shown and "attention check" not in shown, path
        assert "<dt>control" not in shown, path
        if not any(item in path for item in training):
            assert not any(said in text for said in told.values() if said != "none"), path
    bad = [item for item in items_of(desk.database, "st") if item.hidden.golden is Golden.BAD and item.use == "live"]
    assert len(bad) == 4
    page = ann.get(f"/item/{bad[0].id}").text
    assert "human" in page and "Now revealed" in page
    assert "with a fault put into it" in owner.get(f"/studies/st/items/{bad[0].id}?made=true").text


def test_a_lead_marks_items_and_writes_instructions(owner: Person, url: str) -> None:
    owner.study()
    item = re.findall(r"/preparation/(s\w+)", owner.get("/studies/st/preparation").text)[0]
    place = f"/studies/st/preparation/{item}"
    assert owner.form(place, use="training").status_code == 422
    assert owner.form(place, use="nothing").status_code == 422
    given = {"use": "training", "state.core": "problem", "would_merge": "no", "feedback": "<b>See line 3</b>"}
    assert owner.form(place, **given).status_code == 200
    assert owner.form("/studies/st/preparation/agreement", percent="900").status_code == 422
    assert owner.form("/studies/st/preparation/instructions", text=" ").status_code == 422
    owner.form("/studies/st/preparation/instructions", text="Judge <i>kindly</i>.")
    ann = Person(url, owner.invite("Ann"))
    ann.get("/queue")
    assert ann.form("/next").url.path == "/review/start"
    assert "&lt;i&gt;kindly" in ann.get("/start").text
    ann.form("/start", version="1")
    assert ann.next() == item
    hand_in(ann, item, "pcccc")
    assert "&lt;b&gt;See line 3" in ann.get(f"/start/feedback/{item}").text
    hand_in(ann, ann.next(), "ccccc")
    assert '"instructions":1' in owner.get("/studies/st/export.jsonl").text
    assert owner.form(place, **given).status_code == 422  # somebody began


def test_hours_are_paid_with_corrections(owner: Person, url: str) -> None:
    owner.study()
    ann = Person(url, owner.invite("=Ann"))
    hand_in(ann, ann.next(), "ccccc", active_seconds=0.0)
    page = owner.get("/studies/st/raters").text
    found = re.search(r"/raters/hours/(\w+)", page)
    assert found is not None
    for fields in (
        {"minutes": "x", "reason": "y"},
        {"minutes": "30", "reason": " "},
        {"minutes": "inf", "reason": "y"},
    ):
        assert owner.form(f"/studies/st/raters/hours/{found[1]}", **fields).status_code == 422
    for fields in ({"rate": "x", "currency": "EUR"}, {"rate": "-1", "currency": "EUR"}, {"rate": "1", "currency": "e"}):
        assert owner.form("/studies/st/raters/pay", **fields).status_code == 422
    owner.form("/studies/st/raters/pay", rate="40.50", currency="EUR")
    owner.form(f"/studies/st/raters/hours/{found[1]}", minutes="30", reason="A call")
    owner.form(f"/studies/st/raters/hours/{found[1]}", minutes="-10", reason="A break")
    [row] = csv.DictReader(io.StringIO(owner.get("/studies/st/raters/hours.csv").text))
    assert (row["name"], row["hours"], row["pay"], row["currency"]) == ("'=Ann", "0.3333", "13.50", "EUR")


def test_closing_asks_and_can_be_undone_and_keeps_what_is_typed(owner: Person, url: str) -> None:
    owner.study()
    ann = Person(url, owner.invite("Ann"))
    item = ann.next()
    ann.call(f"/item/{item}/draft", version=0, answers=answers(notes="half a thought"))
    asked = owner.get("/studies/st/close").text
    assert "6 of 6 are missing, and 1 item is open" in asked
    owner.form("/studies/st/close")
    kept = ann.call(f"/item/{item}/draft", version=1, answers=answers(notes="a whole thought"))
    assert kept.json()["closed"] is True
    page = ann.get(f"/item/{item}")
    assert page.status_code == 200 and "a whole thought" in page.text and "study was closed" in page.text
    assert ann.call(f"/item/{item}/submit", key="k" * 12, answers=answers()).status_code == 422
    assert "Open the study again" in owner.get("/studies/st").text
    owner.form("/studies/st/reopen")
    assert "a whole thought" in ann.get(f"/item/{item}").text
    hand_in(ann, item, "ccccc")
    assert "study_reopened" in owner.get("/studies/st/log").text


@pytest.mark.long
def test_blind_and_revealed_progress_are_told_apart(owner: Person, url: str) -> None:
    owner.study(two="on", reveal="after_submission")
    ann = Person(url, owner.invite("Ann"))
    items = []
    while item := ann.next():
        items.append(item)
        hand_in(ann, item, "ccccc")
    assert "Continue: 6 to confirm" in ann.get("/queue").text
    ann.call(f"/item/{items[0]}/submit", key="r" * 12, phase="revealed", answers=answers("pcccc"))
    assert "Continue: 5 to confirm" in ann.get("/queue").text
    assert ">6/6<" in owner.get("/studies/st").text and ">1/6<" in owner.get("/studies/st").text


@pytest.mark.parametrize(("fields", "seconds"), [({"expires": "1"}, 86_401), ({"once": "on"}, 0)])
def test_invitations_end(owner: Person, url: str, clock: Clock, fields: dict[str, str], seconds: float) -> None:
    owner.study()
    found = re.search(r'data-path="([^"]+)"', owner.form("/studies/st/invite", name="Ann", role="rater", **fields).text)
    assert found is not None
    ann, late = Person(url, found[1]), Person(url)
    assert ann.get("/queue").status_code == 200
    clock.forward(seconds)
    assert late.join(found[1]).status_code == 404 and late.get("/queue").status_code == 401
    assert ann.get("/queue").status_code == 200  # a session that has begun goes on
