"""What a submitter is told, what that costs, and what a pass must be worth to count."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from repoassay.engine.feedback import LEVELS, FeedbackLedger, ruled_by
from repoassay.types import Assurance, Feedback, Outcome, StepVerdict, TestResult, Verdict

TESTS = (
    TestResult(id="t.py::test_a", outcome="passed", grade="attested"),
    TestResult(id="t.py::test_b", outcome="failed", message="assert 3 == 5171"),
)


def verdict(outcome: Outcome, bits: float = 60.0) -> Verdict:
    passed = outcome is Outcome.PASSED
    return Verdict(
        task="task", task_digest="d", outcome=outcome, process=True, result=passed,
        tests=TESTS[:1] if passed else TESTS, comments=() if passed else ("t.py::test_b: failed.", "A note."),
        grader="g", graded_at=datetime.now(UTC), assurance=Assurance(grade="attested", bits=bits) if passed else None,
    )  # fmt: skip


@pytest.mark.parametrize("level", LEVELS)
def test_only_full_tells_what_was_observed(level: Feedback) -> None:
    told = FeedbackLedger(level).tell(verdict(Outcome.FAILED)).model_dump_json()
    assert ("5171" in told) is (level == "full")
    assert ("test_b" in told) is (level in ("tests", "full"))
    assert ("1 of 2 tests passed" in told) is (level == "counts")
    assert "A note." in told


@pytest.mark.parametrize("level", LEVELS)
def test_which_files_tests_look_at_is_not_told(level: Feedback) -> None:
    blind = verdict(Outcome.FAILED)
    blind = blind.model_copy(update={"basis": "base_trace", "comments": ("They never look at x.txt.", *blind.comments)})
    told = FeedbackLedger(level).tell(blind)
    assert ("x.txt" in told.model_dump_json()) is (told.basis == "base_trace") is (level == "full")
    run = FeedbackLedger(level).tell(verdict(Outcome.FAILED))
    assert level == "full" or (told.comments, told.basis) == (run.comments, run.basis)


def test_how_tampering_was_noticed_is_not_told() -> None:
    sign = verdict(Outcome.TAMPERING).model_copy(update={"comments": ("line 4 of it was never reached.",)})
    assert FeedbackLedger("verdict").tell(sign).comments == ("The submission interfered with its tests.",)


@pytest.mark.parametrize(("level", "bits"), [("verdict", 60 - 10), ("counts", 0), ("tests", 0), ("full", 0)])
def test_answers_are_charged(level: Feedback, bits: float) -> None:
    ledger = FeedbackLedger(level)
    for _ in range(1023):
        ledger.tell(verdict(Outcome.FAILED))
    found = ledger.tell(verdict(Outcome.PASSED)).assurance
    assert found is not None
    assert found.bits == bits
    assert found.grade == ("attested" if bits >= 40 else "plain")
    assert found.feedback == level


def test_earlier_answers_count() -> None:
    ledger = FeedbackLedger("verdict")
    ledger.remember({"d": 2**21})
    found = ledger.tell(verdict(Outcome.PASSED)).assurance
    assert found is not None
    assert (found.grade, found.bits) == ("plain", 39.0)
    assert "verdict feedback" in found.open[0]


def test_patches_that_were_not_tested_tell_nothing() -> None:
    ledger = FeedbackLedger("tests")
    for _ in range(100):
        ledger.tell(verdict(Outcome.PATCH_FAILED))
    found = ledger.tell(verdict(Outcome.PASSED)).assurance
    assert found is not None
    assert found.bits == 60


def test_a_threshold_makes_a_weak_pass_nobodys_fault() -> None:
    weak, strong = verdict(Outcome.PASSED, 45), verdict(Outcome.PASSED, 60)
    assert ruled_by(strong, 50) is strong
    ruled = ruled_by(weak, 50)
    assert (ruled.outcome, ruled.result) == (Outcome.NOT_GRADABLE, None)
    assert ruled_by(weak, 0) is weak
    failed = verdict(Outcome.FAILED)
    assert ruled_by(failed, 50) is failed


@pytest.mark.parametrize("level", LEVELS)
def test_which_test_is_not_attested_is_told_with_the_tests_names_alone(level: Feedback) -> None:
    """A forger would begin with it."""
    given = verdict(Outcome.PASSED)
    name = given.tests[0].id
    open_ = (f"{name}: it has no assertion that sends a value", "a reason of the task's")
    assert given.assurance is not None
    given = given.model_copy(update={"assurance": given.assurance.model_copy(update={"open": open_})})
    told = FeedbackLedger(level).tell(given)
    assert told.assurance is not None and any("sends a value" in why for why in told.assurance.open)
    assert any(name in why for why in told.assurance.open) == (level in ("tests", "full"))
    assert "a reason of the task's" in told.assurance.open


@pytest.mark.parametrize("level", ["verdict", "counts"])
@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.INFRA_FAULT, Outcome.NOT_GRADABLE])
def test_tests_of_steps_and_of_what_blames_nobody_are_not_named_either(level: Feedback, outcome: Outcome) -> None:
    steps = (StepVerdict(name="sum", outcome=Outcome.FAILED, reward=0.5),)
    tests = tuple(test.model_copy(update={"id": f"sum/{test.id}"}) for test in TESTS)
    said = ("Step sum: t.py::test_b: failed.", "Step sum: 2 more tests did not pass.", "Step sum: A note.")
    found = verdict(outcome).model_copy(update={"steps": steps, "tests": tests, "comments": said})
    for each in (found, verdict(outcome)):
        told = FeedbackLedger(level).tell(each).model_dump_json()
        assert "test_b" not in told and "more tests" not in told and "A note." in told
