"""In a real browser: a lead makes a study, three raters review by keyboard alone, one of them and the server die."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from browser import chromium
from repoassay.review.database import open_database
from repoassay.review.submitting import ratings_of
from server.review.samples import SECRETS, Person, Process, make_run

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from chromium()


@pytest.fixture
def contexts(browser: Browser) -> Iterator[Open]:
    """Opens pages in contexts of their own; whatever a page complains of fails the test."""
    opened: list[BrowserContext] = []
    said: list[str] = []

    def fresh(scheme: Any = "light", quiet: bool = False) -> Page:
        context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        page.set_default_timeout(20_000)
        opened.append(context)
        page.on("pageerror", lambda error: said.append(str(error)))
        if not quiet:
            page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
        return page

    yield fresh
    for context in opened:
        context.close()
    assert said == []


def enter(page: Page, address: str) -> None:
    """Follow an invitation with the keyboard."""
    page.goto(address)
    begin(page)
    page.wait_for_url(re.compile(r"/review/(queue|studies)"))


def begin(page: Page) -> None:
    """Press the button that has the focus from the start."""
    page.wait_for_function("document.activeElement.matches('button.primary')")
    page.keyboard.press("Enter")


def ready(page: Page) -> None:
    """Wait until the page listens to keys and shows the change."""
    page.wait_for_selector("body[data-ready]")
    page.wait_for_selector("table.diff")


def invited(lead: Page, name: str) -> str:
    """Invite somebody; the link is whole once the page's script has put the address before it."""
    lead.fill("[name=name]", name)
    lead.get_by_role("button", name="Invite").click()
    expect(lead.locator("#link")).to_contain_text("http")
    return lead.inner_text("#link")


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


def fill(page: Page, states: str, minutes: str) -> None:
    """Answer everything by keyboard: five axes, minutes, would merge, confidence, notes."""
    ready(page)
    press(page, "1")
    press(page, " ".join(states))
    press(page, "m")
    page.keyboard.type(minutes)
    press(page, "Escape")
    if not page.locator("[name=would_merge]:checked").count():
        press(page, "w")
    press(page, "f f f i")
    page.keyboard.type("y n x 1 s: letters in a field do nothing else")
    press(page, "Escape")


def submit(page: Page, confirm: bool = True) -> None:
    """Submit, then confirm what is revealed."""
    address = page.url
    press(page, "Control+Enter")
    page.wait_for_selector("section.reveal")
    ready(page)
    assert page.url == address
    if not confirm:
        return
    press(page, "Control+Enter")
    page.wait_for_function("address => location.href !== address", arg=address)
    page.wait_for_load_state()


def serious(page: Page) -> list[str]:
    """What axe finds that is serious or worse."""
    page.wait_for_load_state()
    found = Axe().run(page).response["violations"]
    return [
        f"{page.url} {each['id']}: {each['nodes'][0]['target']}"
        for each in found
        if each["impact"] in {"serious", "critical"}
    ]


@pytest.mark.long
def test_one_rater_by_keyboard(owner: Person, url: str, contexts: Open) -> None:
    owner.study(reveal="after_submission", two="on")
    link = url + owner.invite("Ann")
    ann = contexts(quiet=True)
    enter(ann, link)
    begin(ann)
    ready(ann)
    again = _killed_browser(ann, link, contexts)
    _comment(again)
    fill(again, "ynyyy", "15")
    expect(again.locator("#derived")).to_contain_text("You say you would merge it. Is that so?")
    submit(again)
    lines = [json.loads(line) for line in owner.get("/studies/st/export.jsonl").text.splitlines()]
    assert [(line["phase"], line["version"]) for line in lines] == [("blind", 1), ("revealed", 2)]
    assert lines[0]["axes"]["testing"]["evidence"][0]["path"]
    assert not lines[0]["mergeable"] and lines[0]["would_merge"]


@pytest.mark.exhaustive
def test_two_windows_are_shown_both_versions(owner: Person, url: str, contexts: Open) -> None:
    owner.study()
    link = url + owner.invite("Ann")
    first, second = contexts(quiet=True), contexts(quiet=True)
    for page in (first, second):
        enter(page, link)
        begin(page)
        ready(page)
    press(first, "1 y")
    expect(first.locator("#saved")).to_have_text("Saved")
    press(second, "1 n")
    expect(second.locator("#conflict")).to_be_visible()
    expect(second.locator("#conflict-mine")).to_have_text("Core functionality: Problem")
    expect(second.locator("#conflict-theirs")).to_have_text("Core functionality: No problem")
    second.get_by_role("button", name="Keep mine").click()
    expect(second.locator("#saved")).to_have_text("Saved")
    first.reload()
    ready(first)
    assert first.locator("[name='axis.core']:checked").get_attribute("value") == "problem"


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_a_whole_study(tmp_path: Path, contexts: Open) -> None:
    database = str(tmp_path / "reviews.sqlite")
    server = Process(database, make_run(tmp_path / "run"))
    try:
        _whole_study(server, contexts, tmp_path)
        assert server.stop() == 0
    finally:
        server.kill()
    kept = open_database(database)
    ratings = ratings_of(kept, "browser")
    kept.close()
    assert len(ratings) == 3 * 6 * 2
    assert len({(rating.submission, rating.rater, rating.version) for rating in ratings}) == len(ratings)
    assert all(rating.notes.startswith("y n x 1 s") and rating.minutes == 15 for rating in ratings)
    commented = [rating for rating in ratings if rating.axes["testing"].evidence]
    assert commented and commented[0].axes["testing"].evidence[0].path


