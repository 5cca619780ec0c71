"""What the clock of a proof ends is no word on a step's solution."""

from __future__ import annotations

from pathlib import Path

import pytest

from repoassay.engine import GradingContext
from repoassay.interchange import step_proof
from repoassay.interchange.proof_clock import ProofClock
from repoassay.interchange.staged_files import TestsRun, run_tests_of_step
from repoassay.interchange.state_proof import prove_state_task
from state_tasks import bench
from step_tasks import write_steps

__all__ = ["bench"]


@pytest.mark.parametrize("over", [True, False], ids=["over", "in time"])
@pytest.mark.long
def test_tests_that_the_clock_has_ended_prove_nothing(
    bench: GradingContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, over: bool
) -> None:
    clock, runs = ProofClock(600), 0

    def ended(*given: object) -> TestsRun:
        nonlocal runs
        tests, left = run_tests_of_step(*given)  # type: ignore[arg-type]
        runs += 1
        if runs == 1:  # on the untouched files
            return tests, left
        clock.seconds = 0.0 if over else clock.seconds
        return [test.model_copy(update={"outcome": "missing"}) for test in tests], left

    monkeypatch.setattr(step_proof, "run_tests_of_step", ended)
    proof = prove_state_task(write_steps(tmp_path), bench, clock)
    assert proof.state == ("over time" if over else "unproven"), proof.why
