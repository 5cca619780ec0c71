"""How much submitters learn of verdicts, and what that costs: answers narrow down what a forger would have to guess."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Mapping

from repoassay.grading import ENOUGH
from repoassay.types import Feedback, Outcome, Verdict

__all__ = ["LEVELS", "TESTED", "FeedbackLedger", "UnlimitedLedger", "bits_told", "ruled_by"]

LEVELS: tuple[Feedback, ...] = ("verdict", "counts", "tests", "full")
TESTED = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.TAMPERING})
"""Outcomes that tell something of hidden tests."""


def bits_told(level: Feedback, answers: int, tests: int) -> float:
    """Bits that so many answers at a level have told of a task with so many tests."""
    match level:
        case "verdict":
            return math.log2(1 + answers)
        case "counts":
            return answers * math.log2(1 + tests)
        case "tests":
            return float(answers * tests)
    return math.inf


class FeedbackLedger:
    """Cuts verdicts to what a submitter may know, and charges what submitters learned against the bits of later passes.

    Of n answers, `verdict` tells which of n guesses was right, log2(1 + n) bits in all; `counts` log2(1 + tests) and
    `tests` as many bits as there are tests with every answer; with `full` nothing is attested any more.

    Args:
        level: How much is told.
    """

    def __init__(self, level: Feedback = "verdict") -> None:
        self.level: Feedback = level
        self._answers: Counter[str] = Counter()
        self._lock = threading.Lock()

    def remember(self, answers: Mapping[str, int]) -> None:
        """Know of at least so many answers by the task's digest, whoever gave them; our own may be among them."""
        with self._lock:
            for digest, count in answers.items():
                self._answers[digest] = max(self._answers[digest], count)

    def tell(self, verdict: Verdict) -> Verdict:
        """What the submitter gets to see of a verdict."""
        if verdict.outcome not in TESTED:
            return _cut(verdict, self.level) if verdict.tests else verdict
        with self._lock:
            before = self._answers[verdict.task_digest]
            self._answers[verdict.task_digest] += 1
        return _cut(_charged(verdict, bits_told(self.level, before, len(verdict.tests)), self.level), self.level)


class UnlimitedLedger(FeedbackLedger):
    """Tells everything and charges nothing: for owners of tasks, and for those who keep an account of their own."""

    def tell(self, verdict: Verdict) -> Verdict:
        """The verdict as it is."""
        return verdict


def ruled_by(verdict: Verdict, required: float) -> Verdict:
    """A verdict under a threshold: a pass that is not attested with so many bits cannot be told from a forged one."""
    if verdict.outcome is not Outcome.PASSED or not required or verdict.assurance is None:
        return verdict
    if verdict.assurance.grade == "attested" and verdict.assurance.bits >= required:
        return verdict
    found = f"{verdict.assurance.grade}, {verdict.assurance.bits:g} bits"
    why = f"It passed, but not attested with {required:g} bits as required ({found}). Strengthen the task's tests."
    return verdict.model_copy(
        update={"outcome": Outcome.NOT_GRADABLE, "process": None, "result": None, "comments": (why, *verdict.comments)}
    )


def _charged(verdict: Verdict, bits_before: float, level: Feedback) -> Verdict:
    found = verdict.assurance
    if found is None:
        return verdict
    bits = max(0.0, round(found.bits - bits_before, 1)) if math.isfinite(bits_before) else 0.0
    changes: dict[str, object] = {"bits": bits, "feedback": level}
    if found.grade == "attested" and bits < ENOUGH:
        why = f"what {level} feedback has told of this task leaves {bits:g} of {ENOUGH:g} bits"
        changes |= {"grade": "plain", "open": (*found.open, why)}
    return verdict.model_copy(update={"assurance": found.model_copy(update=changes)})


def _cut(verdict: Verdict, level: Feedback) -> Verdict:
    if level == "full":
        return verdict
    if verdict.basis == "base_trace":  # its first comment says which files tests do not look at
        verdict = verdict.model_copy(update={"comments": verdict.comments[1:]})
    verdict = verdict.model_copy(update={"basis": "untold"})
    if level == "tests":
        return verdict.model_copy(
            update={"tests": tuple(test.model_copy(update={"message": ""}) for test in verdict.tests)}
        )
    # Of a task of several steps, the id of a test is behind the step's name, and so is what is said of it.
    ids = [(test.id, *(test.id.removeprefix(f"{step.name}/") for step in verdict.steps)) for test in verdict.tests]
    named = (f"{id}: {test.outcome}." for every, test in zip(ids, verdict.tests, strict=True) for id in every)
    left_out = (*named, "more tests did not pass.")
    comments = [each for each in verdict.comments if not each.endswith(left_out)]
    if verdict.outcome is Outcome.TAMPERING:
        comments = ["The submission interfered with its tests."]  # how it was noticed would help to hide it
    if verdict.outcome is Outcome.FAILED:
        comments.insert(0, "Not every test passed.")
    if level == "counts":
        passed = sum(test.outcome == "passed" for test in verdict.tests)
        comments.insert(0, f"{passed} of {len(verdict.tests)} tests passed.")
    assurance = verdict.assurance and verdict.assurance.model_copy(
        update={"open": tuple(dict.fromkeys(_without_test(why, verdict) for why in verdict.assurance.open))}
    )
    return verdict.model_copy(update={"tests": (), "comments": tuple(comments), "assurance": assurance})


def _without_test(why: str, verdict: Verdict) -> str:
    """Why something is not attested, without the test that it is said of: a forger would start with that one."""
    for test in verdict.tests:
        if why.startswith(f"{test.id}: "):
            return f"a test: {why.removeprefix(test.id)[2:]}"
    return why
