"""In a real browser: a lead prepares raters who train and qualify by keyboard or mouse; pages fit a telephone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from repoassay.review.studies import uses_of
from repoassay.server.review.review_state import ReviewState
from server.review.conftest import OWNER
from server.review.samples import Person, answers
from server.review.test_browser import Open, begin, browser, contexts, enter, ready, serious

__all__ = ["browser", "contexts"]

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.timeout(600),
]


def right(desk: ReviewState, page: Page) -> dict[str, str]:
    """The answers known of the item that is open."""
    ready(page)
    return dict(uses_of(desk.database, "st")[page.url.rsplit("/", 1)[1]][1].states)


def person_item(person: Person) -> str:
    """The first item of somebody's queue."""
    return str(re.findall(r"/review/item/(s\w+)", person.get("/queue").text)[0])


def rate(page: Page, states: dict[str, str], *, mouse: bool) -> None:
    """Answer every axis and the question of merging, with the mouse alone or the keyboard alone, and submit."""
    ready(page)
    bad = any(state == "problem" for state in states.values())
    axes = ("core", "testing", "documentation", "lint", "quality")
    if mouse:
        for axis in axes:
            state = states.get(axis, "no_problem")
            page.locator(f"[name='axis.{axis}'][value={state}]").click(force=True)
        page.locator(f"[name=would_merge][value={'no' if bad else 'yes'}]").click(force=True)
        page.locator("[data-chip], .chips button").first.click()
        page.locator("#submit").click()
    else:
        page.keyboard.press("1")
        for axis in axes:
            page.keyboard.press("n" if states.get(axis) == "problem" else "y")
        page.keyboard.press("m")
        page.keyboard.type("5")
        page.keyboard.press("Escape")
        page.keyboard.press("0")
        page.keyboard.press("n" if bad else "y")
        page.keyboard.press("Control+Enter")
    before = page.url
    page.wait_for_timeout(300)
    if page.locator("#fast[open]").count():
        if mouse:
            page.locator("#fast button.primary").click()
        else:
            page.keyboard.press("Enter")
    page.wait_for_function("address => location.href !== address", arg=before)


@pytest.mark.parametrize("mouse", [False, True])
def test_training_then_a_failed_and_a_passed_qualification(
    owner: Person, url: str, desk: ReviewState, contexts: Open, mouse: bool
) -> None:
    assert owner.study(training="1", qualification="1", faulty="1").url.path.endswith("/st")
    ann = contexts(quiet=True)
    enter(ann, url + owner.invite("Ann"))
    assert serious(ann) == []
    begin(ann)
    rate(ann, right(desk, ann), mouse=mouse)
    expect(ann.locator("h1")).to_have_text("Training: the answers known")
    assert serious(ann) == []
    begin(ann)
    wrong = {"core": "problem"} if "core" not in right(desk, ann) or len(right(desk, ann)) == 5 else {}
    rate(ann, wrong, mouse=mouse)
    ann.goto(f"{url}/review/queue")
    expect(ann.locator("main")).to_contain_text("You did not qualify")
    lead = contexts()
    enter(lead, f"{url}/review/join/{OWNER}")
    lead.goto(f"{url}/review/studies/st")
    lead.get_by_role("button", name="Let Ann try again").click()
    ann.goto(f"{url}/review/queue")
    begin(ann)
    rate(ann, right(desk, ann), mouse=mouse)
    ann.goto(f"{url}/review/queue")
    expect(ann.locator("main")).to_contain_text("You are qualified")
    assert serious(ann) == []
    begin(ann)
    ready(ann)


def test_pages_of_leads_fit_and_are_accessible(owner: Person, url: str, contexts: Open) -> None:
    owner.study(faulty="1", attention="1", controls="1", two="on", reveal="after_submission")
    for name, states in (("Ann", "ccccc"), ("Bob", "pcccc")):
        person = Person(url, owner.invite(name))
        while item := person.next():
            person.call(f"/item/{item}/submit", key=f"key-{item}", answers=answers(states))
        person.call(f"/item/{person_item(person)}/submit", key="r" * 9, phase="revealed", answers=answers("ppccc"))
    owner.form("/studies/st/preparation/instructions", text="Judge as a maintainer.")
    lead = contexts()
    enter(lead, f"{url}/review/join/{OWNER}")
    item = re.findall(r"/preparation/(s\w+)", owner.get("/studies/st/preparation").text)[0]
    places = ["", "/st", "/st/close", "/st/disputes", "/st/items", f"/st/items/{item}", "/st/raters",
              "/st/preparation", f"/st/preparation/{item}", "/st/figures", "/st/log", "/new"]  # fmt: skip
    wide, found = [], []
    for width in (1400, 1200, 390):
        lead.set_viewport_size({"width": width, "height": 844})
        for place in places:
            lead.goto(f"{url}/review/studies{place}")
            found += serious(lead)
            beyond = lead.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if beyond > 0:
                wide.append(f"{place} {width} {beyond}")
    assert found == []
    assert wide == []


def test_closing_asks_and_is_undone(owner: Person, url: str, contexts: Open) -> None:
    owner.study()
    lead = contexts()
    enter(lead, f"{url}/review/join/{OWNER}")
    lead.goto(f"{url}/review/studies/st")
    lead.get_by_role("link", name="Close the study").click()
    lead.get_by_role("button", name="Close the study").click()
    lead.get_by_role("button", name="Open the study again").click()
    expect(lead.get_by_role("link", name="Close the study")).to_be_visible()
