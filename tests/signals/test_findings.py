"""The multiset of new findings: what counts as new, and where it is shown."""

from __future__ import annotations

from repoassay.signals.diffs import read_diff
from repoassay.signals.findings import ToolFinding, new_findings

# Base lines 1 to 4; line 2 is replaced by two lines, so that 3 and 4 become 4 and 5.
DIFF = read_diff(b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,4 +1,5 @@\n x\n-y\n+y1\n+y2\n z\n z\n")


def at(line: int, message: str = "bad", path: str = "a.py", rule: str = "R1") -> ToolFinding:
    return ToolFinding(rule, path, line, message)


def test_what_only_moved_is_not_new() -> None:
    assert new_findings([at(3), at(4)], [at(4), at(5)], DIFF) == ([], [])


def test_new_ones_are_told_by_where_they_are() -> None:
    assert new_findings([at(3)], [at(2), at(4)], DIFF) == ([at(2)], [])
    assert new_findings([], [at(1), at(3)], DIFF) == ([at(3)], [at(1)])
    assert new_findings([], [at(7, path="other.py")], DIFF) == ([], [at(7, path="other.py")])


def test_the_same_message_is_counted() -> None:
    assert new_findings([at(3)], [at(3), at(4)], DIFF) == ([at(3)], [])
    assert new_findings([at(1), at(3)], [at(1), at(2), at(4)], DIFF) == ([at(2)], [])


def test_one_that_moved_within_the_file_is_not_new() -> None:
    assert new_findings([at(2)], [at(3)], DIFF) == ([], [])


def test_line_numbers_in_messages_do_not_make_it_new() -> None:
    old, new = at(3, "already defined on line 1"), at(4, "already  defined on line 2")
    assert new_findings([old], [new], DIFF) == ([], [])
    assert new_findings([at(3, "complexity 11 > 10")], [at(4, "complexity 12 > 10")], DIFF)[1]


def test_rules_and_files_are_told_apart() -> None:
    changed, elsewhere = new_findings([at(3, rule="R2")], [at(4)], DIFF)
    assert (changed, elsewhere) == ([], [at(4)])


def test_a_renamed_file_is_the_same_file() -> None:
    diff = read_diff(b"diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n")
    assert new_findings([at(3, path="old.py")], [at(3, path="new.py")], diff) == ([], [])
