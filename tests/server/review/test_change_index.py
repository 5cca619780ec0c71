"""Where things stand in a change: search over files not loaded, signals' paths as links, generated files last."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from repoassay.review.rubric import read_rubric
from repoassay.review.studies import create_study
from repoassay.review.study import FileVersions, HiddenPart, Item, ItemPayload, Study
from repoassay.server.review.change_index import ChangeIndex, search_change
from repoassay.server.review.changed_files import file_versions
from repoassay.server.review.diff import is_generated
from repoassay.server.review.review_state import ReviewState
from repoassay.workspace.checkouts import commit_tree
from server.review.samples import NOW, Person, answers


def file_of(name: str, added: int, text: str = "value") -> str:
    """Return the diff of a new file."""
    lines = "".join(f"+{text} {number}\n" for number in range(1, added + 1))
    return f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{added} @@\n{lines}"


def studied(desk: ReviewState, owner: Person, payload: ItemPayload, **evidence: object) -> Person:
    """Make a study of one change and let Ann in."""
    rubric = read_rubric("mergeable")
    item = Item(id="s0", payload=payload, hidden=HiddenPart(task="t", evidence=dict(evidence)))
    create_study(
        desk.database, Study(name="st", rubric=rubric.digest, reveal="after_submission"), rubric, [item], at=NOW
    )
    owner.get("/studies/st")
    return Person(str(owner.http.base_url), owner.invite("Ann"))


def test_search_reaches_what_is_not_loaded(desk: ReviewState, owner: Person) -> None:
    diff = "".join(file_of(f"pkg/m{number}.py", 3) for number in range(400)) + file_of("pkg/long.py", 900, "Needle")
    ann = studied(desk, owner, ItemPayload(diff=diff))
    assert "long.py" not in re.sub("(?s)<ul class=.tree.*", "", ann.get("/item/s0").text)
    text = ann.get("/item/s0/find", params={"wanted": "needle 850"}).text
    assert (
        'data-file="400" data-place="400" data-key="n850" data-page="2"' in text and "<mark>Needle 850</mark>" in text
    )
    many = ann.get("/item/s0/find", params={"wanted": "VALUE"}).text
    assert many.count("<li>") == 200 and "the first 200 lines found" in many
    assert "0 lines found" in ann.get("/item/s0/find", params={"wanted": "[a-z]+("}).text
    assert ann.get("/item/s0/find", params={"wanted": " "}).text.strip() == ""
    assert ann.get("/item/s0/find", params={"wanted": "x" * 201}).status_code == 422
    hostile = ann.get("/item/s0/find", params={"wanted": "<script>"}).text
    assert "<script>" not in hostile
    row = ann.get("/item/s0/diff/400?at=2&jump=true").text
    assert 'id="f400n850"' in row and "Earlier rows" in row


def test_signals_link_into_the_diff(desk: ReviewState, owner: Person) -> None:
    lines = [f"l{number}" for number in range(1, 101)]
    diff = "--- a/x.py\n+++ b/x.py\n@@ -50,2 +50,3 @@\n l50\n+new\n l51\n"
    versions = (FileVersions(path="x.py", before=desk.blobs.put(("\n".join(lines) + "\n").encode())),)
    payload = ItemPayload(diff=diff + file_of("y.py", 2), versions=versions)
    places = [{"path": "x.py", "line": 51}, {"path": "x.py", "line": 90}, {"path": "y.py"}, {"path": "z.py", "line": 1}]
    signal = {"id": "a", "axis": "core", "state": "finding", "title": "T", "evidence": places}
    ann = studied(desk, owner, payload, signals=[signal])
    ann.call("/item/s0/submit", key="k" * 12, answers=answers())
    text = ann.get("/item/s0/evidence").text
    assert 'data-key="n51" data-page="0"><code>x.py:51' in text
    assert 'data-key="n90" data-page="0" data-entire><code>x.py:90' in text
    assert 'data-file="1" data-place="1" data-key="" data-page="0"><code>y.py' in text
    assert "<li><code>z.py:1</code>" in text


def test_a_comment_on_a_removed_line_is_found_on_its_side(desk: ReviewState, owner: Person) -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -5,2 +5,1 @@\n-gone\n stays\n"
    studied(desk, owner, ItemPayload(diff=diff))
    index = ChangeIndex(desk.blobs, desk.shown("st", "s0"))
    gone, stays = index.line("x.py", 5, "old"), index.line("x.py", "6", "old")
    assert gone is not None and gone.key == "o5"
    assert stays is not None and stays.key == "n5"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("package-lock.json", True), ("a/b/uv.lock", True), ("js/app.min.js", True), ("vendor/x/y.go", True),
        ("web/node_modules/a.js", True), ("dist/x.js", True), ("src/lock.py", False), ("src/vendor.py", False),
        ("src/distance/x.py", False), ("api_pb2.py", True), ("src/package-lock.json.py", False),
    ],
)  # fmt: skip
def test_names_of_generated_files(name: str, known: bool) -> None:
    assert is_generated(name) is known


def test_generated_files_come_last_and_wait(desk: ReviewState, owner: Person, tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / ".gitattributes").write_text("schema/*.py linguist-generated\n")
    (base / "a.py").write_text("1\n")
    commit_tree(base)
    mark = "--- a/.gitattributes\n+++ b/.gitattributes\n@@ -1 +1,2 @@\n schema/*.py linguist-generated\n"
    mark += "+* linguist-generated\n"
    diff = mark + file_of("package-lock.json", 2) + file_of("schema/x.py", 2) + file_of("src/y.py", 2)
    versions = file_versions(base, diff, desk.blobs)
    assert [each.path for each in versions if each.generated] == ["schema/x.py"]  # a change hides none of its own files
    ann = studied(desk, owner, ItemPayload(diff=diff, versions=versions))
    text = ann.get("/item/s0").text
    tree = re.findall(r'<a href="#f\d+" data-file="(\d+)" data-place="(\d+)"', text)
    assert tree == [("0", "0"), ("3", "1"), ("1", "2"), ("2", "3")]
    sections = re.findall(r'id="f(\d+)" data-number', text)
    assert sections == ["0", "3", "1", "2"] and text.count("generated or vendored") == 2
    assert [each.path for each in search_change(desk.shown("st", "s0"), "value 1")[0]] == [
        "src/y.py", "package-lock.json", "schema/x.py",
    ]  # fmt: skip
