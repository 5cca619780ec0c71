"""The page of a set of runs in a real browser, from a file: nothing goes wrong, it is accessible, and it works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import VIEWS, Opened
from repoassay.report.export import write_figured
from repoassay.report.page import PageParts
from repoassay.report.page_files import write_results
from repoassay.report.report_tables import TableSelection, figure_out
from repoassay.report.results import ResultRow
from repoassay.types import Outcome
from report.made_rows import entry, info, row, task

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\u202egnp.exe\u202c\x1b[31m\x00"
LONG = "very-long-" * 15


def hostile_rows() -> list[ResultRow]:
    outcomes = (Outcome.PASSED, Outcome.NO_OUTPUT, Outcome.INFRA_FAULT, None)
    return [
        row(
            outcome, run=info(name), by=entry(agent, "p/m", max_iterations=limit),
            of=task(f"{HOSTILE} {number}", HOSTILE, f"{LONG} {number}"), comment=HOSTILE,
        )
        for name in ("first", HOSTILE)
        for agent in (HOSTILE, LONG, "\u0645\u0631\u062d\u0628\u0627")
        for limit in ("10", "20")
        for number, outcome in enumerate(outcomes)
    ]  # fmt: skip


def written(rows: list[ResultRow], out: Path) -> Path:
    return write_figured(figure_out(rows, TableSelection(diagnosed=0, scores={HOSTILE: {"m": 1.0}})), out, ["csv"]).page


def column(page: Page, table: str, index: int) -> list[str]:
    return page.locator(f"{table} tbody tr:not([hidden]) td:nth-child({index})").all_inner_texts()


@pytest.mark.exhaustive
def test_hostile_names_stay_inert_and_nothing_is_inaccessible(browser: Browser, tmp_path: Path) -> None:
    path = written(hostile_rows(), tmp_path)
    for size, scheme in VIEWS:
        opened = Opened(browser, path, size, scheme)
        assert opened.complaints == []
        assert opened.requests == [path.as_uri()]
        assert opened.page.title() != "owned"
        assert opened.page.locator("img").count() == 0
        assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert "\u202e" not in opened.page.content()
        assert opened.serious_faults() == []
        opened.close()


@pytest.mark.long
def test_tables_and_plots_work_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    rows = [
        row(Outcome.PASSED if n % 3 else Outcome.FAILED, of=task(f"t{n}", f"r{n}", f"d{n}"), tokens=100 * n)
        for n in range(15)
    ]
    opened = Opened(browser, written(rows, tmp_path), (1200, 900), "light")
    page = opened.page
    page.locator("#appendix > summary").click()
    table = "section:has(#table-domains) table"
    head = page.locator(f"{table} th button").first
    head.focus()
    page.keyboard.press("Enter")
    assert column(page, table, 1)[:3] == ["d0", "d1", "d2"]
    page.keyboard.press("Space")
    assert column(page, table, 1)[:3] == ["d14", "d13", "d12"]
    assert page.locator(f"{table} th[aria-sort]").get_attribute("aria-sort") == "descending"
    page.locator("section:has(#table-domains) .find").fill("d7")
    assert column(page, table, 1) == ["d7"]
    mark = page.locator("#plot-domains .mark").first
    mark.focus()
    first = page.locator("#plot-domains .readout").inner_text()
    page.keyboard.press("ArrowRight")
    second = page.locator("#plot-domains .readout").inner_text()
    assert "d0" in first and first != second
    assert page.locator("#plot-domains .mark[tabindex='0']").count() == 1
    page.locator("#find").fill("t11")
    assert page.locator("#where").inner_text() == "1 to 1 of 1"
    page.locator("#find").fill("")
    tokens = page.locator("#attempts th button", has_text="Tokens")
    tokens.press("Enter")
    tokens.press("Enter")
    assert (
        column(page, "#attempts", 9)[0] == "1,540" or "1,540" in page.locator("#attempts tbody tr").first.inner_text()
    )
    assert opened.complaints == []
    opened.close()


@pytest.mark.long
def test_many_attempts_are_loaded_from_files_beside_the_page(browser: Browser, tmp_path: Path) -> None:
    rows = [
        row(Outcome.PASSED if n % 2 else Outcome.NO_OUTPUT, of=task(f"t{n % 50}"), number=n // 50 + 1, comment=HOSTILE)
        for n in range(5_100)
    ]
    path = written(rows, tmp_path)
    beside = tmp_path / "index_files"
    assert sorted(item.name for item in beside.iterdir()) == ["attempts-0000.js", "attempts-0001.js"]
    opened = Opened(browser, path, (1200, 900), "light")
    page = opened.page
    assert opened.requests == [path.as_uri()]
    assert page.locator("#browser").is_hidden()
    page.locator("#list").scroll_into_view_if_needed()
    page.wait_for_selector("#browser:not([hidden])")
    assert page.locator("#where").inner_text() == "1 to 50 of 5,100"
    page.locator("#by-outcome").select_option(label="∅ no output")
    assert page.locator("#count").inner_text() == "2,550 of 5,100 shown"
    page.locator("#forth").click()
    assert page.locator("#where").inner_text() == "51 to 100 of 2,550"
    assert page.locator("#attempts tbody tr").count() == 50
    assert opened.complaints == []
    assert all(url.startswith(tmp_path.as_uri()) for url in opened.requests)
    opened.close()
    (beside / "attempts-0001.js").unlink()
    opened = Opened(browser, path, (1200, 900), "light")
    opened.page.locator("#list").scroll_into_view_if_needed()
    opened.page.locator("#loading", has_text="not beside").wait_for()
    opened.close()


@pytest.mark.exhaustive
def test_a_hundred_thousand_attempts_make_a_page_of_bounded_size(browser: Browser, tmp_path: Path) -> None:
    tasks = [task(f"t{number:03d}") for number in range(500)]
    rows = [
        row(Outcome.PASSED if (n * 7 + place) % 3 else Outcome.FAILED, of=one, number=n, by=entry(f"agent-{n % 4}"))
        for place, one in enumerate(tasks)
        for n in range(1, 201)
    ]
    path = write_results(rows, tmp_path / "r.html", PageParts(), "--out")[0]
    assert path.stat().st_size < 2_000_000
    opened = Opened(browser, path)
    assert opened.page.evaluate("document.querySelectorAll('*').length") < 30_000
    opened.page.locator("#list").scroll_into_view_if_needed()
    opened.page.locator("#where", has_text="of 100,000").wait_for()
    assert opened.page.locator("#attempts tbody tr").count() == 50
    assert opened.complaints == []
    opened.close()
