"""Context that expands: gaps between hunks, whole files, and comments on what a diff leaves out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from repoassay.review.rubric import read_rubric
from repoassay.review.studies import create_study, payload_of
from repoassay.review.study import FileVersions, HiddenPart, Item, ItemPayload, Study
from repoassay.server.review.changed_files import file_versions
from repoassay.server.review.context_lines import ContextGap, context_gaps, lines_before, with_gaps_filled
from repoassay.server.review.diff import parse_diff
from repoassay.server.review.review_state import ReviewState
from server.review.samples import NOW, Person

LINES = [f"line_{number} = {number}" for number in range(1, 201)]
DIFF = """--- a/pkg/x.py
+++ b/pkg/x.py
@@ -50,3 +50,4 @@ def somewhere():
 line_50 = 50
+added = 1
 line_51 = 51
 line_52 = 52
@@ -150,3 +151,2 @@
 line_150 = 150
-line_151 = 151
 line_152 = 152
"""


def opened(desk: ReviewState, owner: Person, diff: str = DIFF, before: str = "\n".join(LINES) + "\n") -> Person:
    """Make a study of one change of one file that is kept, and let Ann in."""
    digest = desk.blobs.put(before.encode())
    payload = ItemPayload(diff=diff, versions=(FileVersions(path="pkg/x.py", before=digest),))
    rubric = read_rubric("mergeable")
    item = Item(id="s0", payload=payload, hidden=HiddenPart(task="t"))
    create_study(desk.database, Study(name="st", rubric=rubric.digest), rubric, [item], at=NOW)
    owner.get("/studies/st")
    return Person(str(owner.http.base_url), owner.invite("Ann"))


def test_gaps_open_down_up_and_wholly(desk: ReviewState, owner: Person) -> None:
    ann = opened(desk, owner)
    page = ann.get("/item/s0/diff/0").text
    assert page.count('class="gap"') == 3 and "line_49 =" not in page
    down = ann.get("/item/s0/diff/0/context?old_line=53&new_line=54&count=97&take=down").text
    assert re.findall(r"line_(\d+) =", re.sub("<[^>]*>", "", down)) == [str(number) for number in range(53, 73)]
    assert "old_line=73&new_line=74&count=77" in down and down.rindex('class="gap"') > down.rindex("f0n")
    up = ann.get("/item/s0/diff/0/context?old_line=53&new_line=54&count=97&take=up").text
    assert "old_line=53&new_line=54&count=77" in up and up.index('class="gap"') < up.index("f0n")
    assert 'id="f0n150"' in up and 'id="f0n130"' not in up
    both = ann.get("/item/s0/diff/0/context?old_line=53&new_line=54&count=97&take=all&view=split").text
    assert both.count("<tr") == 97 and "gap" not in both and 'data-side="old">149<' in both
    for odd in ("old_line=190&new_line=1&count=97&take=all", "old_line=1&new_line=1&count=5&take=sideways"):
        assert ann.get(f"/item/s0/diff/0/context?{odd}").status_code == 404
    assert ann.get("/item/s0/diff/0/context?old_line=0&new_line=1&count=5&take=up").status_code == 422


def test_the_whole_file_is_the_new_one(desk: ReviewState, owner: Person) -> None:
    ann = opened(desk, owner)
    text = ann.get("/item/s0/diff/0?whole_file=true").text
    numbers = [int(found) for found in re.findall(r'id="f0n(\d+)"', text)]
    assert numbers == list(range(1, 201)) and "gap" not in text and 'id="f0h1"' in text
    assert "Whole file" in ann.get("/item/s0").text


def test_lines_outside_of_the_diff_can_be_commented_on(desk: ReviewState, owner: Person) -> None:
    ann = opened(desk, owner)
    said = ann.call("/item/s0/comments", file=0, side="new", line=10, end_line=11, text="here", axis="core")
    assert said.status_code == 200 and said.json()["anchor"]["quote"] == "line_10 = 10\nline_11 = 11"
    assert ann.call("/item/s0/comments", file=0, side="new", line=900, text="here", axis="core").status_code == 422


@pytest.mark.parametrize("before", ["", "another file\n" * 300, "\n".join(LINES[:100])])
def test_another_file_is_never_shown_as_context(desk: ReviewState, owner: Person, before: str) -> None:
    ann = opened(desk, owner, before=before)
    page = ann.get("/item/s0/diff/0")
    assert page.status_code == 200 and "gap" not in page.text
    assert "gap" not in ann.get("/item/s0/diff/0?whole_file=true").text
    assert ann.get("/item/s0/diff/0/context?old_line=1&new_line=1&count=5&take=up").status_code == 404


def test_heads_that_overlap_or_lie_show_no_context() -> None:
    lines = [f"l{number}" for number in range(1, 30)]
    (file,) = parse_diff("--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n@@ -5,2 +7,2 @@\n l5\n-l6\n+m6\n")
    assert context_gaps(file, lines) == [ContextGap(1, 1, 0), ContextGap(1, 3, 4), ContextGap(7, 9, 23)]
    assert [row.new for row in with_gaps_filled(file, lines).rows if row.sign in " +"] == list(range(1, 32))


def test_versions_follow_no_path_out_of_the_repository(desk: ReviewState, tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (tmp_path / "secret.txt").write_text("SECRET\n")
    (base / "link.txt").symlink_to(tmp_path / "secret.txt")
    (base / "real.txt").write_text("real\n")
    names = ("../secret.txt", "link.txt", "real.txt", "/etc/passwd", ".git/config", "a//b")
    diff = "".join(f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-SECRET\n+x\n" for name in names)
    found = file_versions(base, diff, desk.blobs)
    assert [each.path for each in found if each.before] == ["real.txt"]


def test_a_study_of_runs_keeps_what_files_were(desk: ReviewState, owner: Person) -> None:
    owner.study(controls="2", reference="revealed")
    names = set(re.findall(r"/items/(s\w{8})\b", owner.get("/studies/st/items").text))
    for name in names:
        shown = desk.shown("st", name, blind=False)
        assert payload_of(desk.database, "st", name).versions
        known = [file for file in shown.files if file.old is not None and file.rows]
        assert known and all(lines_before(desk.blobs, shown, file) is not None for file in known)
