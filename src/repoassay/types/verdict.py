"""A verdict: the outcome of grading one submission, with its evidence."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from repoassay.types.base import Record
from repoassay.types.grading import Reading
from repoassay.types.spending import Spending

__all__ = [
    "Assurance",
    "Attribution",
    "Basis",
    "CriterionResult",
    "Feedback",
    "Grade",
    "GradingIsolation",
    "IsolationGrade",
    "Outcome",
    "StepVerdict",
    "TestResult",
    "Verdict",
]


class Attribution(StrEnum):
    """Who caused an outcome."""

    AGENT = "agent"
    SUITE = "suite"
    OURS = "ours"


class Outcome(StrEnum):
    """The closed set of outcomes, for every kind of task."""

    PASSED = "passed"
    FAILED = "failed"
    NO_OUTPUT = "no_output"
    PATCH_FAILED = "patch_failed"
    TIMED_OUT = "timed_out"
    BUDGET = "budget"
    TAMPERING = "tampering"
    NOT_GRADABLE = "not_gradable"
    INFRA_FAULT = "infra_fault"

    @property
    def whose(self) -> Attribution:
        """Whose doing the outcome is: only the agent's count against the agent."""
        if self is Outcome.NOT_GRADABLE:
            return Attribution.SUITE
        return Attribution.OURS if self is Outcome.INFRA_FAULT else Attribution.AGENT


class CriterionResult(Record):
    """One criterion as measured. `value` is None where it could not be measured; `passed` None where unknown."""

    stage: Literal["process", "result"]
    metric: str
    of: str
    against: str | None = None
    value: float | None = None
    threshold: str
    passed: bool | None
    unit: str = ""
    comment: str = ""


Basis = Literal["run", "base_trace", "untold"]
"""How a verdict was reached: by a run of the submission, or by a trace of the base, of which the submission changes
nothing that its tests look at. `untold` to submitters who may not learn which files tests look at."""
Feedback = Literal["verdict", "counts", "tests", "full"]
"""How much of a verdict a submitter learns: the outcome; how many tests passed; which; with their messages."""
Grade = Literal["attested", "doubted", "plain"]
"""How a pass is assured: the values of the code under test were compared outside its process; the process itself was
believed, but had to tell altered copies of the tests from real ones; it was believed."""


class TestResult(Record):
    """One hidden test: `missing` when it was never reported, as after an early exit. `grade` is known of a pass."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    id: str
    outcome: Literal["passed", "failed", "error", "skipped", "missing"]
    seconds: float = 0.0
    message: str = ""
    grade: Grade | None = None


class Assurance(Record):
    """How well a pass is assured.

    Attributes:
        grade: Of the weakest test that fails on the base commit.
        bits: What a forger would have had to guess, less what answers to earlier submissions have told.
        open: Tests that are not attested, and why, a sentence each.
        feedback: How much submitters learn, which limits what a later pass is worth.
        doubt: Bits it would have cost to name the real tests among their altered twins, where tests were doubted.
    """

    grade: Grade
    bits: float = 0.0
    open: tuple[str, ...] = ()
    feedback: Feedback = "verdict"
    doubt: float = 0.0


class IsolationGrade(StrEnum):
    """How well code inside is kept from what is outside; no grade is a proof.

    `KERNEL`: namespaces, our filter of system calls and our limits, which attacks in the tests were tried against.
    `CONTAINER`: a container engine's, which depends on how that is set up; the filter of system calls is ours too.
    `UNVERIFIED`: a plug-in's or a remote service's, of which only its own word is known.
    `NONE`: nothing is kept from anything.
    """

    KERNEL = "kernel"
    CONTAINER = "container"
    UNVERIFIED = "unverified"
    NONE = "none"


class GradingIsolation(Record):
    """The isolation a verdict was given under: its `kind` as `--isolation` spells it, and the `grade` of that kind."""

    kind: str
    grade: IsolationGrade

    @property
    def phrase(self) -> str:
        """Both in words, such as `podman@python:3.11, grade container`; the kind may be hostile text of a record."""
        return f"{self.kind}, grade {self.grade.value}"


class StepVerdict(Record):
    """What was judged of one step of a state task; `reward` is what its tests gave, `seconds` what judging took."""

    name: str
    outcome: Outcome
    reward: float
    min_reward: float | None = None
    seconds: float = 0.0


class Verdict(Record):
    """The outcome of grading one submission.

    `process` and `result` are what ECR and TPR count: true, false, or None where unknown (unknown is never false).
    `reading` says which criteria decided. `assurance` is known of changes of a repository that passed. `isolation` is
    what tests, metrics and the agent ran under; None where nothing ran here, and in records of version 0.1. `basis` is
    how tests of a change of a repository were decided. `steps` are those that a state task's attempt came to, in order.
    `judging` is what the tests themselves asked models, where they did: a cost of judging, and none of the agent's.
    """

    task: str
    task_digest: str
    outcome: Outcome
    process: bool | None
    result: bool | None
    reading: Reading = Reading.FAIR
    criteria: tuple[CriterionResult, ...] = ()
    tests: tuple[TestResult, ...] = ()
    comments: tuple[str, ...] = ()
    grader: str
    graded_at: datetime
    seconds: float = 0.0
    assurance: Assurance | None = None
    isolation: GradingIsolation | None = None
    basis: Basis = "run"
    steps: tuple[StepVerdict, ...] = ()
    judging: Spending | None = None
