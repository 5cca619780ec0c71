"""The page of results as text: self-contained, everything escaped, bounded, written whole, its attempts beside it."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from hidden_texts import HIDDEN
from repoassay.errors import BadInput
from repoassay.records import RunFolder, write_strengths
from repoassay.report import page_files, print_table, render, summarise, write_html
from repoassay.report.attempt_page import attempt_page
from repoassay.report.attempt_timeline import find_attempts, lines, read_story
from repoassay.text import is_hidden
from repoassay.types import Attempt, CriterionResult, Outcome, SuiteStrength, TaskStrength, Verdict

MakeRun = Callable[..., RunFolder]
Put = Callable[..., Attempt]
VOID = {"meta", "input", "br", "hr", "link", "img"}


class Page(HTMLParser):
    """What a browser would make of it: tags in balance, attributes, text by element."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._texts: list[str] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []
        self.text = "".join(self._texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)
        if tag in self.inside:
            self.inside[tag].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in self.inside:
            self.inside[self._open[-1]][-1] += data
        else:
            self._texts.append(data)


def of_attempts(run: RunFolder) -> list[str]:
    """The page of each attempt."""
    return [attempt_page(row, "../report.html") for row in summarise(run).rows]


def every_page(run: RunFolder) -> list[str]:
    return [render(summarise(run)), *of_attempts(run)]


def a_verdict(task: str, **more: object) -> Verdict:
    facts: dict[str, object] = {
        "task": task, "task_digest": f"{int(task[5:]):064x}", "outcome": "failed", "process": True, "result": False,
        "grader": "g", "graded_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    return Verdict.model_validate(facts | more)


def test_it_asks_for_nothing_from_anywhere(varied: RunFolder) -> None:
    for text in every_page(varied):
        page = Page(text)
        assert not re.search(r"https?:|//[a-z]+\.|url\((?!#hatch)|@import", text)
        assert {tag for tag, _ in page.tags} & {"link", "img", "iframe", "object", "embed", "base"} == set()
        assert not [attrs for _, attrs in page.tags if {"src", "style", "srcdoc", "action"} & attrs.keys()]
        links = [attrs["href"] for _, attrs in page.tags if "href" in attrs]
        assert all(re.match(r"#|\.\./report\.html$|report_files/[0-9A-Z]{26}\.html$", link) for link in links)
        assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]


def test_only_its_own_style_and_script_may_run(varied: RunFolder) -> None:
    for text in every_page(varied):
        page = Page(text)
        (policy,) = [a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
        assert policy.startswith("default-src 'none';") and "unsafe" not in policy
        for kind in ("script", "style"):
            content = page.inside[kind][-1]  # before the script stands data, which no policy needs to allow
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"{kind}-src 'sha256-{digest}'" in policy


def test_hostile_text_is_inert_and_visible(make_run: MakeRun, put: Put) -> None:
    nasty = "<script>alert(1)</script><img src=x onerror=alert(2)>'\"></td></table>\x1b[2J\u202e\u2066\x00\x85\u200b"
    nasty += "{{ 7*7 }}{% raw %}"
    run = make_run(tasks=1, agents=(nasty, "other"), domains=(nasty,), title=nasty[:90])
    criterion = CriterionResult(
        stage="result", metric=nasty, of=nasty, against=nasty, value=1, threshold=nasty, passed=False, unit=nasty,
        comment=nasty,
    )  # fmt: skip
    hidden = [{"id": nasty, "outcome": "failed", "message": nasty}]
    verdict = a_verdict("task-01", comments=(nasty,), criteria=(criterion,), tests=hidden, grader=nasty)
    put(run, "task-01", agent=nasty, verdict=verdict, log=nasty.encode() * 3 + b"\xff\xfe")
    for text in every_page(run):
        page = Page(text)
        assert [tag for tag, _ in page.tags].count("script") == (2 if "h-systems" in text else 1)
        assert "img" not in {tag for tag, _ in page.tags}
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text)
        assert (
            "<script>alert(1)</script><img src=x onerror=alert(2)>'\"></td></table>^[[2J⟨U+202E⟩⟨U+2066⟩" in page.text
        )
        assert "{{ 7*7 }}" in page.text and "49{%" not in page.text


