"""Grading an edit: the diff applied in a fresh sandbox, hidden tests, values compared outside, the rest doubted."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import repoassay
from repoassay.diffs import Changes, PatchError, apply_patch, read_patch
from repoassay.errors import InfraFault
from repoassay.grading.base_trace.recording import BaseTraces
from repoassay.grading.base_trace.trace import BaseTrace
from repoassay.grading.canary_check import doubt_tests
from repoassay.grading.hidden_tests.node import can_run_node
from repoassay.grading.hidden_tests.prefork import WarmPool
from repoassay.grading.hidden_tests.results import HiddenTestRun
from repoassay.grading.hidden_tests.run import run_hidden
from repoassay.grading.hidden_tests.script_models import account_of, missing_keys
from repoassay.grading.in_place.proof import TaskProof
from repoassay.grading.in_place.support import left_out, setup_of
from repoassay.grading.oracle.oracle import Oracle
from repoassay.grading.oracle.reference import Reference
from repoassay.grading.state import beside_artifacts, blame_withheld, outside_places, reward_of, start_up_files
from repoassay.grading.test_run import HiddenTestExamination, HiddenTestSubject, examine
from repoassay.sandbox import Sandbox, image_environment
from repoassay.spans import stage_span
from repoassay.tasks import TaskFolder
from repoassay.text import join_names
from repoassay.types import Assurance, Attribution, Basis, Ended, FileEdit, Outcome, TestResult, Verdict

__all__ = ["FUZZ", "LENIENT", "grade_edit", "run_tests"]

_PAGE = 4096
FUZZ = 2
"""Lines of context at either end of a hunk that a lenient reading may leave out; GNU patch's default."""
LENIENT = f"Read leniently: up to {FUZZ} lines of context at either end of a hunk may differ."
_BLIND = "The tests never look at what this patch changes:"
_EMPTY = "The submission changes nothing."
_PASSES_WITH = "With what was left out of it the tests pass: either they are decided by that, or the work needs it."


def grade_edit(
    folder: TaskFolder,
    diff: bytes,
    sandbox: Sandbox,
    *,
    base: Path,
    environment: Path,
    oracle: Oracle | None = None,
    seed: int | None = None,
    cancel: threading.Event | None = None,
    pool: WarmPool | None = None,
    lenient: bool = False,
    traces: BaseTraces | None = None,
) -> Verdict:
    """Return the verdict on a unified diff.

    Args:
        folder: The task.
        diff: What was submitted; hostile.
        sandbox: Where hidden tests run.
        base: Read-only checkout of the base commit.
        environment: The task's environment, mounted read-only at /env.
        oracle: Compares values outside the sandbox; without it every pass is only doubted.
        seed: Which twins are drawn; by default nobody can know.
        cancel: Set to give up early.
        pool: Prefork servers to run tests in, where there are any.
        lenient: Whether hunks may be applied without some of their context; the verdict says so.
        traces: What hidden tests look at on their bases: a patch that changes nothing of it fails without a run, as the
            base does, and the verdict says so. Without, all that applies is run.

    Raises:
        InfraFault: When the sandbox fails, or the task's own solution does not pass here.
    """
    return _EditGrading(folder, base, environment, sandbox, oracle, seed, cancel, pool, lenient, traces).grade(diff)


