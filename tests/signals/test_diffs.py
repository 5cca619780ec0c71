"""Reading diffs: line numbers on both sides, the map between them, odd names, and hostile input."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from repoassay.signals import diffs
from repoassay.signals.diffs import read_diff


def git_diff(before: str, after: str, folder: Path, name: str = "file.txt") -> bytes:
    for side, text in (("a", before), ("b", after)):
        (folder / side).mkdir(exist_ok=True)
        (folder / side / name).write_text(text)
    done = subprocess.run(
        ["git", "diff", "--no-index", "--no-prefix", f"a/{name}", f"b/{name}"],
        cwd=folder, capture_output=True, check=False,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("seed", range(20))
def test_numbers_and_map_agree_with_the_files(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    old = [f"line {chance.randrange(6)}" for _ in range(chance.randrange(1, 60))]
    new = list(old)
    for _ in range(chance.randrange(1, 8)):
        at = chance.randrange(len(new) + 1)
        new[at : at + chance.randrange(3)] = [f"new {chance.randrange(6)}" for _ in range(chance.randrange(3))]
    data = git_diff("".join(f"{each}\n" for each in old), "".join(f"{each}\n" for each in new), tmp_path)
    if not data:
        return
    (change,) = read_diff(data).files
    assert all(new[line - 1] == text for line, text in change.added.items())
    assert all(old[line - 1] == text for line, text in change.removed.items())
    kept = [line for line in range(1, len(old) + 1) if line not in change.removed]
    mapped = [change.mapped(line) for line in kept]
    assert [new[line - 1] for line in mapped if line] == [old[line - 1] for line in kept]
    assert sorted([*change.added, *(line for line in mapped if line)]) == list(range(1, len(new) + 1))
    assert all(change.mapped(line) is None for line in change.removed)


@pytest.mark.parametrize("name", ["with space.py", 'quo"te.py', "ümlaut.py", "tab\there.py", "back\\slash.py"])
def test_names_are_those_of_the_files(tmp_path: Path, name: str) -> None:
    (change,) = read_diff(git_diff("one\n", "two\n", tmp_path, name)).files
    assert (change.old, change.new) == (name, name)


def test_added_deleted_and_renamed_files() -> None:
    data = (
        b"diff --git a/new.py b/new.py\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n"
        b"+x\n"
        b"diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        b"diff --git a/here.py b/there.py\nsimilarity index 100%\nrename from here.py\nrename to there.py\n"
        b"diff --git a/empty b/empty\nnew file mode 100644\nindex 0..e\n"
        b"diff --git a/p.png b/p.png\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n"
    )
    found = [(each.old, each.new, each.binary) for each in read_diff(data).files]
    assert found == [
        (None, "new.py", False),
        ("gone.py", None, False),
        ("here.py", "there.py", False),
        (None, "empty", False),
        (None, "p.png", True),
    ]


def test_lines_that_look_like_headers_are_lines() -> None:
    data = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/other\n+++ b/other\n diff --git a/y b/y\n"
    (change,) = read_diff(data).files
    assert change.removed == {1: "-- a/other"}
    assert change.added == {1: "++ b/other"}


def test_large_diffs_are_cut_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diffs, "MAX_DIFF", 1000)
    data = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,1000 @@\n" + b"+line\n" * 1000
    cut = read_diff(data)
    assert "1000 are read" in cut.cut
    assert 0 < cut.lines() < 200
    monkeypatch.setattr(diffs, "_MAX_LINES", 50)
    assert read_diff(data[:900]).lines() <= 52


@pytest.mark.parametrize(
    "data",
    [b"", b"\0" * 100, b"@@ -1 +1 @@\n-x\n+y\n", b"diff --git \n@@ -1,99999999 +1,99999999 @@\n x",
     b"--- \n+++ \n@@ -1 +1 @@\n",
     b'diff --git "a/\\q" "b/\\q"\n--- "a/\\777"\n', b"diff --git a/x b/x\n@@ -1,5 +1,5 @@\nnot a diff\n"],
)  # fmt: skip
def test_what_is_no_diff_does_no_harm(data: bytes) -> None:
    for each in read_diff(data).files:
        assert isinstance(each.path, str)
    chance = random.Random(len(data))
    for _ in range(50):
        read_diff(bytes(chance.choice(data or b"x") for _ in range(60)))
