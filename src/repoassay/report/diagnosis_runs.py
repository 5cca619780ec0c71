"""Why attempts of a run failed and whether they cheated: rules over what the run folder keeps, and people's labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repoassay.agents import StartFailure, start_failure
from repoassay.diagnosis import (
    AssignedClass,
    AttemptCase,
    Diagnosis,
    DiagnosisRule,
    Effective,
    ErrorClass,
    IntegrityFinding,
    IntegrityState,
    Label,
    Subclass,
    diagnose,
    effective,
    fact,
    label_book,
)
from repoassay.records import ALL, TABLE, LinesRead, RunFolder, read_attempt
from repoassay.report.agent_log import log_tail
from repoassay.report.attempt_timeline import read_trajectory
from repoassay.report.case import TaskFacts, case_of, read_attempt_file
from repoassay.report.results import read_rows
from repoassay.stats import Proportion
from repoassay.types import Attribution, Ended, Exit, Outcome, PlannedTask, Trajectory

__all__ = [
    "AttemptRef",
    "ClassShares",
    "DiagnosedAttempt",
    "Diagnoser",
    "people_said",
    "shares_of",
    "subject_of",
    "subjects_of",
]

_UNSAID = Trajectory(agent="")
"""Stands for the steps of an attempt that left none that could be read."""


@dataclass(frozen=True, slots=True)
class AttemptRef:
    """A finished attempt to be looked at; `planned` is None where the plan does not hold its task."""

    attempt: str
    task: str
    agent: str
    number: int
    outcome: Outcome
    folder: Path
    planned: PlannedTask | None

    @property
    def failed(self) -> bool:
        """Whether it did not pass, by the agent's doing."""
        return self.outcome is not Outcome.PASSED and self.outcome.whose is Attribution.AGENT


@dataclass(frozen=True, slots=True)
class DiagnosedAttempt:
    """One attempt with its diagnosis and integrity findings.

    `steps` counts those of its trajectory, None where none could be read and verdict and exit alone were to go by.
    `holds` is what counts: the latest label by a person, else what the rules say. `ending` is how its agent ended.
    """

    subject: AttemptRef
    steps: int | None
    diagnosis: Diagnosis
    labels: tuple[Label, ...]
    holds: Effective
    ending: Exit | None = None

    @property
    def start_failure(self) -> StartFailure | None:
        """Why its agent could not start, where that is why it counts as a fault of ours."""
        if self.ending is None or self.subject.outcome is not Outcome.INFRA_FAULT:
            return None
        tail = log_tail(self.subject.folder)
        return start_failure(self.ending, tail.text if tail is not None else "")

    @property
    def findings(self) -> tuple[IntegrityFinding, ...]:
        """The integrity leads, those that were used first, then by confidence."""
        found = self.diagnosis.findings
        return tuple(sorted(found, key=lambda one: (one.state is not IntegrityState.USED, -one.confidence)))

    @property
    def used(self) -> bool:
        """Whether a shortcut was used, as far as the checks see."""
        return any(one.state is IntegrityState.USED for one in self.diagnosis.findings)

    @property
    def counted(self) -> bool:
        """Whether it enters the shares: it failed, and its steps could be read or a person labelled it."""
        return self.subject.failed and (self.steps is not None or self.holds.source == "person")

    @property
    def every(self) -> frozenset[str]:
        """All classes seen, as codes; `unclear` or `none` where there is none."""
        label = self.holds.label
        if label is not None:
            return frozenset({self.holds.value, *(one.value for one in label.also)})
        return frozenset(one.code.value for one in self.diagnosis.classes) or frozenset({self.holds.value})


@dataclass(frozen=True, slots=True)
class ClassShares:
    """Shares of each class, by code; `unclear` is among them, `none` where a person said so.

    Of `failed` attempts `counted` enter; the others left no steps that could be read. `labelled` are as people say.
    """

    primary: Mapping[str, Proportion]
    every: Mapping[str, Proportion]
    failed: int
    counted: int
    labelled: int