@dataclass(slots=True)
class _EditGrading:
    """The grading of one diff: what `grade_edit` is called with, and what is known so far.

    Attributes:
        notes: What every verdict says from here on, after its own reasons.
        proof: Of a task whose tests run in place.
        examined: What the last run of the tests came to.
        withheld: Changes that could decide how a script of tests runs, which it is not shown.
    """

    folder: TaskFolder
    base: Path
    environment: Path
    sandbox: Sandbox
    oracle: Oracle | None
    seed: int | None
    cancel: threading.Event | None
    pool: WarmPool | None
    lenient: bool
    traces: BaseTraces | None
    notes: tuple[str, ...] = ()
    proof: TaskProof | None = None
    examined: HiddenTestExamination | None = None
    withheld: Mapping[str, FileEdit | None] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def grade(self, diff: bytes) -> Verdict:
        """See `grade_edit`."""
        hidden = self.folder.task.hidden_tests
        if hidden.runner == "node" and (why := can_run_node()):
            return self._verdict(Outcome.NOT_GRADABLE, why)
        if why := missing_keys(hidden):
            return self._verdict(Outcome.NOT_GRADABLE, why)
        empty = not diff.strip()
        if empty and not self.folder.step:  # a step may ask for nothing that is left in files, and its tests say so
            return self._verdict(Outcome.NO_OUTPUT, _EMPTY)
        try:
            with stage_span("apply"):
                fuzz = FUZZ if self.lenient else 0
                changes = Changes({}) if empty else apply_patch(read_patch(diff), self.base, fuzz=fuzz)
        except PatchError as error:
            if error.empty:
                return self._verdict(Outcome.NO_OUTPUT, _EMPTY)
            failed = f"The patch does not apply: {error}"
            return self._verdict(Outcome.PATCH_FAILED, failed, *([LENIENT] if self.lenient else []))
        if self.folder.task.state is not None:  # an agent's folder may be empty and still there, which no diff can tell
            changes = changes.keep_folders()
        if misfit := self._misfit(changes):
            return self._verdict(Outcome.PATCH_FAILED, misfit)
        edits = self._changes_for_tests(changes)
        if hidden.runner == "repository":
            self._prove(edits)
        with stage_span("oracle"):
            reference = self.oracle.reference(self.folder, self.base, self.environment) if self.oracle else None
        subject = HiddenTestSubject(
            self.folder, self.base, self.environment, edits, self.sandbox, self.cancel, self.pool,
            direct=reference is not None and reference.direct,
            expected=self.proof.expected if self.proof else frozenset(),
        )  # fmt: skip
        return self._run(subject, reference)

    def _misfit(self, changes: Changes) -> str | None:
        """Why what a patch writes has no place in the sandbox."""
        if stray := outside_places(self.folder, changes.edits):
            where = join_names([f"/{name}" for name in stray], 5)
            return f"The patch changes {where}, outside of the task's folders."
        disk = self.folder.task.limits.disk
        if not _has_room(changes.edits, disk):
            return f"What the patch writes does not fit on the task's disk of {disk:,} bytes."
        return None

    def _changes_for_tests(self, changes: Changes) -> Mapping[str, FileEdit | None]:
        """The changes that tests are shown; the notes say which they are not."""
        image = image_environment(self.environment)
        within = [f"The tests ran in the image {image.name} ({image.image[:12]})."] if image else []
        self.notes = (*([LENIENT] if self.lenient else []), *changes.notes, *within)
        if beside := beside_artifacts(self.folder, changes.edits):
            names = join_names(beside, 5)
            self.notes += (f"Not shown to the tests, since it is beside the task's artifacts: {names}.",)
        decisive = start_up_files(self.folder, self.base, changes.edits)
        if not decisive:
            return changes.edits
        self.notes += (*left_out(decisive),)
        self.withheld = {path: changes.edits[path] for path in decisive}
        return {path: edit for path, edit in changes.edits.items() if path not in decisive}

    def _prove(self, edits: Mapping[str, FileEdit | None]) -> None:
        """Take the tests that a proof found to decide here for the task's."""
        self.notes += (*left_out(setup_of(self.folder, self.base).split(edits)[1]),)
        if self.oracle is None:
            raise InfraFault(f"The task {self.folder.task.id} is unproven: there is nothing here to prove it with.")
        with stage_span("proof"):
            self.proof = self.oracle.proof(self.folder, self.base, self.environment, self.cancel)
        self.folder = self.proof.proven(self.folder)

    def _run(self, subject: HiddenTestSubject, reference: Reference | None) -> Verdict:
        """Run the tests, and doubt a pass that is not attested."""
        if self.traces is not None and (unseen := self._unseen(subject, self.traces.known(subject, reference))):
            return unseen
        examined = self._examine(subject, reference)
        tests = self.proof.listed(examined.tests) if self.proof else examined.tests
        if examined.signs:
            return self._verdict(Outcome.TAMPERING, *examined.signs, tests=tests)
        if examined.ran.exit.ended is Ended.TIMED_OUT:
            late = f"The tests ran longer than {self.folder.task.hidden_tests.seconds:g} s."
            return self._verdict(Outcome.TIMED_OUT, late, tests=tests)
        if not (examined.ran.report.complete and all(test.outcome == "passed" for test in tests)):
            unseen = None
            if self.traces is not None:
                with stage_span("trace"):  # recorded once it is of use; then the answer is what later patches get
                    unseen = self._unseen(subject, self.traces.of(subject, reference, self.oracle))
            failed = (*_ending(examined.ran), *_failures(tests), *self._with_all(subject))
            return unseen or self._verdict(Outcome.FAILED, *failed, tests=tests)
        if examined.attested:
            return self._verdict(Outcome.PASSED, tests=tests, assurance=examined.assurance(self.folder, ()))
        return self._doubt(subject, reference, examined, tests)

    def _with_all(self, subject: HiddenTestSubject) -> list[str]:
        """What a reader of a failure should know of the files that were left out: it stands, whatever they do."""
        if not self.withheld:
            return []
        try:
            report = replace(subject, edits={**subject.edits, **self.withheld}).run().report
        except InfraFault:  # which these files may bring on, and nobody's failure is excused by them
            return []
        passes = report.complete and not report.signs and all(test.outcome == "passed" for test in report.tests)
        return [_PASSES_WITH] if passes else []

    def _unseen(self, subject: HiddenTestSubject, trace: BaseTrace | None) -> Verdict | None:
        """The verdict where nothing that is changed can be seen by the tests."""
        if trace is None or not trace.decides(subject.edits, self.folder.task.hidden_tests.seconds):
            return None
        why = f"{_BLIND} {join_names(subject.edits, 5)}; they fail as they do on the base."
        return self._verdict(Outcome.FAILED, why, *_failures(trace.tests), tests=trace.tests, basis="base_trace")

    def _examine(self, subject: HiddenTestSubject, reference: Reference | None) -> HiddenTestExamination:
        with stage_span("run"):
            examined = examine(subject, reference, self.oracle)
        if self.proof and (once := _guards_alone(self.folder, examined)):
            # A stranger's guard may be flaky, which the runs of a proof need not show: it fails a submission twice, or
            # not at all.
            with stage_span("run"):
                examined = examine(subject, reference, self.oracle)
            names = join_names(once, 5)
            self.notes += (f"Run again, since only tests that pass before and after had failed: {names}.",)
        self.examined = examined
        if (judging := examined.ran.judging) is not None:
            models = f"{join_names(judging.models) or 'no model'}, {account_of(judging)}"
            self.notes += (f"The tests asked a model ({models}): another run may decide otherwise.",)
        return examined

    def _doubt(
        self, subject: HiddenTestSubject, reference: Reference | None, examined: HiddenTestExamination,
        tests: list[TestResult],
    ) -> Verdict:  # fmt: skip
        """Run altered tests, which must fail, in the place of a pass that only the process vouches for."""
        with stage_span("canary"):
            twins = reference.twins if reference else None
            doubt = doubt_tests(subject, examined.doubtful, examined.ran, twins, self.seed)
        if doubt.timed_out:
            late = f"The check with altered tests ran longer than {self.folder.task.hidden_tests.seconds:g} s."
            return self._verdict(Outcome.TIMED_OUT, late, tests=tests)
        if doubt.sign:
            return self._verdict(Outcome.TAMPERING, doubt.sign, tests=tests)
        if doubt.failed:
            return self._verdict(Outcome.FAILED, doubt.failed, tests=tests)
        doubted = doubt.tests & set(examined.open)
        tests = [test.model_copy(update={"grade": "doubted"}) if test.id in doubted else test for test in tests]
        assurance = examined.assurance(self.folder, doubt.tests).model_copy(update={"doubt": round(doubt.bits, 1)})
        return self._verdict(Outcome.PASSED, tests=tests, assurance=assurance)

    def _verdict(
        self, outcome: Outcome, *reasons: str, tests: Sequence[TestResult] = (), assurance: Assurance | None = None,
        basis: Basis = "run",
    ) -> Verdict:  # fmt: skip
        if why := blame_withheld(self.folder, outcome):
            outcome, reasons = Outcome.INFRA_FAULT, (why, *reasons)
        ran = self.examined.ran if self.examined else None
        process = outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT)
        return Verdict(
            task=self.folder.task.id,
            task_digest=self.folder.digest,
            outcome=outcome,
            process=process if outcome.whose is Attribution.AGENT else None,
            result=outcome is Outcome.PASSED if outcome.whose is Attribution.AGENT else None,
            tests=tuple(tests),
            criteria=reward_of(self.folder, tests, ran.report.reward if ran else None),
            comments=(*reasons, *self.notes),
            grader=f"repoassay/{repoassay.__version__}",
            graded_at=datetime.now(UTC),
            seconds=round(time.monotonic() - self.began, 3),
            assurance=assurance,
            basis=basis,
            judging=ran.judging if ran else None,
        )


