"""How well a pass of a task would be assured, and which of its tests to strengthen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from repoassay.engine.grading_context import GradingContext
from repoassay.errors import InfraFault
from repoassay.grading import Reference, SiteMode
from repoassay.tasks import TaskFolder
from repoassay.workspace import lay_out

__all__ = ["TaskAssurance", "assess_task", "assurance_of"]


@dataclass(frozen=True, slots=True)
class TaskAssurance:
    """What compares outside the process, and what a forger would have to guess.

    Attributes:
        task: The task's id.
        tests: How many tests decide.
        attested: How many of them hold outside.
        bits: What a forger would have to guess to pass them all.
        sites: Assertions by the way they are decided: `withheld`, `observed`, `left`.
        decisive: Whether every test that fails on the base commit is attested.
        weak: Tests to strengthen, and why.
        why: Why nothing is attested, where nothing is.
    """

    task: str
    tests: int
    attested: int = 0
    bits: float = 0.0
    sites: Mapping[str, int] = field(default_factory=dict)
    decisive: bool = False
    weak: Mapping[str, str] = field(default_factory=dict)
    why: str = ""

    def reaches(self, required: float) -> bool:
        """Whether a pass can be attested with so many bits."""
        return self.decisive and self.bits >= required

    def __str__(self) -> str:
        if self.why:
            return f"nothing is attested: {self.why}"
        sites = ", ".join(f"{self.sites.get(mode, 0)} {mode.value}" for mode in SiteMode)
        return f"{self.bits:g} bits; {self.attested} of {self.tests} tests attested; assertions: {sites}"


def assess_task(folder: TaskFolder, bench: GradingContext) -> TaskAssurance:
    """Record a task's reference, where it is not known, and see what it is worth.

    Raises:
        InfraFault: When the task's repository or environment cannot be had.
    """
    layout = lay_out(folder, bench.repositories, bench.cache, bench.sandbox)
    tests = folder.task.grading.tests
    try:
        if tests is not None and tests.runner == "repository":
            folder = bench.oracle.proof(folder, layout.base, layout.environment).proven(folder)
        reference = bench.oracle.reference(folder, layout.base, layout.environment)
    except InfraFault as error:
        return assurance_of(folder, None, str(error))
    return assurance_of(folder, reference)


def assurance_of(folder: TaskFolder, reference: Reference | None, why: str = "") -> TaskAssurance:
    """What a reference is worth; `why` there is none."""
    tests = folder.task.hidden_tests
    if reference is None:
        reason = why or "no reference can be recorded of this task here"
        return TaskAssurance(folder.task.id, len(tests.all_ids), why=reason)
    sites = Counter(site.mode.value for file in reference.files.values() for site in file.sites)
    attested = [test for test in tests.all_ids if test in reference.expected and test not in reference.open]
    weak = {test: reason for test in tests.fail_to_pass if (reason := _weakness(test, reference))}
    return TaskAssurance(
        folder.task.id,
        len(tests.all_ids),
        len(attested),
        reference.total,
        dict(sites),
        decisive=all(test in attested for test in tests.fail_to_pass),
        weak=weak,
    )


def _weakness(test: str, reference: Reference) -> str:
    """Why a test that must turn should be strengthened; empty for one that need not."""
    if test in reference.open:
        return reference.open[test]
    file = reference.files.get(test.partition("::")[0])
    if file is None:
        return "its file could not be rewritten"
    own = test.partition("::")[2].partition("[")[0]
    sites = [site for site in file.sites if site.test == own]
    left = [str(site.line) for site in sites if site.mode is SiteMode.LEFT]
    if not reference.bits.get(test):
        reached = {one.site for one in reference.expected.get(test, ())}
        if reached and not any(site.mode is SiteMode.WITHHELD for site in file.sites if site.number in reached):
            return "0 bits: it only compares values of the code under test with each other"
        return "0 bits: whatever it expects is guessed at once, or expected elsewhere too"
    if left:
        return f"line {', '.join(left[:5])} sends no value"
    if sites and all(site.mode is SiteMode.OBSERVED for site in sites):
        return "it only compares values of the code under test with each other"
    return ""
