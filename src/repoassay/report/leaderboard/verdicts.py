"""Verdicts against themselves: outcome, Process, Result and the evidence must tell one story."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from repoassay.report.leaderboard.attempt_files import AttemptFiles
from repoassay.report.leaderboard.entry import EntryRefusal
from repoassay.report.leaderboard.manifest import digest
from repoassay.types import CriterionResult, Outcome, Plan

__all__ = ["check_files", "check_verdict"]

_STATES: dict[Outcome, tuple[tuple[bool | None, ...], tuple[bool | None, ...]]] = {
    Outcome.PASSED: ((True,), (True,)),
    Outcome.FAILED: ((True,), (False,)),
    Outcome.NO_OUTPUT: ((False,), (False,)),
    Outcome.PATCH_FAILED: ((False,), (False,)),
    Outcome.TIMED_OUT: ((True, False, None), (False,)),
    Outcome.BUDGET: ((True, False), (True, False)),
    Outcome.TAMPERING: ((False,), (False,)),
    Outcome.NOT_GRADABLE: ((None,), (None,)),
    Outcome.INFRA_FAULT: ((None,), (None,)),
}
_BOUND = re.compile(r"(>=|<=|=|>|<) (\S+)")


def check_verdict(plan: Plan, one: AttemptFiles) -> Iterator[EntryRefusal]:
    """Refuse a verdict whose parts contradict each other, the attempt, or the plan."""
    verdict = one.verdict
    file = f"{one.place}/verdict.json"
    if verdict.task != one.attempt.task:
        yield EntryRefusal(file, f"it is of task {verdict.task!r}, not of {one.attempt.task!r}.")
    if verdict.reading is not plan.reading and verdict.outcome.whose is Outcome.PASSED.whose and verdict.criteria:
        yield EntryRefusal(file, f"its reading is {verdict.reading}, and the plan's is {plan.reading}.")
    process, result = _STATES[verdict.outcome]
    if verdict.process not in process:
        yield EntryRefusal(file, f"process is {verdict.process} where the outcome is {verdict.outcome}.")
    if verdict.result not in result or (verdict.result and not verdict.process):
        yield EntryRefusal(
            file, f"result is {verdict.result} where the outcome is {verdict.outcome} and process {verdict.process}."
        )
    yield from _evidence(one, file)


def _evidence(one: AttemptFiles, file: str) -> Iterator[EntryRefusal]:
    verdict = one.verdict
    for item in verdict.criteria:
        if item.passed and not _holds(item):
            yield EntryRefusal(
                file, f"{item.metric} of {item.of} is {item.value}, which does not meet {item.threshold}."
            )
    if verdict.process and any(item.stage == "process" and item.passed is False for item in verdict.criteria):
        yield EntryRefusal(file, "process is True and a criterion of the process stage failed.")
    if verdict.outcome is Outcome.INFRA_FAULT and (verdict.criteria or verdict.tests):
        yield EntryRefusal(file, "the outcome is a fault of ours, and there is evidence of grading.")
    if not verdict.result:
        return
    if not verdict.criteria and not verdict.tests:
        yield EntryRefusal(file, "result is True and there is neither a criterion nor a test as evidence.")
    for item in verdict.criteria:
        if item.passed is not True:
            yield EntryRefusal(file, f"result is True and {item.metric} of {item.of} did not pass.")
    for test in verdict.tests:
        if test.outcome != "passed":
            yield EntryRefusal(file, f"result is True and the test {test.id} is {test.outcome}.")


def _holds(item: CriterionResult) -> bool:
    """Whether the value meets the threshold as written, `>= 0.7 and <= 1`."""
    if item.value is None:
        return False
    for part in item.threshold.split(" and "):
        found = _BOUND.fullmatch(part)
        try:
            bound = float(found[2]) if found else None
        except ValueError:
            bound = None
        if found is None or bound is None:
            return False
        # Thresholds are written with six digits.
        slack = 1e-5 * max(1.0, abs(bound))
        above, below = item.value >= bound - slack, item.value <= bound + slack
        if not {">=": above, ">": above, "<=": below, "<": below, "=": above and below}[found[1]]:
            return False
    return True


def check_files(folder: Path, one: AttemptFiles) -> Iterator[EntryRefusal]:
    """Refuse files of the agent that are not those the attempt names, where they were handed in."""
    root = folder / one.place / "submission"
    if not root.is_dir():
        return
    named = {file.path: file for file in one.attempt.submission.files}
    there = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    for name in sorted({*named, *there}):
        place = f"{one.place}/submission/{name}"
        if name not in there:
            yield EntryRefusal(place, "the attempt names it, and it is missing.")
        elif name not in named:
            yield EntryRefusal(place, "the attempt does not name it.")
        elif digest(there[name]) != named[name].sha256:
            yield EntryRefusal(place, "it is not the file that the attempt names: another sha256.")
