from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from repoassay.review.sampling import Candidate, draw, siblings

RUNS = [Candidate(f"t{task}-{number}", f"t{task}", "agent") for task in range(30) for number in range(5)]


def test_one_run_a_task_whatever_the_order() -> None:
    found = draw(RUNS, 3)
    assert [run.task for run in found.chosen] == sorted(f"t{n}" for n in range(30)) and not found.excluded
    assert draw(reversed(RUNS), 3) == found != draw(RUNS, 4)
    assert len(draw(RUNS, 3, each=2).chosen) == 60 and set(found.chosen) <= set(draw(RUNS, 3, each=2).chosen)


def test_every_run_is_as_likely() -> None:
    counts = Counter(draw(RUNS[:5], seed).chosen[0].id for seed in range(1000))
    assert len(counts) == 5 and min(counts.values()) > 150


def test_flagged_runs_are_excluded_with_their_reason_and_nothing_else_moves() -> None:
    before = draw(RUNS, 3)
    victim = before.chosen[7]
    flagged = [replace(run, flagged="read the answer") if run == victim else run for run in RUNS]
    after = draw(flagged, 3)
    assert [(run.id, why) for run, why in after.excluded] == [(victim.id, "read the answer")]
    moved = [(old, new) for old, new in zip(before.chosen, after.chosen, strict=True) if old != new]
    assert len(moved) == 1 and moved[0][1].task == victim.task


def test_a_task_may_be_left_without_a_run() -> None:
    found = draw([Candidate("a", "t1", "x", flagged="yes"), Candidate("b", "t1", "y")], 0)
    assert found.empty == (("x", "t1"),) and [run.id for run in found.chosen] == ["b"]


def test_siblings_of_a_flagged_run_are_read_again() -> None:
    runs = [Candidate("a", "t1", "x"), Candidate("b", "t1", "x"), Candidate("c", "t1", "y"), Candidate("d", "t2", "x")]
    found = siblings(runs, {"b": "fetched the change", "gone": "?"})
    assert [run.id for run, _ in found] == ["a", "c"] and "fetched the change" in found[0][1]
    assert siblings(runs, {}) == ()


def test_impossible_samples() -> None:
    with pytest.raises(ValueError, match="twice"):
        draw([*RUNS, RUNS[0]], 1)
    with pytest.raises(ValueError, match="at least one"):
        draw(RUNS, 1, each=0)
    assert draw([], 1).chosen == ()