def test_hidden_text_is_written_out_on_the_pages_in_the_table_and_in_the_story(make_run: MakeRun, put: Put) -> None:
    hidden = "note" + "".join(HIDDEN.values()).encode("utf-8", "replace").decode()
    run = make_run(tasks=1, agents=(hidden[:90],), domains=(hidden,), title=hidden[:90])
    criterion = CriterionResult(
        stage="result", metric=hidden, of=hidden, against=hidden, value=1, threshold=hidden, passed=False, unit=hidden,
        comment=hidden,
    )  # fmt: skip
    tests = [{"id": hidden, "outcome": "failed", "message": hidden}]
    verdict = a_verdict("task-01", comments=(hidden,), criteria=(criterion,), tests=tests, grader=hidden)
    put(run, "task-01", agent=hidden[:90], verdict=verdict, log=hidden.encode())
    table = io.StringIO()
    print_table(summarise(run), Console(file=table, width=200))
    told = "\n".join(lines(read_story(*find_attempts(str(next(run.path.glob("attempts/*"))), run.path)[0])))
    for text in (*every_page(run), table.getvalue(), told):
        assert {letter for letter in text if is_hidden(letter) and letter not in "\n\t"} == set()
        assert "⟨U+E0169⟩" in text and "\u0301" * 9 not in text


def test_ids_are_unique_and_labels_lead_somewhere(varied: RunFolder) -> None:
    for text in every_page(varied):
        page = Page(text)
        ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
        assert len(ids) == len(set(ids))
        for _, attrs in page.tags:
            for name in ("aria-labelledby", "for"):
                assert set(attrs.get(name, "").split()) <= set(ids)
            assert not attrs.get("href", "").startswith("#") or attrs["href"][1:] in ids
        assert all(attrs["aria-label"] for tag, attrs in page.tags if tag == "g")


def test_it_begins_with_the_answer(varied: RunFolder) -> None:
    text = Page(render(summarise(varied))).text
    answer = text.index("beta passed most, 6 of 10 tasks, but not significantly more than alpha (1 of 10 tasks).")
    assert answer < text.index("Systems") < text.index("Tasks by system") < text.index("What failed, and why")
    assert "The difference may well be chance (p = " in text and re.search("McNemar test on . tasks", text)
    for fact in ("1=", "60.0%", "6 of 10", "10.0%", "Reason for failed.", "Listed, not counted", "Linux 6.1", "3.11.7"):
        assert fact in text, fact


def test_the_page_of_an_attempt_shows_every_fact_of_it(varied: RunFolder) -> None:
    text = "".join(Page(one).text for one in of_attempts(varied))
    for fact in (
        "cell_accuracy", "truth:gt.csv", "0.41 ratio", ">= 0.9", "7 cells differ", "test_a.py::test_gap[é]",
        "AssertionError: 3 != 4", "Reason for failed.", "A second remark.", "output/report.csv", "4.3 kB", "ab" * 32,
        "rejected: is a symbolic link", "exited, code 1", "92.3 MB", f"{2:064x}", "repoassay/0.1.0", "line two",
        "Superseded by a retry",
    ):  # fmt: skip
        assert fact in text, fact


def test_an_empty_run_is_a_page(make_run: MakeRun) -> None:
    assert "No attempt is finished yet: 0 of 3." in Page(render(summarise(make_run()))).text
    for number, empty in enumerate((make_run(tasks=0, name="x"), make_run(agents=(), name="y"))):
        assert "No attempt is planned." in Page(render(summarise(empty))).text, number


def test_one_attempt_is_told_without_figures(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1)
    put(run, "task-01", Outcome.FAILED)
    text = render(summarise(run))
    assert "alpha did not pass task-01: what it left does not pass the checks." in Page(text).text
    assert "<figure" not in text.partition('id="appendix"')[0] and "interval is" not in text


def test_a_log_shows_its_end_and_says_so(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1)
    put(run, "task-01", Outcome.FAILED, log=b"START" + b"x" * 50_000 + "END é".encode())
    text = Page(of_attempts(run)[0]).text
    assert "END é" in text and "START" not in text
    assert "last 20.0 kB of 50.0 kB" in text


