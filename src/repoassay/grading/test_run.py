"""Runs a submission's hidden tests once, and looks at them from outside the process in which they ran."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repoassay.grading.hidden_tests.prefork import WarmPool
from repoassay.grading.hidden_tests.results import HiddenTestRun
from repoassay.grading.hidden_tests.run import run_hidden
from repoassay.grading.in_place.run import functions
from repoassay.grading.oracle.compare import Mismatch, compare
from repoassay.grading.oracle.oracle import Oracle
from repoassay.grading.oracle.reference import Reference
from repoassay.sandbox import Sandbox
from repoassay.tasks import TaskFolder
from repoassay.types import Assurance, FileEdit, TestResult

__all__ = ["ENOUGH", "HiddenTestExamination", "HiddenTestSubject", "examine"]

ENOUGH = 40.0
"""Bits from which a pass needs no further doubt: more guesses than anybody submits."""
_UNKNOWN = "no reference could be recorded for this task"


@dataclass(frozen=True, slots=True)
class HiddenTestSubject:
    """A submission applied to its base, and where its tests run.

    `expected` are tests of which an expected failure counts as a pass, since the solution's is one, too.
    """

    folder: TaskFolder
    base: Path
    environment: Path
    edits: Mapping[str, FileEdit | None]
    sandbox: Sandbox
    cancel: threading.Event | None = None
    pool: WarmPool | None = None
    direct: bool = False
    expected: frozenset[str] = frozenset()

    def run(
        self, ids: Sequence[str] = (), changed: Mapping[str, str] | None = None, *,
        files: Mapping[str, bytes] | None = None, seconds: float | None = None, only: Sequence[str] = (),
    ) -> HiddenTestRun:  # fmt: skip
        """Run hidden tests once; see `run_hidden`."""
        return run_hidden(
            self.folder, self.base, self.edits, self.sandbox, self.environment, ids=ids, changed=changed,
            cancel=self.cancel, pool=self.pool, files=files, seconds=seconds, only=only, direct=self.direct,
        )  # fmt: skip

    def alone(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Some tests as a run in place is asked for them alone: functions of Python, names of JavaScript."""
        return tuple(ids) if self.folder.task.hidden_tests.in_javascript else functions(ids)

    @property
    def ids(self) -> tuple[str, ...]:
        """Every test that must pass."""
        return self.folder.task.hidden_tests.all_ids


@dataclass(slots=True)
class HiddenTestExamination:
    """What a run came to.

    Attributes:
        ran: The run.
        tests: Results under the tests' own ids; those reported passed that do not hold outside have failed.
        signs: Evidence of tampering, in words.
        open: Tests whose pass is not attested, and why.
        bits: What a forger would have had to guess to get here.
    """

    ran: HiddenTestRun
    tests: list[TestResult]
    signs: list[str] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)
    bits: float = 0.0

    @property
    def attested(self) -> bool:
        """Whether a pass needs no further doubt."""
        return not self.open and self.bits >= ENOUGH

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Tests to be doubted: those that are not attested, and every one where the bits are too few."""
        return tuple(self.open) if self.bits >= ENOUGH else tuple(test.id for test in self.tests)

    def assurance(self, folder: TaskFolder, doubted: Collection[str]) -> Assurance:
        """How a pass is assured, once the tests `doubted` have stood up to doubt."""
        decisive = folder.task.hidden_tests.fail_to_pass
        if self.bits >= ENOUGH and not any(test in self.open for test in decisive):
            grade = "attested"
        else:
            left = self.open if self.bits >= ENOUGH else decisive
            grade = "doubted" if all(test in doubted for test in decisive if test in left) else "plain"
        why = tuple(f"{test}: {reason}" for test, reason in list(self.open.items())[:20])
        return Assurance.model_validate({"grade": grade, "bits": round(self.bits, 1), "open": why})


def examine(
    subject: HiddenTestSubject, reference: Reference | None, oracle: Oracle | None, ids: Sequence[str] = ()
) -> HiddenTestExamination:
    """Run the tests, their expectations withheld where there is a reference, and compare what they observed.

    Args:
        subject: What is examined.
        reference: What the solution yields.
        oracle: Compares with it.
        ids: Tests that are run alone; every one of the task without.

    Raises:
        InfraFault: When the sandbox or the judge fails.
    """
    only = subject.alone(ids)
    ids = tuple(ids) or subject.ids
    if reference is None or oracle is None:
        ran = subject.run(ids, only=only)
        results = [_expected(result, result.id, ran, subject) for result in ran.report.tests]
        return HiddenTestExamination(ran, results, ran.report.signs, dict.fromkeys(ids, _UNKNOWN))
    inner = reference.inner
    inner_ids = [inner.get(test, test) for test in ids]
    ran = subject.run(inner_ids, {name: file.source for name, file in reference.files.items()}, only=only)
    outer = {inner.get(test, test): test for test in ids}
    renamed = [(result, outer[result.id]) for result in ran.report.tests]
    tests = [_expected(result, name, ran, subject) for result, name in renamed]
    passed = [result.id for result in tests if result.outcome == "passed"]
    seen = {test: ran.report.seen.get(inner.get(test, test), []) for test in passed}
    findings = compare(reference, seen, oracle.language(subject.folder))
    signs = [*ran.report.signs]
    for test, finding in findings.items():
        if finding.absent and not finding.wrong:
            signs.append(f"{test} was reported passed, but line {finding.absent[0]} of it was never reached.")
    open_ = {test: finding.why for test, finding in findings.items() if not finding.attested}
    bits = reference.total - sum(reference.bits.get(test, 0.0) for test in open_)  # what this run did not prove
    judged = [_judged(result, findings.get(result.id)) for result in tests]
    return HiddenTestExamination(ran, judged, signs, open_, max(0.0, bits))


def _expected(result: TestResult, name: str, ran: HiddenTestRun, subject: HiddenTestSubject) -> TestResult:
    """A result under the task's name. Code under test can raise what ends a test as an expected failure: as the
    solution's does not, that is none."""
    if result.id in ran.report.expected and name not in subject.expected:
        message = f"It ended as a failure that is expected; the solution passes it. {result.message}"
        return result.model_copy(update={"id": name, "outcome": "failed", "message": message})
    return result if result.id == name else result.model_copy(update={"id": name})


def _judged(result: TestResult, finding: Mismatch | None) -> TestResult:
    """A result as it is seen from outside."""
    if finding is None:
        return result
    if finding.wrong:
        lines = ", ".join(map(str, sorted(set(finding.wrong))[:10]))
        message = f"What the code under test yields is not what is expected (line {lines})."
        return result.model_copy(update={"outcome": "failed", "message": message})
    return result.model_copy(update={"grade": "attested" if finding.attested else "plain"})