def _has_room(edits: Mapping[str, FileEdit | None], disk: int) -> bool:
    """Whether a sandbox has room for changes, and an eighth besides for the tests' own files.

    Where it has none it cannot be set up, which would be nobody's failure. Files and folders count as a page each.
    """
    written = sum(-(-len(edit.content) // _PAGE) for edit in edits.values() if edit is not None)
    folders = {parent for path in edits for parent in PurePosixPath(path).parents}
    return (written + len(edits) + len(folders)) * _PAGE <= disk * 7 // 8


def _guards_alone(folder: TaskFolder, examined: HiddenTestExamination) -> list[str]:
    """Tests that did not pass, where all that decide did and nothing else is wrong."""
    if examined.signs or not examined.ran.report.complete:
        return []
    bad = [test.id for test in examined.tests if test.outcome != "passed"]
    return [] if set(bad) & set(folder.task.hidden_tests.fail_to_pass) else bad


def run_tests(
    folder: TaskFolder,
    base: Path,
    edits: Mapping[str, FileEdit | None],
    sandbox: Sandbox,
    environment: Path,
    ids: Sequence[str],
) -> list[TestResult]:
    """Run hidden tests once, without a canary, and return what each came to."""
    return run_hidden(folder, base, edits, sandbox, environment, ids=ids).report.tests


def _ending(ran: HiddenTestRun) -> list[str]:
    comments = []
    if ran.exit.ended is Ended.OUT_OF_MEMORY:
        comments.append("The tests ran out of memory.")
    if not ran.report.complete:
        comments.append("The test process ended early; tests it did not report do not pass.")
    return comments


def _failures(tests: Sequence[TestResult]) -> list[str]:
    bad = [test for test in tests if test.outcome != "passed"]
    comments = [f"{test.id}: {test.outcome}." for test in bad[:5]]
    return comments + ([f"{len(bad) - 5} more tests did not pass."] if len(bad) > 5 else [])
