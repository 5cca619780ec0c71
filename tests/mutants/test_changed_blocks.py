"""What a solution changes, block by block, and where an insertion that can be told in several ways stands."""

from __future__ import annotations

from repoassay.mutants.edits.changed_blocks import changed_blocks, changed_lines, put_back

BEFORE = b"""import os

parser.add(
    "-a",
    1)

parser.add(
    "-c",
    3)
"""
AFTER = BEFORE.replace(b'parser.add(\n    "-c"', b'parser.add(\n    "-b",\n    2)\n\nparser.add(\n    "-c"')


def test_an_insertion_begins_where_its_statement_does() -> None:
    assert changed_lines(BEFORE, AFTER) == {7, 8, 9, 10}


def test_each_block_can_be_put_back_alone() -> None:
    after = AFTER.replace(b"import os", b"import sys")
    first, second = changed_blocks(BEFORE, after)
    assert put_back(after, second) == BEFORE.replace(b"import os", b"import sys")
    assert put_back(after, first) == AFTER


def test_blank_lines_alone_are_no_change() -> None:
    assert changed_blocks(b"a\n\n\nb\n", b"a\nb\n") == []
    assert changed_blocks(b"", b"") == []


def test_large_changes_are_one_block() -> None:
    old = b"".join(b"%d\n" % number for number in range(6000))
    assert len(changed_blocks(old, old.replace(b"1", b"x"))) == 1
