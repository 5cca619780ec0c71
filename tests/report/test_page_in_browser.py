"""The page of a run and of an attempt in a real browser, without network: what they show, whether all can use them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from browser import DESKTOP, PHONE, VIEWS, Opened
from repoassay.records import RunFolder
from repoassay.report import summarise, write_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PASSED, FAILED = (0x00, 0x9E, 0x73), (0xD5, 0x5E, 0x00)
STEPS = [
    {"index": 1, "source": "user", "text": "Fix the ledger. " * 80},
    {"index": 2, "source": "agent", "text": "I look first.", "usage": {"input": 1200, "output": 34},
     "calls": [{"id": "a", "name": "bash", "arguments": {"command": "ls -la && cat ledger.py"}}],
     "observations": [{"call": "a", "text": "</pre><script>alert(1)</script>\n" * 40}]},
    {"index": 3, "source": "agent", "text": "", "reasoning": "A sign is wrong.",
     "calls": [{"id": "b", "name": "str_replace_editor", "arguments": {
         "command": "str_replace", "path": "/repo/ledger.py",
         "old_str": "a = 1\nb = 2\nc = 3", "new_str": "a = 1\nb = -2\nc = 3"}}],
     "observations": [{"call": "b", "text": "edited", "failed": False}]},
]  # fmt: skip


@pytest.fixture
def page(varied: RunFolder, tmp_path: Path) -> Path:
    """The page far from its run folder: it must need nothing but the folder beside it."""
    folder = next(varied.finished()).folder
    (folder / "trajectory.json").write_text(json.dumps({"schema_version": 1, "agent": "x", "steps": STEPS}))
    return write_html(summarise(varied), tmp_path / "elsewhere.html")


@pytest.fixture
def read(page: Path, varied: RunFolder) -> Path:
    """The page of the attempt that left steps."""
    return page.with_name("elsewhere_files") / f"{next(varied.finished()).attempt.id}.html"


def colours(picture: bytes) -> dict[tuple[int, ...], int]:
    """How many pixels have each colour."""
    found = Image.open(io.BytesIO(picture)).convert("RGB").getcolors(1 << 24)
    assert found is not None
    return {colour: count for count, colour in found if isinstance(colour, tuple)}


def shown(opened: Opened) -> list[str]:
    found: list[str] = opened.page.locator("#attempts tbody tr td:nth-child(2)").all_inner_texts()
    return found


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("size", "scheme"), [VIEWS[0], *(pytest.param(*view, marks=pytest.mark.exhaustive) for view in VIEWS[1:])]
)
@pytest.mark.parametrize("which", ["page", "read"])
def test_it_draws_without_a_complaint(
    browser: Browser, page: Path, read: Path, which: str, size: tuple[int, int], scheme: str
) -> None:
    path = page if which == "page" else read
    opened = Opened(browser, path, size, scheme)
    whole = colours(opened.page.screenshot(full_page=True))
    assert opened.complaints == []
    assert set(opened.requests) == {path.as_uri()}
    ground = max(whole.items(), key=lambda item: item[1])[0]
    assert (sum(ground) > 3 * 128) == (scheme == "light")
    if which == "page":
        assert opened.page.locator(".score strong").first.is_visible()
        if size == DESKTOP:
            bars = colours(opened.page.locator(".systems").screenshot())
            assert bars[PASSED] > 500 and bars[FAILED] > 100
    # Nothing makes the reader scroll sideways.
    assert opened.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    opened.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert opened.serious_faults() == []
    opened.close()


def test_an_outcome_has_one_colour_wherever_it_stands(browser: Browser, page: Path) -> None:
    opened = Opened(browser, page)
    opened.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    pills = opened.page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.pill')].map(p => [p.className.match(/p-(\\w+)/)[1],"
        " getComputedStyle(p.querySelector('i')).backgroundColor]))"
    )
    drawn = opened.page.evaluate(
        "[...document.querySelectorAll('[class*=\"f-\"]')].map(p => [p.getAttribute('class').match(/f-(\\w+)/)[1],"
        " getComputedStyle(p).fill])"
    )
    assert len(set(pills.values())) == len(pills) == 10
    meaning = {colour: name for name, colour in pills.items()}
    for name, colour in drawn:
        assert meaning.setdefault(colour, name) == name
    opened.close()


def test_texts_in_plots_do_not_run_into_each_other(browser: Browser, page: Path) -> None:
    for size in (DESKTOP, PHONE):
        opened = Opened(browser, page, size)
        opened.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        overlaps = opened.page.evaluate(
            "[...document.querySelectorAll('.plot > svg')].flatMap(svg => {"
            " const boxes = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);"
            " return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) => p.left < q.right &&"
            " q.left < p.right && p.top < q.bottom - 3 && q.top < p.bottom - 3).map(([b]) => a + ' / ' + b)) })"
        )
        assert overlaps == []
        opened.close()


@pytest.mark.exhaustive
def test_without_scripts_every_attempt_can_be_opened(browser: Browser, page: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(page.as_uri())
    assert opened.locator(".matrix a.cell").count() == 19 and opened.locator("#browser").is_hidden()
    opened.locator(".matrix a.cell").first.click()
    assert opened.locator("h1").inner_text().startswith("task-01")
    assert opened.locator(".evidence").is_visible()
    opened.get_by_text("All results").click()
    assert "beta passed most" in opened.locator("h1").inner_text()
    context.close()


@pytest.mark.long
def test_the_policy_stops_a_script_that_is_not_ours(browser: Browser, page: Path, read: Path) -> None:
    for path in (page, read):
        opened = Opened(browser, path)
        opened.page.evaluate(
            "const s = document.createElement('script'); s.textContent = 'window.bad = 1'; document.body.append(s)"
        )
        opened.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.bad = 2\">')")
        assert opened.page.evaluate("window.bad") is None
        assert any("Content Security Policy" in complaint for complaint in opened.complaints)
        opened.close()


def test_the_list_sorts_filters_and_links(browser: Browser, page: Path) -> None:
    opened = Opened(browser, page)
    find, outcome, agent = (opened.page.locator(name) for name in ("#find", "#by-outcome", "#by-agent"))
    assert len(shown(opened)) == 20
    head = opened.page.locator("#attempts thead button", has_text="Seconds")
    head.press("Enter")
    times = opened.page.locator("#attempts tbody tr td:nth-child(8)").all_inner_texts()
    known = [float(text) for text in times if text != "-"]
    assert known == sorted(known) and times[-1] == "-"  # what was not measured comes last
    find.fill("Reason PATCH")
    assert shown(opened) == ["task-04"]
    find.fill("")
    outcome.select_option(label="⚠ infra fault")
    assert sorted(shown(opened)) == ["task-09", "task-09"]
    agent.select_option(label="beta")
    assert opened.page.locator("#count").inner_text() == "1 of 20 shown"
    opened.page.locator("#attempts tbody a").click()
    assert opened.page.locator("h1").inner_text().startswith("task-09")
    assert opened.complaints == []
    opened.close()


def test_steps_are_read_searched_and_linked_to(browser: Browser, read: Path) -> None:
    opened = Opened(browser, read)
    page = opened.page
    assert page.locator(".step .command").inner_text() == "ls -la && cat ledger.py"
    changed = page.locator(".step .diff span").all_inner_texts()
    assert [line.strip("\n") for line in changed] == [" a = 1", "-b = 2", "+b = -2", " c = 3"]
    assert page.locator("#step-2 .spent").inner_text().startswith("1,200 in, 34 out")
    page.locator("#find").fill("sign WRONG")
    assert page.locator(".step:visible").count() == 1 and page.locator("#count").inner_text() == "1 of 3 steps"
    assert page.get_by_text("A sign is wrong.", exact=True).last.is_visible()
    page.locator("#find").fill("")
    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("location.hash") == "#step-2"
    assert opened.complaints == []
    opened.close()


def test_it_prints_on_paper(browser: Browser, page: Path) -> None:
    opened = Opened(browser, page)
    paper = opened.page.pdf()
    assert paper.startswith(b"%PDF") and len(paper) > 20_000
    opened.close()
