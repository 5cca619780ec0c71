"""Hostile content: scripts in names, diffs, steps and outputs, direction overrides, enormous diffs, broken files."""

from __future__ import annotations

import io
import re
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from hidden_texts import HIDDEN
from repoassay.review.rubric import read_rubric
from repoassay.review.studies import create_study
from repoassay.review.study import HiddenPart, Item, ItemPayload, Output, Study
from repoassay.server.review.colour import coloured
from repoassay.server.review.diff import is_collapsed, parse_diff
from repoassay.server.review.markup import visible
from repoassay.server.review.outputs import kind_of, media_of, shown_of
from repoassay.server.review.review_state import ReviewState
from repoassay.server.review.rows import PAGE, page_of, pages
from repoassay.text import block, is_hidden
from server.review.samples import NOW, Person, answers, make_run

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg/onload=alert(3)>{{7*7}}"
NAME = 'a"><script>alert(1)</script>/\u202egpj.py'


def study_with(
    desk: ReviewState, owner: Person, *payloads: ItemPayload, rubric: str = "mergeable", **evidence: object
) -> Person:
    """Make a study of these payloads and let Ann in."""
    found = read_rubric(rubric)
    items = [
        Item(id=f"s{number}", payload=payload, hidden=HiddenPart(task=f"t{number}", evidence=dict(evidence)))
        for number, payload in enumerate(payloads)
    ]
    settings = Study(name="st", rubric=found.digest, reveal="after_submission")
    create_study(desk.database, settings, found, items, at=NOW)
    owner.get("/studies/st")
    return Person(str(owner.http.base_url), owner.invite(f"Ann {SCRIPT}"[:200]))


def inert(text: str) -> None:
    """Nothing that came from outside is markup, and nothing turns the direction of what follows."""
    assert "<script>alert" not in text and "<img src=x" not in text and "<svg/onload" not in text
    assert "\u202e" not in text and "\u2066" not in text
    assert ">49<" not in text


def test_scripts_in_every_text_are_text(desk: ReviewState, owner: Person) -> None:
    diff = f"--- a/{NAME}\n+++ b/{NAME}\n@@ -1 +1,2 @@ {SCRIPT}\n-{SCRIPT}\n+{SCRIPT}\u202e\n+\u2066x\n"
    payload = ItemPayload(title=SCRIPT, issue=SCRIPT, rules=SCRIPT, description=SCRIPT, diff=diff, reference=diff)
    signal = {"id": SCRIPT, "axis": SCRIPT, "state": "finding", "title": SCRIPT, "reason": SCRIPT,
              "evidence": [{"path": SCRIPT, "line": SCRIPT, "text": SCRIPT, "quote": SCRIPT}, 3]}  # fmt: skip
    test = {"id": SCRIPT, "outcome": SCRIPT, "message": SCRIPT}
    ann = study_with(
        desk, owner, payload, signals=[signal, None], tests=[test, "x"], steps=[SCRIPT, {"a": 1}], comments=[SCRIPT]
    )
    for view in ("unified", "split", "reference"):
        page = ann.get(f"/item/s0/diff/0?view={view}")
        assert page.status_code == 200 and "&lt;script&gt;" in page.text and "U+202E" in page.text
        inert(page.text)
    for path in ("/queue", "/item/s0", "/item/s0/files"):
        inert(ann.get(path).text)
    said = ann.call("/item/s0/comments", file=0, side="new", line=1, text=SCRIPT, axis="core")
    assert said.status_code == 200, said.text
    inert(ann.get("/item/s0/comments").text)
    ann.call("/item/s0/submit", key="k" * 12, answers=answers(notes=SCRIPT))
    revealed = ann.get("/item/s0").text
    assert "Now revealed" in revealed
    inert(revealed)
    for path in ("", "/items", "/items/s0", "/items/s0?made=true", "/disputes", "/figures", "/log", "/items/s0/diff/0"):
        page = owner.get(f"/studies/st{path}")
        assert page.status_code == 200, path
        inert(page.text)
    inert(owner.get("/studies/new").text)


def test_a_wrong_name_in_a_form_comes_back_as_text(owner: Person) -> None:
    answer = owner.study(SCRIPT, title=SCRIPT, flagged=f"{SCRIPT}: {SCRIPT}")
    assert answer.status_code == 422
    inert(answer.text)


