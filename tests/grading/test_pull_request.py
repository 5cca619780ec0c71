"""Pull requests as they are read back: what is missing or hostile is said, and trees are what diffs lead to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repoassay.diffs import PatchError
from repoassay.grading.pull_request import (
    PullRequest,
    head_tree,
    notes_on,
    read_pull_request,
    reference_pull_request,
)
from repoassay.tasks.suite import find_suite
from repoassay.types import TaskKind
from repoassay.types.pull_request import Commits

DIFF = b"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1 @@\n+b\n"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    top = tmp_path / "base"
    (top / ".git").mkdir(parents=True)
    (top / ".git/config").write_text("[core]\n")
    (top / "a.txt").write_text("one\n")
    (top / "gone.txt").write_text("gone\n")
    return top


def test_an_empty_folder_is_an_empty_pull_request(tmp_path: Path) -> None:
    pull = read_pull_request(tmp_path)
    assert (pull.diff, pull.description, pull.commits) == (b"", "", Commits())
    assert notes_on(pull) == ["The pull request has no description.", "Nothing was committed."]
    assert pull.changes(tmp_path).edits == {}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"commits": 3}', '{"unknown": 1}', "[" * 100_000, "\0"])
def test_commits_that_say_nothing_are_told_of(tmp_path: Path, content: str) -> None:
    (tmp_path / "commits.json").write_text(content)
    pull = read_pull_request(tmp_path)
    assert pull.commits.commits == ()
    assert pull.commits.notes == (() if not content else ("commits.json does not say what it should.",))


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    folder = tmp_path / "submission"
    folder.mkdir()
    for name in ("submission.diff", "commits.json", "description.md"):
        (folder / name).symlink_to(tmp_path / "secret")
    pull = read_pull_request(folder)
    assert (pull.diff, pull.description) == (b"", "")
    assert len(pull.commits.notes) == 3


def test_the_head_tree_is_the_base_with_the_diff(base: Path, tmp_path: Path) -> None:
    diff = DIFF + b"--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    tree = head_tree(PullRequest(diff, "", Commits()), base, tmp_path / "head")
    assert {path.relative_to(tree).as_posix(): path.read_text() for path in tree.rglob("*") if path.is_file()} == {
        "a.txt": "two\n", "new/b.txt": "b\n"
    }  # fmt: skip
    assert (base / "a.txt").read_text() == "one\n"


def test_the_head_tree_of_nothing_is_the_base(base: Path, tmp_path: Path) -> None:
    tree = head_tree(PullRequest(b"\n", "", Commits()), base, tmp_path / "head")
    assert sorted(path.name for path in tree.iterdir()) == ["a.txt", "gone.txt"]


def test_a_diff_that_leads_outside_is_refused(base: Path, tmp_path: Path) -> None:
    hostile = b"--- /dev/null\n+++ b/../outside.txt\n@@ -0,0 +1 @@\n+x\n"
    with pytest.raises(PatchError):
        head_tree(PullRequest(hostile, "", Commits()), base, tmp_path / "head")
    assert not (tmp_path / "outside.txt").exists()


def test_what_differs_from_the_last_commit_is_noted(tmp_path: Path) -> None:
    commit = {"id": "a" * 40, "subject": "Do it"}
    told = {"tip": "a" * 40, "commits": [commit], "uncommitted": True, "notes": ["A note."]}
    (tmp_path / "commits.json").write_text(json.dumps(told))
    (tmp_path / "description.md").write_bytes(b"Do it \xff")
    pull = read_pull_request(tmp_path)
    assert pull.description == "Do it \ufffd"
    assert notes_on(pull) == [
        "The files at the end are not those of the last commit; the files were graded.", "A note."
    ]  # fmt: skip


def test_every_bundled_reference_comes_with_tests_words_and_a_title() -> None:
    suite = find_suite("pull-requests")
    assert len(suite.tasks) >= 6
    for folder in suite.tasks:
        assert folder.task.kind is TaskKind.PULL_REQUEST
        pull = reference_pull_request(folder)
        paths = [
            line.partition(b" b/")[2].decode() for line in pull.diff.splitlines() if line.startswith(b"diff --git")
        ]
        assert any("test" in path for path in paths), folder.task.id
        assert any(path.endswith((".md", ".rst", ".1", "CHANGELOG")) for path in paths), folder.task.id
        assert len(pull.description.splitlines()[0]) <= 72, folder.task.id
        assert folder.task.rules == "contributing.md"
