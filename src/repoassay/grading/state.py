"""What a verdict on a state task says besides its tests: the share that passed, and whether anybody may be blamed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repoassay.tasks import TaskFolder
from repoassay.types import CriterionResult, Outcome, TestResult

__all__ = ["blame_withheld", "outside_places", "reward_of"]


def reward_of(
    folder: TaskFolder, tests: Sequence[TestResult], reward: float | None = None
) -> tuple[CriterionResult, ...]:
    """The fractional reward of a state task, beside its verdict.

    It is what a script of tests wrote, else the share of the tests that passed, 0 to 1.
    """
    if folder.task.state is None or not tests:
        return ()
    share = sum(test.outcome == "passed" for test in tests) / len(tests) if reward is None else reward
    return (
        CriterionResult(
            stage="result", metric="reward", of=".", value=round(share, 6), threshold=">= 1", passed=share >= 1
        ),
    )


def outside_places(folder: TaskFolder, paths: Iterable[str]) -> list[str]:
    """Changed paths that lie in none of a state task's places: tests, programs or environment of the machine."""
    if folder.task.state is None:
        return []
    places = [place.lstrip("/") for place in folder.task.state.places]
    return [name for name in paths if not any(name.startswith(f"{place}/") for place in places)]


def blame_withheld(folder: TaskFolder, outcome: Outcome) -> str:
    """Why what a state task's tests say is nobody's failure; empty where it may be the submission's."""
    if folder.task.state is None or outcome not in (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.TAMPERING):
        return ""
    if (folder.solution / "changes.diff").is_file():  # seen to pass here, or there is no verdict at all
        return ""
    return (
        f"The task {folder.task.id} is unproven, so that nobody is judged by tests that fail: no solution of it was"
        " seen to pass. Import it with --prove and a solution/solve.sh."
    )
