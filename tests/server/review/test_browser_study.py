"""In a real browser: a lead and four raters go through a whole study, two by keyboard alone and two by mouse alone.

Nothing is done for them: what a person would do is done on the pages, and only the clock is moved. Every kind of page
that is met is opened 1400, 1200 and 390 pixels wide, and axe finds nothing serious on it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from server.review.conftest import OWNER, Clock
from server.review.samples import make_run
from server.review.test_browser import browser, press, serious

__all__ = ["browser"]

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.timeout(900),
]
AXES = ("core", "testing", "documentation", "lint", "quality")
WIDTHS = (1400, 1200, 390)
_SIGNS = {
    "core": re.compile(r"if not \(|^\s*pass$", re.MULTILINE),
    "testing": re.compile("assert True"),
    "quality": re.compile("DEBUG|old version, kept"),
}
"""What bundled faults look like to whoever reads the change, by the axis that they spoil."""
_TOO_WIDE = """() => {
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= room) return "";
  const scrolls = (each) => each && (getComputedStyle(each).overflowX !== "visible" || scrolls(each.parentElement));
  const far = [...document.querySelectorAll("body *")]
    .filter((each) => each.getBoundingClientRect().right > room && !scrolls(each.parentElement));
  return "scrolls sideways for " + far.map((each) => each.tagName + "." + each.className).slice(-3).join(", ");
}"""


class TravelClock(Clock):
    """The machine's clock, which can be moved forward."""

    def __init__(self) -> None:
        self._start = datetime.now(UTC)
        super().__init__()
        self._set = self.now

    def __call__(self) -> datetime:
        """The time that passed here, and what was skipped."""
        return datetime.now(UTC) + (self.now - self._set)


@pytest.fixture
def clock() -> Clock:
    """A clock that runs."""
    return TravelClock()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six tasks by three agents."""
    place = tmp_path_factory.mktemp("runs") / "three"
    return make_run(place, agents=("zebrawolf", "yakowl", "xenofox"), repositories=True)


@dataclass
class Walker:
    """Somebody at a browser. `used` counts what the hands did: `key`, `mouse`."""

    name: str
    page: Page
    mouse: bool
    kinds: set[str]
    wrong: list[str]
    used: dict[str, int] = field(default_factory=lambda: {"key": 0, "mouse": 0})
    rated: list[str] = field(default_factory=list)
    severe: int = 0
    """How many more good changes this person will refuse."""
    amends: int = 0
    """How many more answers this person will change after the reveal."""

    @property
    def item(self) -> str:
        """The name of the item that is open."""
        return self.page.url.rsplit("/", 1)[1]

    def go(self, name: str | re.Pattern[str], role: str = "button") -> None:
        """Press a button or follow a link, with the hand this person uses."""
        found = self.page.get_by_role(role, name=name).first  # type: ignore[arg-type]
        expect(found).to_be_visible()
        self.page.evaluate("window.old = true")
        if self.mouse:
            found.click()
        elif found.evaluate("each => each === document.activeElement"):
            self.page.keyboard.press("Enter")
        else:
            self._tab_to(found)
            self.page.keyboard.press("Enter")
        self.arrive()

    def arrive(self) -> None:
        """Wait for another page than the one that was marked as old."""
        self.page.wait_for_function("() => !window.old && document.readyState === 'complete'")

    def _tab_to(self, found: object) -> None:
        for _ in range(80):
            self.page.keyboard.press("Tab")
            if found.evaluate("each => each === document.activeElement"):  # type: ignore[attr-defined]
                return
        raise AssertionError(f"{found} cannot be reached by Tab on {self.page.url}")

    def look(self, kind: str) -> None:
        """Open the page at all widths, once for each kind: it fits, and axe is content."""
        if kind in self.kinds:
            return
        self.kinds.add(kind)
        size = self.page.viewport_size
        assert size is not None
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": 844 if width == 390 else 900})
            if wide := self.page.evaluate(_TOO_WIDE):
                self.wrong.append(f"{kind} at {width}: {wide}")
            self.wrong.extend(f"{kind} at {width}: {each}" for each in serious(self.page))
        self.page.set_viewport_size(size)


@pytest.fixture
def walkers(browser: Browser) -> Iterator[dict[str, Walker]]:
    """The lead and four raters; whatever a page's script complains of fails the test."""
    said: list[str] = []
    kinds: set[str] = set()
    found: dict[str, Walker] = {}
    people = {
        "lead": (True, 1400),
        "Ann": (False, 1400),
        "Bob": (False, 1200),
        "Cara": (True, 1200),
        "Dan": (True, 390),
    }
    for name, (mouse, width) in people.items():
        context = browser.new_context(viewport={"width": width, "height": 844 if width == 390 else 900})
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: said.append(str(error)))
        walker = Walker(name, page, mouse, kinds, said)
        page.expose_function("handUsed", lambda what, used=walker.used: used.update({what: used[what] + 1}))
        page.add_init_script(
            "addEventListener('keydown', e => e.isTrusted && handUsed('key'), true);"
            "addEventListener('pointerdown', e => e.isTrusted && handUsed('mouse'), true);"
        )
        found[name] = walker
    yield found
    for walker in found.values():
        walker.page.context.close()
    assert said == []