def test_fifty_thousand_lines_are_sent_in_pages(desk: ReviewState, owner: Person) -> None:
    lines = "".join(f"+line {number} <b>\n" for number in range(50_000))
    small = "--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n-1\n+2\n"
    ann = study_with(desk, owner, ItemPayload(diff=f"--- a/x.py\n+++ b/x.py\n@@ -0,0 +1,50000 @@\n{lines}{small}"))
    page = ann.get("/item/s0").text
    assert len(page) < 60_000 and "Show 50,001 rows" in page
    rows = ann.get("/item/s0/diff/0").text
    assert rows.count("<tr") <= PAGE + 1 and len(rows) < 400_000
    last = ann.get("/item/s0/diff/0?at=125").text
    assert "49999" in last and "More rows" not in last
    assert "<tr" not in ann.get("/item/s0/diff/0?at=999999").text


def test_thousands_of_files_are_placed_in_pages(desk: ReviewState, owner: Person) -> None:
    every = "".join(f"--- a/f{number}.py\n+++ b/f{number}.py\n@@ -1 +1 @@\n-1\n+2\n" for number in range(3000))
    ann = study_with(desk, owner, ItemPayload(diff=every))
    page = ann.get("/item/s0").text
    assert page.count("<section") <= 151 and "1000 more" in page and "files?start=150" in page
    assert ann.get("/item/s0/files?start=2999").text.count("<section") == 1
    assert ann.get("/item/s0/files?start=999999").text.strip() == ""


def test_endless_lines_are_cut_and_not_coloured() -> None:
    (file,) = parse_diff(f"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-{'(' * 10**6}\n+{'a' * 10**6}\n")
    html = "".join(str(line.left.html) for line in page_of(file, 0, split=False) if line.left)
    assert len(html) < 10_000 and html.count("line cut here") == 2


def test_a_diff_of_endless_empty_lines_is_cut() -> None:
    (file,) = parse_diff("--- a/x\n+++ b/x\n@@ -0,0 +1,9999999 @@\n" + "+\n" * 400_000)
    assert len(file.rows) < 300_001
    assert file.rows[-1].text == "The rest of the change, 100,003 lines, is not shown."


@given(st.text(max_size=300))
def test_any_text_is_a_diff(text: str) -> None:
    for whole in (text, f"--- a/x.py\n+++ b/x.py\n@@ -1,9 +1,9 @@\n{text}", f"diff --git {text}\n@@ -1 +1 @@\n{text}"):
        for file in parse_diff(whole):
            for split in (False, True):
                for number in range(pages(file)):
                    page_of(file, number, split=split)
            assert file.path and is_collapsed(file) in {True, False}


@given(st.text())
def test_visible_text_is_escaped_and_holds_nothing_odd(text: str) -> None:
    html = str(visible(text))
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b-\u200f\x00-\x08\x1b]", html + block(text))
    assert "<script" not in html.lower()
    plain = re.sub(r'<span class="odd"[^>]*>[^<]*</span>', "", html)
    assert not re.search("[<>\"']", plain)


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\n")), max_size=20))
def test_colours_lose_no_character(lines: list[str]) -> None:
    for path in ("x.py", "x.html", "x.unknown", "x.md", "x.json"):
        found = coloured(path, lines)
        assert ["".join(text for _, text in line) for line in found] == lines


@pytest.mark.by_day(2)
@pytest.mark.parametrize(
    "name", ["x.svg", "x.html", "x.htm", "x.xml", "x.pdf", "x.js", "x", "x.swf", "x.xhtml", "x.SVG"]
)
def test_active_files_are_downloads(desk: ReviewState, owner: Person, name: str) -> None:
    body = f"<html xmlns='http://www.w3.org/1999/xhtml'>{SCRIPT}</html>".encode()
    digest = desk.blobs.put(body)
    output = Output(path=name, media="text/html", sha256=digest, truth=digest)  # what a type says is not believed
    ann = study_with(desk, owner, ItemPayload(outputs=(output,)), rubric="quality")
    inert(ann.get("/item/s0").text)
    for which in ("made", "truth"):
        answer = ann.get(f"/files/s0/0/{which}")
        assert answer.status_code == 200 and answer.content == body
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert answer.headers["x-content-type-options"] == "nosniff"
        # Files are kept system by system and controls last: when one was kept tells whose it is.
        assert answer.headers["last-modified"].endswith("1970 00:00:00 GMT") and digest in answer.headers["etag"]
    for path in (
        "/files/s0/1/made",
        "/files/s0/-1/made",
        "/files/s0/0/other",
        "/files/s0/0/..%2f..",
        "/files/nothing/0/made",
    ):
        assert ann.get(path).status_code in {404, 422}


def test_a_picture_that_is_a_page_stays_a_picture(desk: ReviewState, owner: Person) -> None:
    digest = desk.blobs.put(f"<html>{SCRIPT}</html>".encode())
    ann = study_with(
        desk, owner, ItemPayload(outputs=(Output(path="x.png", media="x", sha256=digest),)), rubric="quality"
    )
    answer = ann.get("/files/s0/0/made")
    assert answer.headers["content-type"] == "image/png" and "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.long
