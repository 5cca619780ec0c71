"""The page of one run and the page of a set with the same run: every figure, word and colour is the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import Opened
from repoassay.records import RunFolder
from repoassay.report import summarise, write_html
from repoassay.report.export import write_everything
from repoassay.report.figures import share, span
from repoassay.report.outcome_tables import figure_outcomes
from repoassay.report.results import read_rows
from repoassay.stats import Proportion
from repoassay.types import Outcome

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

PILLS = "Object.fromEntries([...document.querySelectorAll('.pill')].map(p => [p.textContent.trim(),"
PILLS += " getComputedStyle(p.querySelector('i')).backgroundColor]))"


@pytest.fixture
def pages(varied: RunFolder, tmp_path: Path) -> tuple[Path, Path]:
    """Of one run, and of a set."""
    return write_html(summarise(varied), tmp_path / "run.html"), write_everything(
        [varied.path], tmp_path, None, []
    ).page


def figure(page: Page, name: str) -> tuple[list[str], list[str], str]:
    """What a plot says of each of its marks, its texts, and its whole drawing."""
    plot: Locator = page.locator(f"#plot-{name}")
    marks = [str(mark.get_attribute("aria-label")) for mark in plot.locator(".mark").all()]
    return marks, plot.locator("text, .legend li").all_text_contents(), plot.inner_html()


def table(page: Page, name: str) -> list[list[str]]:
    rows = page.locator(f"section:has(> #table-{name}) tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def test_every_plot_and_table_of_the_run_is_on_the_page_of_the_set(
    browser: Browser, pages: tuple[Path, Path], varied: RunFolder
) -> None:
    alone, among = (Opened(browser, path).page for path in pages)
    plots = alone.eval_on_selector_all(".plot", "all => all.map(one => one.id.slice(5))")
    assert plots == ["rates", "outcomes", "success", "domains", "seconds"]
    for name in plots:
        assert figure(alone, name) == figure(among, name)
    tables = alone.eval_on_selector_all(".tabled h2", "all => all.map(one => one.id.slice(6))")
    assert tables == ["frameworks", "outcomes", "success", "domains"]
    for name in tables:
        assert len(table(alone, name)) > 2 and table(alone, name) == table(among, name)
    cards = [text for card in alone.locator(".metrics").all() for text in card.locator("dd").all_inner_texts()]
    rates = [cell for row in figure_outcomes(read_rows([varied.path])).tables["frameworks"].rows for cell in row]
    expected = [f"{share(rate)} {span(rate)}" for rate in rates if isinstance(rate, Proportion)]
    assert [re.sub(r"(\S+%)\s+(\S+)\s+", r"\2 \1 ", text) for text in cards] == expected


def test_outcomes_have_one_colour_in_lists_and_plots(browser: Browser, pages: tuple[Path, Path]) -> None:
    alone, among = (Opened(browser, path).page for path in pages)
    colours = alone.evaluate(PILLS)
    assert len(set(colours.values())) == len(colours) == len(Outcome) + 1
    listed = among.evaluate(PILLS)
    assert len(listed) == len(Outcome) + 1 and {word: colours[word] for word in listed} == listed
    for page in (alone, among):
        for plot in ("outcomes", "seconds"):
            keys = page.evaluate(
                f"[...document.querySelectorAll('#plot-{plot} .legend li')].map(li => [li.textContent.trim(),"
                " getComputedStyle(li.querySelector('rect, svg svg')).fill])"
            )
            assert keys
            for word, colour in keys:
                (pill,) = [found for label, found in colours.items() if label.partition(" ")[2] == word]
                assert colour == pill, (plot, word)


def test_the_attempts_that_count_have_the_same_figures(browser: Browser, pages: tuple[Path, Path]) -> None:
    alone, among = (Opened(browser, path).page for path in pages)
    heads = [text.strip(" ↕") for text in among.locator("#attempts thead th").all_inner_texts()]
    counted = alone.locator("#attempts > tbody:not(.aside) > tr:first-child").all()
    wanted = [text.strip(" ↕") for text in alone.locator("#attempts > thead th").all_inner_texts()]
    here = {tuple(re.sub(r"\s.*number.*", "", text.strip()) for text in row.locator("td").all_inner_texts())
            for row in counted}  # fmt: skip
    there = set()
    for row in among.locator("#attempts tbody tr").all():
        cells = dict(zip(heads, row.locator("td").all_inner_texts(), strict=True))
        if "unfinished" not in cells["Outcome"]:
            there.add(tuple(cells[name].strip() for name in wanted))
    assert len(here) == 19 and here == there


def test_results_of_a_summary_are_those_read_from_the_folder(varied: RunFolder) -> None:
    assert list(summarise(varied).results) == read_rows([varied.path])


def test_money_known_in_part_is_the_same_in_words(browser: Browser, varied: RunFolder, tmp_path: Path) -> None:
    spent = {
        0: {"calls": 3, "usage": {"input": 12_000, "output": 345}, "dollars": "12.3456", "dollars_known": "12.3456"},
        1: {"calls": 3, "usage": {"input": 10, "output": 5}, "unknown": 1, "dollars": None, "dollars_known": "0.25"},
        2: {"calls": 3, "usage": {"input": 1}, "dollars": None, "dollars_known": "0"},
        3: {"calls": 1, "usage": {"input": 1}, "dollars": "0.00012", "dollars_known": "0.00012"},
    }
    folders = [item.folder for item in varied.finished()]
    for number, part in spent.items():
        path = folders[number] / "attempt.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "spent": part}))
    one = write_html(summarise(varied), tmp_path / "run.html")
    alone, among = (
        Opened(browser, path).page for path in (one, write_everything([varied.path], tmp_path, None, []).page)
    )
    for page in (alone, among):
        text = page.locator("#attempts").inner_text()
        for said in ("12,345", "$12.35", "15+", "$0.2500 + unknown", "$0.0001"):
            assert said in text, said