class Diagnoser:
    """Looks at attempts of one run. Reads tasks and labels once.

    Args:
        run: The run.
        rules: Rules of output lines instead of the shipped ones, as `repoassay.diagnosis.load_rules` gives them.
    """

    def __init__(self, run: RunFolder, rules: tuple[DiagnosisRule, ...] | None = None) -> None:
        self.run = run
        self._rules = rules
        self._facts = TaskFacts(run.plan.suite_folder)
        self.labels: LinesRead[Label] = label_book(run.path).read()
        self._by_attempt: dict[str, list[Label]] = {}
        for label in self.labels.items:
            self._by_attempt.setdefault(label.attempt, []).append(label)

    def look(self, subject: AttemptRef) -> DiagnosedAttempt:
        """Diagnose one attempt."""
        trajectory, case, ending = self.material(subject)
        found = diagnose(trajectory or _UNSAID, None, case, rules=self._rules)
        found = self._with_tests(_by_exit(found, subject, ending), subject)
        labels = tuple(self._by_attempt.get(subject.attempt, ()))
        steps = len(trajectory.steps) if trajectory is not None else None
        return DiagnosedAttempt(subject, steps, found, labels, effective(subject.attempt, labels, found), ending)

    def _with_tests(self, found: Diagnosis, subject: AttemptRef) -> Diagnosis:
        """Where no rule applies, how many tests say that it failed: no class follows from that."""
        if not found.unclear or subject.outcome is not Outcome.FAILED:
            return found
        tests = read_attempt(self.run.path, subject.attempt, ALL)[1].tests
        bad = sum(test.outcome not in ("passed", "skipped") for test in tests)
        reason = f"{found.reason}; {bad} of {len(tests)} tests did not pass" if bad else found.reason
        return found.model_copy(update={"reason": reason})

    def material(self, subject: AttemptRef) -> tuple[Trajectory | None, AttemptCase, Exit | None]:
        """What there is to go by: the steps where they can be read, the facts, and how the command ended."""
        attempt = read_attempt_file(subject.folder)
        submission = attempt.submission if attempt is not None else None
        case = case_of(subject.planned, subject.folder, subject.outcome, self._facts, submission)
        if (entry := self.run.plan.agents.get(subject.agent)) is not None and (
            entry.kind or subject.agent
        ) == "reference":
            case = replace(case, reference="")  # it is the reference
        trajectory = read_trajectory(subject.folder)
        if trajectory is not None and not trajectory.steps:
            trajectory = None  # what was kept says only why nothing could be read
        return trajectory, case, submission.exit if submission is not None else None

    def add(self, label: Label) -> None:
        """Keep a label, and know of it from now on."""
        label_book(self.run.path).append(label)
        self._by_attempt.setdefault(label.attempt, []).append(label)

    def labels_of(self, attempt: str) -> tuple[Label, ...]:
        """The labels of an attempt in the order they were added."""
        return tuple(self._by_attempt.get(attempt, ()))


def subjects_of(run: RunFolder) -> list[AttemptRef]:
    """The attempts of a run that count, by agent, task and number.

    Raises:
        BadInput: When a finished attempt cannot be read back.
    """
    return [
        AttemptRef(row.attempt, row.task, row.agent, row.number, row.outcome, row.folder, row.planned)
        for row in read_rows([run.path])
        if row.folder is not None and row.outcome is not None
    ]


def subject_of(run: RunFolder, attempt: str) -> AttemptRef:
    """One finished attempt of a run, be it replaced by another.

    Raises:
        BadInput: When it cannot be read back.
    """
    found, verdict = read_attempt(run.path, attempt, TABLE)
    planned = next((task for task in run.plan.tasks if task.id == found.task), None)
    return AttemptRef(
        found.id, found.task, found.agent, found.number, verdict.outcome, run.attempt_folder(attempt), planned
    )


def people_said(run: RunFolder) -> dict[str, str]:
    """Attempt id -> what the latest label by a person says: `E1` to `E5`, `unclear` or `none`.

    Raises:
        BadInput: When the labels cannot be read.
    """
    last: dict[str, Label] = {}
    for label in label_book(run.path).read().items:
        if label.by == "person" and (label.attempt not in last or label.at >= last[label.attempt].at):
            last[label.attempt] = label
    return {attempt: label.value for attempt, label in last.items()}


def shares_of(looked: Sequence[DiagnosedAttempt]) -> ClassShares:
    """Shares of the classes among failed attempts."""
    failed = [one for one in looked if one.subject.failed]
    counted = [one for one in failed if one.counted]
    codes = [*(code.value for code in ErrorClass), "unclear"]
    if any("none" in one.every for one in counted):
        codes.append("none")
    n = len(counted)
    return ClassShares(
        {code: Proportion(sum(one.holds.value == code for one in counted), n) for code in codes},
        {code: Proportion(sum(code in one.every for one in counted), n) for code in codes},
        len(failed),
        n,
        sum(one.holds.source == "person" for one in counted),
    )


def _by_exit(found: Diagnosis, subject: AttemptRef, ending: Exit | None) -> Diagnosis:
    """Where no rule applies, what the way it ended tells: memory, time, a signal. It is weak: E1 may lie behind it."""
    cause = next(_endings(subject, ending), None) if found.unclear else None
    if cause is None:
        return found
    part, confidence, why = cause
    assignment = AssignedClass(
        code=ErrorClass.E4, subclass=part, confidence=confidence, rule="exit-alone", why=why, evidence=(fact(why),)
    )
    return found.model_copy(
        update={"primary": ErrorClass.E4, "classes": (assignment,), "unclear": False, "reason": why}
    )


def _endings(subject: AttemptRef, ending: Exit | None) -> Iterator[tuple[Subclass, float, str]]:
    ended = ending.ended if ending is not None else None
    if ended is Ended.OUT_OF_MEMORY:
        yield Subclass.TIMEOUT_MEMORY, 0.5, "its memory ran out, and nothing else tells why"
    if ended is Ended.TIMED_OUT or subject.outcome is Outcome.TIMED_OUT:
        yield Subclass.TIMEOUT_MEMORY, 0.4, "its time ran out, and nothing else tells why"
    if ended is Ended.SIGNALLED:
        yield Subclass.INTERRUPTION, 0.4, "a signal ended it, and nothing else tells why"
