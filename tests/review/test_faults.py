"""Bundled faults: each spoils a real change in one way, reads as a diff, and applies where the good one does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import repoassay
from repoassay.diffs import read_patch
from repoassay.review.faults import FAULTS, FaultyChange, faulty_changes

TASKS = Path(repoassay.__file__).parent / "benchmarks/pull_requests/suite/tasks"
SOLUTIONS = sorted(TASKS.glob("*/solution/changes.diff"))


def every(diff: str) -> list[FaultyChange]:
    return [made for gross in (False, True) for made in faulty_changes(diff, 1, gross=gross)]


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.parts[-3])
def test_every_real_change_can_be_spoilt_in_several_ways(path: Path) -> None:
    good = path.read_text()
    made = every(good)
    assert len({each.fault for each in made}) == len(made) >= 5
    assert sum(each.gross for each in made) == 1
    for each in made:
        assert each.diff != good and each.description and each.axis in {"core", "testing", "documentation", "quality"}
        if each.diff:
            read_patch(each.diff.encode())  # strict: lengths of hunks are right
        for text in (each.fault, "fault", "control"):
            assert text not in each.diff.replace(good, "") or text in good
    assert faulty_changes(good, 1) == faulty_changes(good, 1)


def test_all_faults_are_possible_somewhere() -> None:
    found = {each.fault for path in SOLUTIONS for each in every(path.read_text())}
    assert found == {fault.name for fault in FAULTS}


def test_a_spoilt_change_applies_to_the_same_files(tmp_path: Path) -> None:
    before = [f"line {number}" for number in range(40)]
    after = [*before]
    after[3:3] = ["    if size > limit:", '        raise ValueError("too large")', "    total = size + 1"]
    after[30] = "    while total < 3:"
    for name, text in (("a", before), ("b", after)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.py").write_text("\n".join(text) + "\n")
    good = subprocess.run(
        ["git", "diff", "--no-index", "a", "b"], cwd=tmp_path, check=False, capture_output=True, text=True
    ).stdout
    good = good.replace("a/a/", "a/").replace("b/b/", "b/")
    made = {each.fault: each.diff for each in every(good)}
    assert {"dropped_hunk", "inverted_condition", "off_by_one", "swallowed_exception", "debug_print"} <= set(made)
    for fault, diff in made.items():
        if diff:
            ran = subprocess.run(
                ["git", "apply", "--check", "-"], cwd=tmp_path / "a", check=False, input=diff, text=True,
                capture_output=True,
            )  # fmt: skip
            assert ran.returncode == 0, (fault, ran.stderr)
    assert "+    if not (size > limit):" in made["inverted_condition"] or "while not" in made["inverted_condition"]


def test_what_is_no_diff_makes_nothing() -> None:
    assert every("") == [] and every("hello\n") == []
