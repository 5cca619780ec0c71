"""Runs of a state task's tests for a proof: what they say of honest work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repoassay.engine import GradingContext
from repoassay.errors import InfraFault
from repoassay.grading import HiddenTestRun, run_hidden
from repoassay.tasks import TaskFolder
from repoassay.text import printable
from repoassay.types import FileEdit, TestResult
from repoassay.workspace import PreparedTask

__all__ = ["failure_of", "honest_tests", "test_results"]


def test_results(
    folder: TaskFolder, layout: PreparedTask, edits: Mapping[str, FileEdit | None], bench: GradingContext
) -> list[TestResult]:
    """What the tests say of honest work.

    Raises:
        InfraFault: They would call it tampering, and so would accuse everybody.
    """
    return honest_tests(run_hidden(folder, layout.base, edits, bench.sandbox, layout.environment))


def honest_tests(ran: HiddenTestRun) -> list[TestResult]:
    """What a run of tests told of honest work.

    Raises:
        InfraFault: See `test_results`.
    """
    if ran.report.signs:
        raise InfraFault(f"The task's own tests look like tampering: {ran.report.signs[0]}.")
    return ran.report.tests


def failure_of(bad: Sequence[TestResult], code: int | None, printed: str) -> str:
    """What a solution that does not pass is told of: the first test, and what it printed last."""
    first = bad[0]
    exit_code = f" (exit code {code})" if code is not None else ""
    sentence = f"Its solution{exit_code} does not pass {first.id} and {len(bad) - 1} more: {first.message[-200:]}"
    return printable(f"{sentence} It said: {printed}" if printed.strip() else sentence, 700)