def _whole_study(server: Process, contexts: Open, tmp_path: Path) -> None:
    lead = contexts()
    enter(lead, server.url + server.link)
    lead.goto(f"{server.url}/review/studies/new")
    lead.fill("[name=name]", "browser")
    lead.get_by_role("button", name="Create the study").click()
    lead.wait_for_url("**/studies/browser")
    links = []
    for name in ("Ann", "Bob", "Cara"):
        links.append(invited(lead, name))
        lead.get_by_role("link", name="Back to the study").click()
    people = [contexts(quiet=True) for _ in links]
    for page, link in zip(people, links, strict=True):
        enter(page, link)
        begin(page)
        ready(page)
    ann, bob, cara = people
    _comment(ann)
    people[1] = bob = _killed_browser(bob, links[1], contexts)
    _killed_server(server, cara)
    for number, page in enumerate(people):
        for item in range(6):
            ready(page)
            text = page.content()
            assert not any(word.lower() in text.lower() for word in SECRETS)
            fill(page, "ynyxu" if number and item < 2 else "yyyyy", "15")
            submit(page)
        expect(page).to_have_url(re.compile("/queue"))
        expect(page.locator("main")).to_contain_text("Everything is submitted")
    _adjudicate(lead, server.url)
    with lead.expect_download() as waiting:
        lead.goto(f"{server.url}/review/studies/browser")
        lead.get_by_role("link", name="Export jsonl").click()
    lines = Path(waiting.value.path()).read_text().splitlines()
    assert len(lines) == 36 and all(json.loads(line)["study"] == "browser" for line in lines)


def _comment(page: Page) -> None:
    """Find a hunk, go down some lines, and say something there for the axis of tests."""
    press(page, "2 j J J J c")
    page.wait_for_selector("#remark[open]")
    page.keyboard.type("Not tested: y n ]")
    press(page, "Control+Enter")
    expect(page.locator("#comments")).to_contain_text("Not tested: y n ]")
    expect(page.locator("tr.comment")).to_contain_text("Not tested")
    # Views, files and ticks go by keyboard too.
    press(page, "s")
    page.wait_for_selector("table.diff.split")
    press(page, "]")
    press(page, "v")
    expect(page.locator("#seen")).to_have_text("1 viewed")
    press(page, "s ?")
    expect(page.locator("#help")).to_be_visible()
    press(page, "?")


def _killed_browser(page: Page, link: str, contexts: Open) -> Page:
    """Fill in half the form, lose the browser, and find everything again in another."""
    press(page, "1 y n x")
    expect(page.locator("#saved")).to_have_text("Saved")
    item = page.url
    page.context.close()
    again = contexts(quiet=True)
    enter(again, link)
    begin(again)
    ready(again)
    assert again.url == item
    states = [again.locator(f"[name='axis.{axis}']:checked").get_attribute("value")
              for axis in ("core", "testing", "documentation")]  # fmt: skip
    assert states == ["no_problem", "problem", "not_applicable"]
    return again


def _killed_server(server: Process, page: Page) -> None:
    """Answer while the server is dead; when it is back, everything is saved."""
    press(page, "1 y")
    expect(page.locator("#saved")).to_have_text("Saved")
    server.kill()
    press(page, "n x")
    expect(page.locator("#saved")).to_contain_text("Not saved")
    server.start()
    expect(page.locator("#saved")).to_have_text("Saved", timeout=20_000)
    page.reload()
    page.wait_for_selector("table.diff")
    assert page.locator("[name='axis.documentation']:checked").get_attribute("value") == "not_applicable"


def _adjudicate(lead: Page, url: str) -> None:
    lead.goto(f"{url}/review/studies/browser/disputes")
    rows = lead.locator("tbody tr")
    before = rows.count()
    assert before > 0
    rows.first.get_by_role("link").click()
    for select in lead.locator("select[name^='state.']").all():
        select.select_option("problem")
    for select in lead.locator("select[name^='cause.']").all():
        select.select_option("guideline_gap")
    lead.get_by_role("button", name="Settle", exact=True).click()
    lead.wait_for_url("**/disputes")
    assert lead.locator("tbody tr").count() == before - 1
    assert "5 labels settled" in lead.content()
    lead.goto(f"{url}/review/studies/browser/figures")
    expect(lead.locator("main")).to_contain_text("Permutation by task")


@pytest.mark.exhaustive
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(tmp_path: Path, contexts: Open, scheme: str) -> None:
    server = Process(str(tmp_path / "reviews.sqlite"), make_run(tmp_path / "run"))
    found: list[str] = []
    try:
        lead, ann = contexts(scheme), contexts(scheme)
        lead.goto(server.url + server.link)
        found += serious(lead)
        enter(lead, server.url + server.link)
        lead.goto(f"{server.url}/review/studies/new")
        found += serious(lead)
        lead.fill("[name=name]", "axe")
        lead.get_by_role("button", name="Create the study").click()
        lead.wait_for_url("**/studies/axe")
        link = invited(lead, "Ann")
        found += serious(lead)
        enter(ann, link)
        found += serious(ann)
        begin(ann)
        ready(ann)
        found += serious(ann)
        fill(ann, "ynyxu", "15")
        press(ann, "s")
        ann.wait_for_selector("table.diff.split")
        press(ann, "?")
        found += serious(ann)
        press(ann, "?")
        submit(ann, confirm=False)
        ann.wait_for_selector("table.diff")
        press(ann, "r")
        ann.wait_for_selector(".rows .pair")
        found += serious(ann)
        item = ann.url.rsplit("/", 1)[1]
        for path in (
            "",
            "/axe",
            "/axe/disputes",
            "/axe/items",
            f"/axe/items/{item}?made=true",
            "/axe/figures",
            "/axe/log",
        ):
            lead.goto(f"{server.url}/review/studies{path}")
            found += serious(lead)
    finally:
        server.kill()
    assert found == []
