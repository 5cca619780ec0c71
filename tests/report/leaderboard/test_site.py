"""The site: who is ranked and where, and the page in a real browser without network."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import Opened
from repoassay.errors import BadInput
from repoassay.records import RunFolder, write_strengths
from repoassay.report.leaderboard import build_site, rows_of
from repoassay.types import MutantKind, MutantTrial, SuiteStrength, TaskStrength

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MakeRun = Callable[..., RunFolder]
NOW = datetime(2026, 2, 1, 12, 0, tzinfo=UTC)
HOSTILE = "</script><script>alert(1)</script>\x1b[31m\u202egnp <!-- {{ 7*7 }}"


@pytest.fixture
def site(make_run: MakeRun, handed_in: Path, tmp_path: Path) -> Path:
    """A submission, and two runs of one's own, one of a hostile name and one not finished."""
    hostile = make_run("other", HOSTILE, "2", days=1)
    halved = make_run("third", "halved", "3", days=2)
    lines = halved.journal.path.read_text().splitlines(keepends=True)
    halved.journal.path.write_text("".join(line for line in lines if "b-sums" not in line))
    return build_site(rows_of([handed_in, hostile.path, halved.path]), tmp_path / "site", NOW)


def table_of(page: Path) -> list[list[str]]:
    """Rank, system, score and tasks of each row, as text."""
    rows = re.findall(r"<tr(?: class=\"apart\")?>\n<td class=\"rank\".*?</tr>", page.read_text(), re.DOTALL)
    cells = [[" ".join(re.sub("<[^>]+>", " ", cell).split()) for cell in re.split("</t[dh]>", row)] for row in rows]
    return [[row[0], row[1], row[2], row[4]] for row in cells]


def test_ranks_are_shared_where_nothing_tells_systems_apart(site: Path) -> None:
    rows = table_of(site)
    assert [row[0] for row in rows] == ["1=", "1=", "1="]
    assert all(row[3] == "4 of 4" for row in rows)
    assert "1 unfinished" in next(row[1] for row in rows if "halved" in row[1])
    assert "✓ validated" in next(row[1] for row in rows if "halved" not in row[1] and "script" not in row[1])


@pytest.mark.exhaustive
def test_a_run_of_a_part_stands_below_every_whole_one(make_run: MakeRun, tmp_path: Path) -> None:
    """It passed all it tried, and no row above it did."""
    whole = make_run("whole", "careful", "5")
    part = make_run("part", "lucky", "6")
    plan = json.loads((part.path / "run.json").read_text())
    passed = {"a-report"}
    for item in part.finished():
        if item.verdict.outcome.value == "passed":
            passed = {item.attempt.task}
    plan["tasks"] = [task for task in plan["tasks"] if task["id"] in passed]
    (part.path / "run.json").write_text(json.dumps(plan))
    page = build_site(rows_of([part.path, whole.path]), tmp_path / "site", NOW)
    rows = table_of(page)
    assert [row[0] for row in rows] == ["1", "–"]
    assert rows[1][1].startswith("lucky") and rows[1][2].startswith("100.0%") and rows[1][3] == "1 of 4"
    data = {one["name"]: one for one in json.loads((page.parent / "leaderboard.json").read_text())}
    assert (data["lucky"]["rank"], data["lucky"]["tasks_covered"], data["lucky"]["tasks_of_suite"]) == (None, 1, 4)
    assert data["careful"]["rank"] == 1