def answer(walker: Walker, states: dict[str, str], merge: bool) -> None:
    """Answer merge question, axes, minutes and confidence, and submit."""
    page = walker.page
    page.wait_for_selector("body[data-ready]")
    walker.rated.append(walker.item)
    verdict = "yes" if merge else "no"
    if walker.mouse:
        page.locator(f"button[data-verdict={verdict}][data-sure='3']").click()
        for axis in AXES:
            state = states.get(axis, "no_problem")
            page.locator(f"label:has([name='axis.{axis}'][value={state}])").click()
        page.locator("[data-chip='15']").first.click()
        page.locator("#submit").click()
    else:
        letters = {"problem": "n", "no_problem": "y"}
        press(page, " ".join(["y" if merge else "n", *(letters[states.get(axis, "no_problem")] for axis in AXES)]))
        press(page, "1 5 Enter 3 Enter")


def after(walker: Walker, selector: str) -> None:
    """Wait for what follows a submission."""
    walker.page.wait_for_selector(selector)
    walker.page.wait_for_load_state()


def confirm(walker: Walker) -> None:
    """Confirm what was revealed."""
    page = walker.page
    page.wait_for_selector("#rating[data-phase=revealed]")
    page.wait_for_selector("body[data-ready]")
    expect(page.locator("section.reveal")).to_contain_text("Now revealed")
    walker.look("item, revealed")
    if walker.amends:
        walker.amends -= 1
        if walker.mouse:
            page.locator("label:has([name='axis.quality'][value=problem])").click()
        else:
            press(page, "5 n")
    page.evaluate("window.old = true")
    if walker.mouse:
        page.locator("#submit").click()
    else:
        page.keyboard.press("Control+Enter")
    walker.arrive()


def looks_bad(page: Page) -> str:
    """The axis on which the change looks bad to somebody who looks at the list of files; empty for none."""
    files = page.locator(".tree a[data-file]").evaluate_all("links => links.map(each => each.title)")
    code = [file for file in files if file.endswith(".py")]
    tests = [file for file in code if "test" in file]
    if len(code) == len(tests) or not tests:
        return "testing" if code else "core"
    return next((axis for axis, sign in _SIGNS.items() if sign.search(page.inner_text("#files"))), "")


def turn(walker: Walker) -> bool:
    """Rate one item as it comes; False once nothing is left."""
    page = walker.page
    if page.url.endswith("/queue"):
        go_on = page.get_by_role("button", name=re.compile("Begin|Continue"))
        if not go_on.count():
            return False
        walker.go(re.compile("Begin|Continue"))
        if page.url.endswith("/queue"):
            return False
    page.wait_for_selector("body[data-ready]")
    walker.look("item, blind")
    bad = looks_bad(page)
    if not bad and walker.severe:
        bad = "lint"
        walker.severe -= 1
    answer(walker, {bad: "problem"} if bad else {}, not bad)
    confirm(walker)
    return True


def turns(people: list[Walker]) -> bool:
    """Let everybody rate one item; False once nobody has any left."""
    done = [turn(each) for each in people]
    return any(done)


def test_a_study_from_the_first_page_to_the_last(url: str, walkers: dict[str, Walker], clock: Clock) -> None:
    lead = walkers["lead"]
    raters = [walkers[name] for name in ("Ann", "Bob", "Cara", "Dan")]
    _make(lead, url)
    keys = _prepare(lead)
    for rater in raters:
        _enter(rater, _invite(lead, rater.name))
    for rater in raters:
        _train(rater, keys, wrong=rater.name == "Dan")
    _fail_and_pass(walkers["Dan"], lead, keys)
    ann = walkers["Ann"]
    walkers["Bob"].severe = walkers["Cara"].severe = 2
    walkers["Dan"].amends = walkers["Bob"].amends = 1
    lost = _lose(ann, clock)
    others = raters[1:]
    while sum(lost in each.rated for each in others) < 2:
        assert turns(others)
    _hand_in_late(ann)
    while turns(raters):
        pass
    for each in raters:
        expect(each.page.locator("main")).to_contain_text("Everything is submitted")
        each.look("queue, done")
        assert each.used["key" if each.mouse else "mouse"] == 0
    live = {item for each in raters for item in each.rated if item not in keys}
    assert len(live) == 24
    _lead_reads(lead)
    _adjudicate(lead)
    _amend(lead, lost)
    _close_and_open(lead, ann)
    _export(lead, ann, lost)