def test_broken_and_bombed_files_say_so(desk: ReviewState) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * (70 * 2**20))
    files = {"bomb.xlsx": bomb.getvalue(), "broken.xlsx": b"PK\x03\x04 nothing", "broken.pdf": b"%PDF-1.7 nothing",
             "wide.csv": b"," * 100_000 + b"\n" + b"\x00\xff" * 10, "long.csv": b"a,b\n" * 10_000,
             "big.txt": b"x" * 10**6}  # fmt: skip
    outputs = [Output(path=name, media="x", sha256=desk.blobs.put(data)) for name, data in files.items()]
    while any(each.waits for each in shown_of(desk, outputs)):
        time.sleep(0.05)
    found = {each.path: each.made for each in shown_of(desk, outputs)}
    assert "more than is opened" in found["bomb.xlsx"].note
    assert "does not open as a workbook" in found["broken.xlsx"].note
    assert "does not open as a PDF" in found["broken.pdf"].note
    assert len(found["wide.csv"].rows[0]) == 40 if found["wide.csv"].rows else found["wide.csv"].note
    assert len(found["long.csv"].rows) == 200 and "200 rows" in found["long.csv"].note
    assert len(found["big.txt"].text) == 200_000
    gone = Output(path="x.txt", media="x", sha256="0" * 64)
    assert "not here" in shown_of(desk, [gone])[0].made.note


def test_kinds_and_types() -> None:
    assert [kind_of(name) for name in ("a.PNG", "a.wav", "a.mp4", "a.csv", "a.xlsx", "a.svg", "a.pdf", "a.bin")] == [
        "image", "audio", "video", "table", "table", "text", "pdf", "other",
    ]  # fmt: skip
    assert media_of("x.svg") == media_of("x.html") == media_of("x.pdf") == "application/octet-stream"


def test_a_hostile_run_becomes_a_study(desk: ReviewState, owner: Person, tmp_path: Path) -> None:
    run = make_run(tmp_path / "hostile", tasks=("pr-sqlparse-check",), diffs={
        "pr-sqlparse-check": f"--- a/{NAME}\n+++ b/{NAME}\n@@ -1 +1 @@\n-{SCRIPT}\n+\u202e\n"
    })  # fmt: skip
    attempt = run / "attempts/A0000"
    (attempt / "submission/description.md").write_bytes(b"\x00\xff\xfe null and no unicode")
    (attempt / "signals.json").write_text("[" * 100_000)
    outside = tmp_path / "secret.txt"
    outside.write_text("OUTSIDE")
    (attempt / "submission/commits.json").unlink()
    (attempt / "submission/commits.json").symlink_to(outside)
    (attempt / "trajectory.json").write_text("{}")
    desk.runs = (run,)
    assert owner.study().url.path.endswith("/st")
    ann = Person(str(owner.http.base_url), owner.invite("Ann"))
    page = ann.get(f"/item/{ann.next()}").text
    assert "null and no unicode" in page and "OUTSIDE" not in page
    inert(page)


def test_hidden_text_is_marked_wherever_the_page_shows_it(desk: ReviewState, owner: Person) -> None:
    hidden = [text.encode("utf-8", "replace").decode() for text in HIDDEN.values()]
    added = "".join(f"+x = 1  # note{text}.\n" for text in hidden)
    whole = "note" + "".join(hidden)
    name = "calc/add\u3164\U000e0101.py"
    diff = f"--- a/{name}\n+++ b/{name}\n@@ -0,0 +1,{len(hidden)} @@ {whole[:200]}\n{added}"
    payload = ItemPayload(title=whole, issue=whole, rules=whole, description=whole, diff=diff, reference=diff)
    test = {"id": whole, "outcome": "failed", "message": whole}
    ann = study_with(desk, owner, payload, tests=[test], steps=[whole], comments=[whole])
    said = ann.call("/item/s0/comments", file=0, side="new", line=1, text=whole, axis="core")
    assert said.status_code == 200, said.text
    pages = ["/queue", "/item/s0", "/item/s0/files", "/item/s0/comments"]
    pages += [f"/item/s0/diff/0?view={view}" for view in ("unified", "split", "reference")]
    texts = [ann.get(path).text for path in pages]
    ann.call("/item/s0/submit", key="k" * 12, answers=answers())
    texts.append(ann.get("/item/s0").text)
    leads = ("", "/items", "/items/s0?made=true", "/figures", "/log")
    texts += [owner.get(f"/studies/st{path}").text for path in leads]
    for text in texts:
        assert {letter for letter in text if is_hidden(letter) and letter not in "\n\t"} == set()
        assert "\u0301" * 9 not in text
    assert 'title="variation selector-122">U+E0169' in texts[4]