def test_a_log_that_is_a_link_or_a_pipe_is_not_followed(make_run: MakeRun, put: Put, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("TOP SECRET")
    run = make_run(tasks=3)
    folders = [run.attempt_folder(put(run, f"task-{n:02d}", Outcome.FAILED, log=None).id) for n in (1, 2, 3)]
    (folders[0] / "log.txt").symlink_to(secret)
    os.mkfifo(folders[1] / "log.txt")
    (folders[2] / "log.txt").mkdir()
    (folders[2] / "submission").mkdir(exist_ok=True)
    (folders[2] / "submission/changes.diff").symlink_to(secret)
    (folders[1] / "trajectory.json").symlink_to(secret)
    assert "TOP SECRET" not in "".join(every_page(run))


@pytest.mark.long
def test_one_attempt_cannot_fill_its_page(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=1)
    many = [{"id": f"t::{n}" + "x" * 500, "outcome": "failed", "message": "\u202e" * 3000} for n in range(900)]
    put(run, "task-01", verdict=a_verdict("task-01", tests=many, comments=("y" * 30_000,) * 300))
    (text,) = of_attempts(run)
    assert len(text.encode()) < 4_000_000 and len(render(summarise(run))) < 200_000
    assert "800 more are left out here." in text and "280 more are left out here." in text


def test_attempts_have_pages_beside_it_and_earlier_ones_go(varied: RunFolder, tmp_path: Path) -> None:
    beside = tmp_path / "away_files"
    beside.mkdir()
    stale, other = beside / f"{'0' * 26}.html", beside / "mine.txt"
    stale.write_text("old")
    other.write_text("mine")
    path = write_html(summarise(varied), tmp_path / "away.html")
    text = path.read_text()
    linked = {Path(link).name for link in re.findall(r'href="away_files/([^"]+)"', text)}
    assert linked == {item.name for item in beside.iterdir()} - {"mine.txt"} and len(linked) == 21
    assert other.read_text() == "mine"


def test_beyond_the_bound_attempts_that_passed_have_no_page(
    make_run: MakeRun, put: Put, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(page_files, "MOST_PAGES", 2)
    run = make_run(tasks=5)
    ids = [
        put(run, f"task-{number:02d}", Outcome.FAILED if number in (2, 5) else Outcome.PASSED).id
        for number in range(1, 6)
    ]
    text = write_html(summarise(run), tmp_path / "r.html").read_text()
    assert {item.stem for item in (tmp_path / "r_files").iterdir()} == {ids[1], ids[4]}
    assert set(re.findall(r'href="r_files/(\w+)\.html"', text)) == {ids[1], ids[4]}


def test_it_is_written_whole_and_may_be_written_again(varied: RunFolder, tmp_path: Path) -> None:
    target = write_html(summarise(varied))
    assert target == varied.path / "report.html"
    before = sorted(varied.path.rglob("*"))
    target.write_text("old")
    write_html(summarise(varied))
    assert target.read_text().startswith("<!doctype html>")
    assert sorted(varied.path.rglob("*")) == before  # no half file is left
    assert target.stat().st_mode & 0o777 == 0o644


def test_a_link_is_replaced_and_not_followed(varied: RunFolder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (varied.path / "report.html").symlink_to(victim)
    write_html(summarise(varied))
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("place", ["missing/report.html", "run"])
def test_where_it_cannot_be_written_is_one_sentence(varied: RunFolder, tmp_path: Path, place: str) -> None:
    with pytest.raises(BadInput, match="cannot be written to"):
        write_html(summarise(varied), tmp_path / place)
    assert not list(tmp_path.glob(".report-*"))


def test_the_strength_of_tests_stands_beside_the_rates(make_run: MakeRun, put: Put) -> None:
    run = make_run()
    first, *others = run.plan.tasks
    write_strengths(run.path, SuiteStrength(tasks=(TaskStrength(task=first.id, task_digest=first.digest, killed=4),)))
    put(run, first.id, Outcome.FAILED)
    text = render(summarise(run))
    assert ">Strength</abbr>" in text and 'data-v="1.0">100%' in text
    assert f"over 1 of {1 + len(others)} tasks; 0 weak" in text