def _make(lead: Walker, url: str) -> None:
    page = lead.page
    page.goto(f"{url}/review/join/{OWNER}")
    lead.look("join")
    lead.go("Start reviewing")
    lead.look("studies")
    lead.go(re.compile("New study|Make a study"), "link")
    lead.look("new study")
    for name, value in {
        "name": "st", "title": "Changes to six libraries", "overlap": "2", "controls": "2", "faulty": "2",
        "attention": "2", "training": "1", "qualification": "1", "question": "Are they mergeable?",
    }.items():  # fmt: skip
        page.fill(f"[name={name}]", value)
    page.select_option("[name=mode]", "overlap")
    lead.go("Create the study")
    expect(page.locator("main")).to_contain_text("Nobody is invited yet")
    lead.look("study, empty")
    lead.go("Plan", "link")
    page.fill("[name=sampling_frame]", "Every run of three agents on six libraries")
    lead.go("Save the plan")
    page.locator("[name=sure]").check()
    lead.look("plan, saved")
    lead.go("Freeze the plan")
    expect(page.locator("main")).to_contain_text("SHA-256")
    lead.look("plan, frozen")


def _prepare(lead: Walker) -> dict[str, dict[str, str]]:
    """Write instructions; returns the known answers of training and qualification items, as the page tells them."""
    page = lead.page
    lead.go("Preparation", "link")
    page.fill("[name=text]", "Judge as the maintainer of the library would.")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.locator("main")).to_contain_text("Version 1 of")
    lead.look("preparation")
    found = {}
    rows = page.locator("tbody tr").filter(has_text=re.compile("training|qualification"))
    for link in [each.get_attribute("href") for each in rows.get_by_role("link").all()]:
        assert link is not None
        page.locator(f"a[href='{link}']").click()
        page.wait_for_url(f"**{link}")
        lead.look("item of the preparation")
        known = {axis: page.locator(f"[name='state.{axis}']").input_value() for axis in AXES}
        known["merge"] = page.locator("[name=would_merge]").input_value()
        found[link.rsplit("/", 1)[1]] = known
        lead.go("Preparation", "link")
    assert len(found) == 2
    lead.go("Progress", "link")
    return found


def _invite(lead: Walker, name: str) -> str:
    lead.page.fill("[name=name]", name)
    lead.page.locator("[name=once]").check()
    lead.page.select_option("[name=expires]", "7")
    lead.go("Invite")
    expect(lead.page.locator("#link")).to_contain_text("http")
    link = lead.page.inner_text("#link")
    lead.look("invited")
    lead.go("Back to the study", "link")
    return link


def _enter(rater: Walker, link: str) -> None:
    rater.page.goto(link)
    rater.go("Start reviewing")
    rater.look("queue, training")
    rater.go("Begin")
    assert rater.page.url.endswith("/start")
    rater.look("start")
    asked = rater.page.locator("select").all()
    assert len(asked) == 6
    for number, select in enumerate(asked):
        if rater.mouse:
            # The list that a browser opens is the system's; choosing in it is a click for the page.
            select.select_option(index=1 + number % 2)
        else:
            if number:
                rater.page.keyboard.press("Tab")
            expect(select).to_be_focused()
            press(rater.page, "ArrowDown")
    rater.go("I have read this")
    rater.go("Begin")


def _known(keys: dict[str, dict[str, str]], item: str) -> tuple[dict[str, str], bool]:
    known = {axis: state for axis, state in keys[item].items() if state and axis != "merge"}
    return known, keys[item]["merge"] != "no"


def _train(rater: Walker, keys: dict[str, dict[str, str]], wrong: bool) -> None:
    answer(rater, *_known(keys, rater.item))
    after(rater, "h1:has-text('Training: the answers known')")
    rater.look("feedback")
    rater.go("Next")
    states, merge = _known(keys, rater.item)
    if wrong:
        flip = {"problem": "no_problem", "no_problem": "problem"}
        states = {axis: flip[states.get(axis, "no_problem")] for axis in AXES}
        merge = not merge
    answer(rater, states, merge)


def _fail_and_pass(dan: Walker, lead: Walker, keys: dict[str, dict[str, str]]) -> None:
    expect(dan.page.locator("main")).to_contain_text("You did not qualify")
    dan.look("queue, failed")
    lead.page.reload()
    lead.look("study, failed")
    lead.go("Let Dan try again")
    dan.page.reload()
    dan.go(re.compile("Continue|Begin"))
    answer(dan, *_known(keys, dan.item))


def _lose(ann: Walker, clock: Clock) -> str:
    """Type half an answer, go away for an hour, and lose the hold."""
    page = ann.page
    page.wait_for_selector("body[data-ready]")
    press(page, "n y n")
    expect(page.locator("#saved")).to_have_text("Saved")
    lost = ann.item
    page.goto("about:blank")
    clock.forward(3600)
    return lost