def test_strength_of_tests_stands_beside_rates_of_the_same_tasks(
    make_run: MakeRun, handed_in: Path, tmp_path: Path
) -> None:
    own = make_run("other", "careful", "2", days=1)
    first, *_ = own.plan.tasks
    left = MutantTrial(name="m", kind=MutantKind.CONSTANT, path="a.py", line=1, was="1", now="2", fate="survived")
    told = TaskStrength(task=first.id, task_digest=first.digest, drawn=10, killed=7, survivors=(left,) * 3)
    other = TaskStrength(task="else", task_digest="0" * 64, drawn=10, killed=1)
    write_strengths(own.path, SuiteStrength(tasks=(told, other)))
    page = build_site(rows_of([handed_in, own.path]), tmp_path / "site", NOW)
    cell = f"70.0%<small>1 of {len(own.plan.tasks)} tasks, 1 weak</small>"
    assert page.read_text().count(cell) == 2  # the submission is of the same tasks
    data = json.loads((page.parent / "leaderboard.json").read_text())
    assert {row["strength"]["median"] for row in data} == {0.7}
    assert data[0]["strength"]["weak"] == [first.id]


def test_every_row_links_to_its_evidence(site: Path) -> None:
    links = re.findall(r'<a href="(evidence/[^"]+)"', site.read_text())
    assert len(links) == 3
    assert all("How it is counted" in (site.parent / link).read_text() for link in links)
    data = json.loads((site.parent / "leaderboard.json").read_text())
    assert sorted(row["validated"] for row in data) == [False, False, True]
    assert {row["evidence"] for row in data} == set(links)


def test_nothing_is_loaded_from_anywhere(site: Path) -> None:
    text = site.read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy and policy[1].startswith("default-src 'none'")
    assert "unsafe" not in policy[1] and "http" not in policy[1]
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", text)
    assert "<script>alert" not in text and "\x1b" not in text and "\u202e" not in text


@pytest.mark.long
def test_another_folder_is_not_touched_and_an_earlier_site_is(site: Path, make_run: MakeRun, tmp_path: Path) -> None:
    rows = rows_of([make_run("fourth", "new", "4").path])
    assert "halved" not in build_site(rows, site.parent, NOW).read_text()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("x")
    with pytest.raises(BadInput, match="exists and is no leaderboard"):
        build_site(rows, tmp_path / "full", NOW)


def test_a_tampered_submission_is_not_shown(handed_in: Path) -> None:
    (handed_in / "figures.json").write_text("{}")
    with pytest.raises(BadInput, match=r"is refused: figures\.json: it is not the file of the manifest"):
        rows_of([handed_in])


def test_a_run_is_shown_once(make_run: MakeRun, handed_in: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="are the same run"):
        rows_of([handed_in, tmp_path / "run"])


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 1300),
        ("dark", 390),
        pytest.param("dark", 1300, marks=pytest.mark.exhaustive),
        pytest.param("light", 390, marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.long
def test_in_a_browser(site: Path, browser: Browser, scheme: str, width: int) -> None:
    """No complaint, no request, no serious fault of accessibility; the page itself never scrolls sideways."""
    opened = Opened(browser, site, (width, 844), scheme)
    page = opened.page
    assert all(score.is_visible() for score in page.locator(".score strong").all())
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert opened.requests == [site.as_uri()]
    assert opened.complaints == []
    assert opened.serious_faults() == []
    opened.close()


@pytest.mark.long
def test_it_fits_on_paper(site: Path, browser: Browser) -> None:
    opened = Opened(browser, site, (718, 1000))  # A4 without its margins
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert all(score.is_visible() for score in opened.page.locator(".score strong").all())
    opened.close()


def test_by_keyboard_alone(site: Path, browser: Browser) -> None:
    opened = Opened(browser, site)
    page = opened.page

    def column(number: int) -> list[str]:
        found: list[str] = page.eval_on_selector_all(
            ".board tbody tr", f"rows => rows.map(row => row.cells[{number}].dataset.v)"
        )
        return found

    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Passed":
            break
    page.keyboard.press("Enter")
    assert column(2) == sorted(column(2), key=float)
    page.keyboard.press("Space")
    assert column(2) == sorted(column(2), key=float, reverse=True)
    assert page.get_attribute(".board thead th:nth-child(3)", "aria-sort") == "descending"
    assert page.locator("[aria-sort]").count() == 1
    page.locator("tbody tr:first-child a").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/report.html")
    opened.close()
