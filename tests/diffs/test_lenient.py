"""Diffs read as far as they go: what git writes exactly, what is hostile in linear time and alike for every reader."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from repoassay.diffs.lenient import DiffRow, FileDiff, read, walk
from repoassay.judges.diff_lines import number_lines
from repoassay.server.review.diff import parse_diff
from repoassay.signals.diffs import read_diff
from repoassay.text import escape_hidden

HEAD = "--- a/x\n+++ b/x\n"


def git(folder: Path, *words: str) -> bytes:
    settings = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "core.autocrlf=false")
    return subprocess.run(["git", *settings, *words], cwd=folder, capture_output=True, check=True).stdout


def test_every_kind_of_change_that_git_writes(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    kept = "".join(f"line {number}\n" for number in range(40))
    files = {"edit.py": kept, "gone.py": "x\n", "old name.py": kept, "ü\t.py": "1\n", "crlf.txt": "a\r\nb\r\n",
             "pixel.png": "\0\1", "mode.sh": "echo\n"}  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text, newline="")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    (tmp_path / "edit.py").write_text(kept.replace("line 3\n", "-- dashed\n").replace("line 30\n", "") + "end")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "old name.py").rename(tmp_path / "new name.py")
    (tmp_path / "ü\t.py").write_text("2\n")
    (tmp_path / "crlf.txt").write_text("a\r\nc\r\n", newline="")
    (tmp_path / "pixel.png").write_bytes(b"\0\2")
    (tmp_path / "mode.sh").chmod(0o755)
    (tmp_path / "new.py").write_bytes(b"latin \xe9\n")
    git(tmp_path, "add", ".")
    data = git(tmp_path, "diff", "--cached", "-M")
    files_read = {file.path: file for file in read(data)}
    assert {path: file.status for path, file in files_read.items()} == {
        "crlf.txt": "modified", "edit.py": "modified", "gone.py": "deleted", "mode.sh": "modified", "new.py": "added",
        "new name.py": "renamed", "pixel.png": "binary", "ü\t.py": "modified",
    }  # fmt: skip
    edit = files_read["edit.py"]
    assert (edit.additions, edit.deletions, edit.hunks) == (2, 2, 3)
    changed = [row for row in edit.rows if row.sign not in {" ", "@"}]
    assert changed == [
        DiffRow("-", 4, None, "line 3", 0), DiffRow("+", None, 4, "-- dashed", 0),
        DiffRow("-", 31, None, "line 30", 1), DiffRow("+", None, 40, "end", 2),
        DiffRow("\\", None, None, "No newline at end of file", 2),
    ]  # fmt: skip
    assert files_read["new name.py"].old == "old name.py"
    assert files_read["crlf.txt"].rows[-1] == DiffRow("+", None, 2, "c\r", 0)
    assert files_read["new.py"].rows == [DiffRow("@", 1, 1, "@@ -0,0 +1 @@"), DiffRow("+", None, 1, "latin \udce9")]


def test_lines_of_a_hunk_are_never_headers_and_headers_after_one_rename_nothing() -> None:
    (file,) = read(
        f"{HEAD}@@ -1,2 +1,3 @@\n--- a/y\n+++ b/y\n+diff --git a/z b/z\n+@@ -1 +1 @@\n \n"
        "rename to q\nnew file mode 100644\ndeleted file mode 100644\nGIT binary patch\n"
    )
    assert [(row.sign, row.text) for row in file.rows[1:]] == [
        ("-", "-- a/y"), ("+", "++ b/y"), ("+", "diff --git a/z b/z"), ("+", "@@ -1 +1 @@"), (" ", ""),
    ]  # fmt: skip
    assert (file.old, file.new, file.binary) == ("x", "x", False)


def test_a_hunk_that_ends_early_gives_way_to_what_follows() -> None:
    one, two = read(f"{HEAD}@@ -1,9 +1,9 @@\n-a\n+b\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -7 +7 @@\n-c\n+d\n")
    assert (one.path, two.path) == ("x", "y")
    assert [row[:4] for row in two.rows[1:]] == [("-", 7, None, "c"), ("+", None, 7, "d")]


@pytest.mark.parametrize(
    ("header", "old", "new"),
    [
        ("diff --git a/same b/same\nindex 1..2\n", "same", "same"),
        ('diff --git "a/t\\303\\274" "b/t\\303\\274"\n', "tü", "tü"),
        ('--- "a/q\\"\\\\\\t"\n+++ /dev/null\n', 'q"\\\t', None),
        ("--- a/x\t2020-01-01\r\n+++ b/x y\t2020-01-01\r\n", "x", "x y"),
        ('--- "\n+++ ""\n', '"', None),
        ("diff --git \n", "?", "?"),
        ("diff --git a/x b/y\nrename from a/x\nrename to b/y\n", "a/x", "b/y"),
    ],
)
def test_names(header: str, old: str | None, new: str | None) -> None:
    for data in (header, header.encode()):
        (file,) = read(data)
        assert (file.old, file.new) == (old, new)


def test_bounds() -> None:
    many = "".join(f"--- a/{number}\n+++ b/{number}\n@@ -1 +1 @@\n-1\n+2\n" for number in range(50))
    assert [file.path for file in read(many, max_files=3)] == ["0", "1", "2"]
    assert len(read(many, max_lines=10)) == 2 and read(many, max_lines=5)[0].additions == 1


def test_every_line_is_one_row() -> None:
    diff = f"mail\n\n{HEAD}@@ -1 +1 @@ def f():\n-a\n\\ No newline at end of file\n+b\nrest\n"
    assert [row.sign for _, row in walk(diff)] == ["", "", "", "", "@", "-", "\\", "+", ""]
    assert [file.number if file else None for file, _ in walk(diff)] == [None, None, 0, 0, 0, 0, 0, 0, 0]


PIECES = st.sampled_from(
    ["diff --git a/x b/x", "diff --git a/y b/z", "--- a/x", "+++ b/x", "--- /dev/null", "+++ /dev/null", "@@ -1 +1 @@",
     "@@ -1,2 +1,3 @@", "@@ -0,0 +1,2 @@", "@@ -3,1 +2,0 @@", "@@ -999999999 +100000000 @@", "@@ -١ +١ @@", "+a",
     "-b", " c", "", "\r", "\\ No newline at end of file", "rename from q", "rename to r", "junk",
     "new file mode 100644", "+\udcff",
     "deleted file mode 100644", "GIT binary patch", "+\u2028", '+++ "b/\\303\\050"', "--- ", "+++ "]
)  # fmt: skip


def as_text(path: str) -> str:
    """A path of which readers of bytes keep what is no UTF-8, as readers of text have it."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@example('diff --git a/x b/x\n+++ "b/\\303\\050"\n@@ -1 +1 @@\n+a')
