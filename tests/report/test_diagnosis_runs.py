"""Which attempts are looked at, what goes by verdict and exit alone, and how shares are counted."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from repoassay.diagnosis import label_book, label_from_text
from repoassay.records import RunFolder
from repoassay.report.diagnosis_lines import lines, short_lines
from repoassay.report.diagnosis_runs import Diagnoser, people_said, shares_of, subject_of, subjects_of
from repoassay.types import Ended, Outcome, TestResult, Verdict
from report.conftest import MakeRun, Put

NOON = datetime(2026, 2, 1, 12, 0, tzinfo=UTC)


def ended(run: RunFolder, attempt: str, how: Ended) -> None:
    """Change how an attempt's command ended."""
    path = run.attempt_folder(attempt) / "attempt.json"
    told = json.loads(path.read_text())
    told["submission"]["exit"]["ended"] = how.value
    path.write_text(json.dumps(told))


def test_those_that_count_are_looked_at_and_one_by_its_id(varied: RunFolder) -> None:
    found = subjects_of(varied)
    assert len(found) == len(Outcome) * 2 + 1  # of the retry chain only the last
    last = next(one for one in found if one.task == "task-10")
    assert last.outcome is Outcome.FAILED
    first = next(one.attempt.id for one in varied.finished() if one.attempt.task == "task-10")
    assert subject_of(varied, first).outcome is Outcome.INFRA_FAULT
    looked = [Diagnoser(varied).look(one) for one in found]
    assert {one.holds.value for one in looked if not one.subject.failed} == {"none"}
    assert all(one.steps is None for one in looked)


def test_a_change_that_fails_its_tests_says_how_many_and_gets_no_class(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=2)
    tests = tuple(
        TestResult(id=name, outcome=how) for name, how in (("a", "failed"), ("b", "missing"), ("c", "passed"))
    )
    verdict = Verdict(
        task="task-02", task_digest="", outcome=Outcome.FAILED, process=True, result=False, tests=tests, grader="",
        graded_at=NOON,
    )  # fmt: skip
    attempt = put(run, "task-02", verdict=verdict)
    looked = Diagnoser(run).look(subject_of(run, attempt.id))
    assert looked.holds.value == "unclear"
    assert looked.diagnosis.reason.endswith("; 2 of 3 tests did not pass")


@pytest.mark.parametrize(
    ("outcome", "how", "value", "part"),
    [
        (Outcome.FAILED, Ended.OUT_OF_MEMORY, "E4", "timeout_memory"),
        (Outcome.TIMED_OUT, Ended.TIMED_OUT, "E4", "timeout_memory"),
        (Outcome.NO_OUTPUT, Ended.SIGNALLED, "E4", "interruption"),
        (Outcome.TAMPERING, Ended.EXITED, "E5", "deception"),
        (Outcome.PATCH_FAILED, Ended.EXITED, "E5", "naming_format"),
        (Outcome.FAILED, Ended.EXITED, "unclear", None),
        (Outcome.PASSED, Ended.SIGNALLED, "none", None),
        (Outcome.INFRA_FAULT, Ended.OUT_OF_MEMORY, "none", None),
    ],
)
def test_without_steps_verdict_and_exit_tell_what_they_can(
    make_run: MakeRun, put: Put, outcome: Outcome, how: Ended, value: str, part: str | None
) -> None:
    run = make_run(tasks=1)
    attempt = put(run, "task-01", outcome)
    ended(run, attempt.id, how)
    looked = Diagnoser(run).look(subject_of(run, attempt.id))
    assert looked.holds.value == value
    assert (looked.diagnosis.classes[0].subclass if looked.diagnosis.classes else None) == part
    assert not looked.counted
    assert looked.diagnosis.confidence is None or looked.diagnosis.confidence <= 0.9
    text = list(lines(looked))
    assert looked.subject.failed == ("no steps" in "\n".join(text))
    assert len(list(short_lines(looked))) == looked.subject.failed


def test_a_label_brings_an_attempt_without_steps_into_the_shares(make_run: MakeRun, put: Put) -> None:
    run = make_run(tasks=3)
    first, second = put(run, "task-01", Outcome.FAILED), put(run, "task-02", Outcome.FAILED)
    put(run, "task-03", Outcome.PASSED)
    book = label_book(run.path)
    book.append(label_from_text("E3", attempt=first.id, author="Ada", at=NOON))
    book.append(label_from_text("E2", attempt=first.id, author="Ada", at=NOON - timedelta(days=1)))  # given before
    book.append(label_from_text("E1", attempt=second.id, author="m/x", at=NOON).model_copy(update={"by": "model"}))
    assert people_said(run) == {first.id: "E3"}
    examiner = Diagnoser(run)
    shares = shares_of([examiner.look(one) for one in subjects_of(run)])
    assert (shares.failed, shares.counted, shares.labelled) == (2, 1, 1)
    assert shares.primary["E3"].successes == shares.every["E3"].successes == 1
    assert "none" not in shares.primary
    assert sum(one.successes for one in shares.primary.values()) == 1


def test_without_anything_there_are_no_shares(make_run: MakeRun) -> None:
    assert subjects_of(make_run(tasks=1)) == []
    shares = shares_of([])
    assert shares.counted == 0
    assert shares.primary["E1"].value is None
