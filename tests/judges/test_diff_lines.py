"""Diffs as judges see them: numbered as git counts, bounded, and unable to pass a line for one of ours."""

from __future__ import annotations

import pytest

from judges.cases import DIFF
from repoassay.judges.diff_lines import number_lines


def file_of(path: str, lines: int, width: int = 10) -> str:
    body = "".join(f"+{'x' * width}\n" for _ in range(lines))
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return f"{head}@@ -0,0 +1,{lines} @@\n{body}"


def test_lines_carry_both_numbers() -> None:
    found = number_lines(DIFF, 10_000)
    assert found.find("calc/add.py", "new", 4) == "    total = first + b"
    assert found.find("calc/add.py", "old", 4) == "    return first"
    assert found.find("calc/add.py", "old", 3) == found.find("calc/add.py", "new", 3) == "    first = a"
    assert found.find("calc/add.py", "new", 6) == "# end" and found.find("calc/add.py", "new", 7) is None
    assert found.cut == () and found.files == 1
    assert found.text.splitlines()[0] == "FILE calc/add.py"


def test_lines_that_look_like_headers_are_lines() -> None:
    diff = (
        "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n a\n--- a/old\n+++ b/evil.py\n+@@ -1 +1 @@\n+diff --git a/q b/q\n b\n"
        "@@ -10 +11 @@\n-c\n+d\n"
    )
    assert [line[18:] for line in number_lines(diff, 9_999).text.split("\n")[1:]] == [
        "| a", "|--- a/old", "|+++ b/evil.py", "|+@@ -1 +1 @@", "|+diff --git a/q b/q", "| b", "|", "|-c", "|+d",
    ]  # fmt: skip
    assert number_lines(diff, 9_999).find("x", "new", 11) == "d"


def test_added_deleted_renamed_and_binary_files_are_told() -> None:
    diff = (
        file_of("n.py", 1)
        + "diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        + "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n"
        + "diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n"
    )
    text = number_lines(diff, 10_000).text
    for line in ("FILE n.py (added)", "FILE gone.py (deleted)", "FILE b.py (renamed from a.py)", "FILE p.png (binary)"):
        assert line in text.splitlines()
    assert number_lines(diff, 10_000).find("gone.py", "old", 1) == "x"


def test_a_long_diff_is_cut_file_by_file_and_says_so() -> None:
    diff = file_of("long.py", 5_000) + file_of("short.py", 3) + file_of("longer.py", 50_000)
    found = number_lines(diff, 20_000)
    assert len(found.text) < 21_500
    assert found.find("short.py", "new", 3) == "x" * 10
    assert found.find("long.py", "new", 100) and found.find("longer.py", "new", 100)
    assert found.find("longer.py", "new", 49_000) is None
    assert len(found.cut) == 2 and all(each in found.text for each in found.cut)
    left = int(found.cut[0].split()[0])
    assert found.cut[0] == f"{left} of 5000 lines of long.py are not shown."
    assert found.find("long.py", "new", 5000 - left) and not found.find("long.py", "new", 5000 - left + 1)


def test_very_many_files_and_very_long_lines_are_bounded() -> None:
    many = number_lines("".join(file_of(f"f{number}.py", 1) for number in range(2_500)), 50_000)
    assert many.cut[0] == "500 of 2500 files are not shown."
    assert len(many.text) < 400_000
    wide = number_lines(file_of("w.py", 1, 10**6), 100_000)
    assert len(wide.text) < 3_000 and "[998000 more characters]" in wide.text


@pytest.mark.parametrize(
    "line", ["\x1b[2Jx", "a\rb", "a\u2028b", "a\x0bb", "\u202eevil", "a\x85b", "\ud800", "END DATA", "\0"]
)
def test_no_line_of_a_patch_can_begin_a_line_of_ours(line: str) -> None:
    text = number_lines(f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+{line}\n", 10_000).text
    assert len(text.splitlines()) == 3 and text.split("\n")[2].startswith(" " * 16 + "1 |+")
    assert all(letter == "\n" or letter.isprintable() for letter in text)


@pytest.mark.parametrize(
    "diff",
    ["", "\n\n", "no diff", "@@ -1 +1 @@\n-x\n+y", "+++ b/x\n", "--- a/x", "diff --git a b", "diff --git ",
     "--- a/x\n+++ b/x\n@@ -1,99999999 +1,99999999 @@\n x\n", "--- a/x\n+++ b/x\n@@ -999999999 +999999999 @@\n x",
     "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\nbroken\n+x\n@@ -1 +1 @@\n+y\n"],
)  # fmt: skip
def test_what_is_no_diff_is_passed_over(diff: str) -> None:
    number_lines(diff, 1_000)


def test_a_diff_beyond_all_measure_is_read_in_part_and_says_so() -> None:
    found = number_lines(file_of("x.py", 9, 1_000_000), 10_000)
    assert found.cut[0].startswith("Only the first 8,000,000 of 9,000,")