@given(st.lists(PIECES, max_size=30).map("\n".join) | st.text(max_size=200))
def test_people_judges_and_signals_see_the_same_lines(diff: str) -> None:
    diff = diff.encode("utf-8", "replace").decode()
    files = read(diff)
    assert parse_diff(diff) == files
    judged = number_lines(diff, 1_000_000)
    rows = {(file.path, row.new, row.text.removesuffix("\r")) for file in files for row in file.rows if row.sign == "+"}
    assert judged.files == len(files)
    shown = {(escape_hidden(path, "\t"), line) for path, line, _ in rows}  # a judge cites a path as it is shown
    assert {(path, line) for path, side, line in judged.lines if side == "new"} >= shown
    added = {(as_text(each.path), line, text.removesuffix("\r")) for each in read_diff(diff.encode()).files
             for line, text in each.added.items()}  # fmt: skip
    assert {row for row in added if row[0] != "?"} <= rows


@pytest.mark.by_day(4)
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "diff",
    [f"{HEAD}@@ -0,0 +1,99999999 @@\n" + "+\n" * 75_000, HEAD * 40_000, f"{HEAD}@@ -1 +1 @@\n" * 15_000,
     '--- "' + "\\303" * 250_000 + '"\n+++ b/x\n', "diff --git " + "a " * 250_000, "@@ -1 +1 @@\n" * 75_000,
     "-" * 2_500_000, f"{HEAD}@@ -1,99999 +1,99999 @@\n" + "\\\n" * 75_000],
)  # fmt: skip
def test_hostile_diffs_take_linear_time(diff: str) -> None:
    start = time.process_time()
    for data in (diff, diff.encode()):
        assert all(isinstance(file, FileDiff) for file in read(data))
    assert time.process_time() - start < 5
