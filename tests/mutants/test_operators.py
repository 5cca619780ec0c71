"""Mutation operators stay in the changed lines, leave alone what no test should pin, and make what can be read."""

from __future__ import annotations

import ast
from pathlib import Path

from repoassay.mutants import draw, solution_files
from repoassay.mutants.edits.python_meaning import python_meaning
from repoassay.mutants.edits.python_operators import python_replacements
from repoassay.types import FileEdit, MutantKind

BEFORE = '''"""A module."""
import logging

log = logging.getLogger(__name__)


def kept(a):
    return a + 1
'''
AFTER = '''"""Another text."""
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path as P

log = logging.getLogger(__name__)
__all__ = ["share"]


def kept(a):
    return a + 1


def share(part: int, of: "int" = 1, *, strict: bool = False) -> float:
    """The share."""
    log.info("dividing %d", part)
    if part < 0 or of <= 0:
        raise ValueError(f"no share of {of}")
    try:
        found = round(float(part) / of, ndigits=3)
    except ZeroDivisionError:
        return 0.0
    while strict and found > 1:
        found -= 1
    return found
'''


def texts(before: str, after: str) -> set[tuple[str, str]]:
    """What each replacement has in the place of what."""
    from repoassay.mutants.edits.changed_blocks import changed_lines

    source = after.encode()
    found = python_replacements(source, changed_lines(before.encode(), source))
    for one in found:
        ast.parse(one.of(source))
    return {(source[one.start : one.end].decode(), one.text.decode()) for one in found}


def test_every_operator_is_found_in_changed_lines_alone() -> None:
    found = texts(BEFORE, AFTER)
    assert {
        ("<", "<="), ("<", ">="), ("<=", "<"), ("or", "and"), ("part < 0", "False"), ("/", "*"), ("ndigits=3", ""),
        ("3", "4"), ("3", "2"), ("ValueError", "RuntimeError"), ("ZeroDivisionError", "KeyError"), ("False", "True"),
        ("strict and found > 1", "not (strict and found > 1)"), ("found -= 1", "pass"), ("-=", "+="), ("found", "None"),
        ("part < 0 or of <= 0", "True"), ("float(part)", "(part)"),
    } <= found  # fmt: skip
    assert not any("kept" in was or "a + 1" in was for was, _ in found)


def test_texts_that_people_alone_read_are_left_alone() -> None:
    touched = {was for was, _ in texts(BEFORE, AFTER)}
    for text in ('"""The share."""', '"dividing %d"', '["share"]', '"share"', '"int"', "int", "TYPE_CHECKING"):
        assert text not in touched


def test_programs_that_do_the_same_have_one_meaning() -> None:
    other = AFTER.replace("The share.", "A quotient.").replace("no share of", "nothing of").replace(': "int"', "")
    other = other.replace('    log.info("dividing %d", part)\n', "    # dividing\n")
    assert python_meaning(AFTER.encode()) == python_meaning(other.encode())
    assert python_meaning(AFTER.encode()) != python_meaning(AFTER.replace("<=", "<").encode())
    assert python_meaning(b"def (") is None


def test_a_solution_gives_files_left_out_blocks_put_back_and_operators(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BEFORE)
    edits: dict[str, FileEdit | None] = {
        "a.py": FileEdit(AFTER.encode()),
        "b.py": FileEdit(b"LIMIT = 3\n"),
        "docs/a.rst": FileEdit(b"text\n"),
        "tests/test_a.py": FileEdit(b"def test(): ...\n"),
    }
    files = solution_files(edits, tmp_path)
    assert [file.path for file in files] == ["a.py", "b.py"]
    drawn = draw(edits, files, 1000, 0)
    assert {mutant.kind for mutant in drawn} >= {MutantKind.FILE, MutantKind.HUNK, MutantKind.RETURN}
    assert next(mutant for mutant in drawn if mutant.name == "file:b.py").edits.keys() == edits.keys() - {"b.py"}
    assert len({mutant.name for mutant in drawn}) == len(drawn) > 20


def test_few_mutants_are_drawn_alike_and_from_many_lines(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BEFORE)
    edits: dict[str, FileEdit | None] = {"a.py": FileEdit(AFTER.encode())}
    files = solution_files(edits, tmp_path)
    first, again, other = (draw(edits, files, 8, seed) for seed in (0, 0, 1))
    assert [mutant.name for mutant in first] == [mutant.name for mutant in again]
    assert [mutant.name for mutant in first] != [mutant.name for mutant in other]
    lines = [mutant.line for mutant in first]
    assert len(set(lines)) >= 6


def test_the_base_is_no_mutant(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("LIMIT = 3\n")
    edits: dict[str, FileEdit | None] = {"a.py": FileEdit(b"LIMIT = 4\n")}
    drawn = draw(edits, solution_files(edits, tmp_path), 10, 0)
    assert [(mutant.was, mutant.now) for mutant in drawn] == [("LIMIT = 4", "LIMIT = 5")]
