"""The page of a run in a real browser, without network: what it shows, whether all can use it, and its controls."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from browser import DESKTOP, PHONE, VIEWS, Opened
from repoassay.records import RunFolder
from repoassay.report import summarise, write_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PASSED, FAILED, ECR = (0x00, 0x9E, 0x73), (0xD5, 0x5E, 0x00), (0x9A, 0x7C, 0xC4)


@pytest.fixture
def page(varied: RunFolder, tmp_path: Path) -> Path:
    """The page far from its run folder: it must need nothing beside it."""
    return write_html(summarise(varied), tmp_path / "elsewhere.html")


def colours(picture: Image.Image) -> dict[tuple[int, ...], int]:
    """How many pixels have each colour."""
    found = picture.convert("RGB").getcolors(1 << 24)
    assert found is not None
    return {colour: count for count, colour in found if isinstance(colour, tuple)}


def colours_of(opened: Opened, selector: str) -> dict[tuple[int, ...], int]:
    return colours(Image.open(io.BytesIO(opened.page.locator(selector).screenshot())))


def visible_tasks(opened: Opened) -> list[str]:
    found: list[str] = opened.page.locator("#attempts > tbody:not([hidden]) .task").all_inner_texts()
    return found


@pytest.mark.parametrize(
    ("size", "scheme"), [VIEWS[0], *(pytest.param(*view, marks=pytest.mark.exhaustive) for view in VIEWS[1:])]
)
def test_it_draws_without_a_complaint(browser: Browser, page: Path, size: tuple[int, int], scheme: str) -> None:
    opened = Opened(browser, page, size, scheme)
    whole = colours(Image.open(io.BytesIO(opened.page.screenshot(full_page=True))))
    assert opened.complaints == []
    assert set(opened.requests) == {page.as_uri()}
    assert len(whole) > 100
    ground = max(whole.items(), key=lambda item: item[1])[0]
    assert (sum(ground) > 3 * 128) == (scheme == "light")
    if scheme == "light":
        assert colours_of(opened, "#plot-rates svg[role]")[ECR] > 100
    assert colours_of(opened, "#plot-seconds svg[role]")[PASSED] > 20
    outcomes = colours_of(opened, "#plot-outcomes svg[role]")
    assert outcomes[PASSED] > 500 and outcomes[FAILED] > 100
    # Nothing makes the reader scroll sideways.
    assert opened.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert opened.serious_faults() == []
    opened.close()


def test_texts_in_plots_do_not_run_into_each_other(browser: Browser, page: Path) -> None:
    for size in (DESKTOP, PHONE):
        opened = Opened(browser, page, size)
        overlaps = opened.page.evaluate(
            "[...document.querySelectorAll('.plot > svg')].flatMap(svg => {"
            " const boxes = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);"
            " return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) => p.left < q.right &&"
            " q.left < p.right && p.top < q.bottom - 3 && q.top < p.bottom - 3).map(([b]) => a + ' / ' + b)) })"
        )
        assert overlaps == []
        opened.close()


def test_without_scripts_every_attempt_and_its_evidence_is_there(browser: Browser, page: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(page.as_uri())
    assert opened.locator("#attempts > tbody").count() == 21
    assert opened.locator("#filter").is_hidden() and opened.locator("#attempts button").count() == 0
    opened.locator("#attempts summary").nth(1).click()
    assert opened.locator("#attempts > tbody .evidence").nth(1).is_visible()
    context.close()


def test_the_policy_stops_a_script_that_is_not_ours(browser: Browser, page: Path) -> None:
    opened = Opened(browser, page)
    opened.page.evaluate(
        "const s = document.createElement('script'); s.textContent = 'window.bad = 1'; document.body.append(s)"
    )
    opened.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.bad = 2\">')")
    assert opened.page.evaluate("window.bad") is None
    assert any("Content Security Policy" in complaint for complaint in opened.complaints)
    opened.close()


def test_the_table_sorts_by_click_and_by_key(browser: Browser, page: Path) -> None:
    opened = Opened(browser, page)
    seconds = "[...document.querySelectorAll('#attempts > tbody')].map(b => b.rows[0].lastElementChild.textContent)"

    def values() -> list[str]:
        found: list[str] = opened.page.evaluate(seconds)
        return found

    def ordered(sign: int) -> list[str]:
        """What was not measured comes last, whichever way the column is sorted."""
        return sorted(unsorted, key=lambda text: float("inf") if text == "-" else sign * float(text))

    unsorted = values()
    button = opened.page.locator("#attempts thead th:last-child button")
    button.click()
    assert "-" in unsorted and values() == ordered(1)
    button.press("Enter")
    assert values() == ordered(-1)
    assert opened.page.locator("#attempts > thead th:last-child").get_attribute("aria-sort") == "descending"
    opened.page.locator("#attempts thead button").nth(1).click()
    assert visible_tasks(opened) == sorted(visible_tasks(opened))
    assert opened.page.locator("#attempts [aria-sort]").count() == 1
    assert opened.complaints == []
    opened.close()


def test_the_table_filters_by_word_agent_and_outcome(browser: Browser, page: Path) -> None:
    opened = Opened(browser, page)
    find, outcome, agent = (opened.page.locator(name) for name in ("#find", "#by-outcome", "#by-agent"))
    assert len(visible_tasks(opened)) == 21
    find.fill("Reason PATCH")
    assert visible_tasks(opened) == ["task-04"]
    find.fill("")
    outcome.select_option("infra_fault")
    assert visible_tasks(opened) == ["task-09", "task-09", "task-10", "task-10"]
    agent.select_option("2")
    assert visible_tasks(opened) == ["task-09"]
    assert opened.page.locator("#count").inner_text() == "1 of 21 shown"
    opened.page.locator("#toggle").click()
    assert opened.page.locator("details[open]").count() == 1
    find.fill("[bold]&amp; <!-- {{")  # an agent's own words, found as they are
    agent.select_option("")
    outcome.select_option("")
    assert visible_tasks(opened) == ["task-10"]
    assert opened.complaints == []
    opened.close()


def test_it_prints_on_paper(browser: Browser, page: Path) -> None:
    opened = Opened(browser, page)
    paper = opened.page.pdf()
    assert paper.startswith(b"%PDF") and len(paper) > 20_000
    opened.close()