def _hand_in_late(ann: Walker) -> None:
    """Come back, find what was typed, and hand it in as an extra rating."""
    page = ann.page
    page.go_back()
    page.wait_for_selector("body[data-ready]")
    expect(page.locator(".late")).to_contain_text("hand it in as an extra rating")
    expect(page.locator("[name='axis.testing'][value=problem]")).to_be_checked()
    ann.look("item, late")
    ann.rated.append(ann.item)
    press(page, "y y y 1 5 Enter 3 Enter")
    confirm(ann)


def _lead_reads(lead: Walker) -> None:
    """Controls caught, hours and pay, drift, expertise; items, figures and the log."""
    page = lead.page
    page.reload()
    lead.look("study, done")
    lead.go("Raters", "link")
    controls = page.get_by_role("region", name="Controls")
    caught = {row.locator("td").first.inner_text(): row.locator("td").all_inner_texts()[1:]
              for row in controls.locator("tbody tr").all()}  # fmt: skip
    shares = [[cell.partition(" ")[0] for cell in cells] for cells in caught.values()]
    attention = [tuple(map(int, cells[2].split("/"))) for cells in shares]
    assert sum(of for _, of in attention) == 4, caught
    assert all(passed == of for passed, of in attention), caught
    assert any(not cells[0].startswith("0/") for cells in shares), caught
    page.fill("[name=rate]", "45.50")
    page.fill("[name=currency]", "EUR")
    lead.go("Set")
    row = page.get_by_role("region", name="Hours").locator("tr", has_text="Dan")
    row.locator("[name=minutes]").fill("15")
    row.locator("[name=reason]").fill("A call on the instructions")
    lead.go("Correct the time of Dan")
    expect(page.locator("main")).to_contain_text("EUR")
    expect(page.locator("main")).to_contain_text("pypi:sqlparse")
    lead.look("raters")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Hours as CSV").click()
    assert "Dan" in Path(waiting.value.path()).read_text()
    for tab in ("Items", "Figures", "Log"):
        lead.go(tab, "link")
        lead.look(tab)


def _adjudicate(lead: Walker) -> None:
    page = lead.page
    lead.go("Adjudication", "link")
    lead.look("adjudication")
    before = page.locator("tbody tr").count()
    assert before > 1
    opened = []
    for number in range(before - 1):
        page.evaluate("window.old = true")
        page.keyboard.press("Control+Enter" if number else "Enter")
        lead.arrive()
        page.wait_for_selector("body[data-ready]")
        lead.look("settle")
        opened.append(lead.item)
        for _ in range(page.locator("tr[data-open]").count()):
            press(page, "n g")
        press(page, "i")
        page.keyboard.type("y n x: a note")
        press(page, "Escape")
    assert len(set(opened)) == before - 1
    page.evaluate("window.old = true")
    page.keyboard.press("Control+Enter")
    lead.arrive()
    lead.go("Adjudication", "link")
    assert page.locator("tbody tr").count() == 1
    assert f"{before - 1} labels settled" in page.inner_text("main")


def _amend(lead: Walker, item: str) -> None:
    """Amend the frozen plan; take an item out of the figures and back in."""
    page = lead.page
    lead.go("Plan", "link")
    page.fill("[name=change]", "The analysis leaves out the second axis")
    page.locator("textarea[name=reason]").fill("Raters read its question in two ways")
    lead.go("Amend the plan")
    for included in ("no", "yes"):
        page.select_option("[name=item]", item)
        page.select_option("[name=included]", included)
        page.locator("input[name=reason]").fill(f"Decided: {included}")
        lead.go("Decide")
        assert page.get_by_role("region", name="Out of the figures").count() == (included == "no")
        lead.look(f"plan, amended, {included}")
    expect(page.get_by_role("region", name="Amendments")).to_contain_text("read its question in two ways")


def _close_and_open(lead: Walker, ann: Walker) -> None:
    lead.go("Progress", "link")
    lead.go("Close the study", "link")
    lead.look("close")
    lead.go("Close the study")
    lead.look("study, closed")
    ann.page.reload()
    expect(ann.page.locator("main")).to_contain_text("takes no more ratings")
    ann.look("queue, closed")
    lead.go("Open the study again")
    expect(lead.page.get_by_role("link", name="Close the study")).to_be_visible()


def _export(lead: Walker, ann: Walker, lost: str) -> None:
    page = lead.page
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Export jsonl").click()
    lines = [json.loads(line) for line in Path(waiting.value.path()).read_text().splitlines()]
    blind = [line for line in lines if line["phase"] == "blind"]
    assert len(lines) == 2 * len(blind) == 2 * (24 * 2 + 1)
    late = [line for line in blind if line["submission"] == lost]
    assert len(late) == 3
