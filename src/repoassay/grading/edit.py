"""Grading an edit: the diff applied in a fresh sandbox, hidden tests, values compared outside, the rest doubted."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
    started, reward, judging = time.monotonic(), None, None

    def verdict(
        outcome: Outcome, *comments: str, tests: Sequence[TestResult] = (), assurance: Assurance | None = None,
        basis: Basis = "run",
    ) -> Verdict:  # fmt: skip
        if why := blame_withheld(folder, outcome):
            outcome, comments = Outcome.INFRA_FAULT, (why, *comments)
        process = outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT)
        return Verdict(
            task=folder.task.id,
            task_digest=folder.digest,
            outcome=outcome,
            process=process if outcome.whose is Attribution.AGENT else None,
            result=outcome is Outcome.PASSED if outcome.whose is Attribution.AGENT else None,
            tests=tuple(tests),
            criteria=reward_of(folder, tests, reward),
            comments=comments,
            grader=f"repoassay/{repoassay.__version__}",
            graded_at=datetime.now(UTC),
            seconds=round(time.monotonic() - started, 3),
            assurance=assurance,
            basis=basis,
            judging=judging,
        )

    assert folder.task.grading.tests is not None
    limit = folder.task.grading.tests.seconds
    if folder.task.grading.tests.runner == "node" and (why := can_run_node()):
        return verdict(Outcome.NOT_GRADABLE, why)
    if why := missing_keys(folder.task.grading.tests):
        return verdict(Outcome.NOT_GRADABLE, why)
    empty = not diff.strip()
    if empty and not folder.step:  # a step may ask for nothing that is left in files, and its tests say so
        return verdict(Outcome.NO_OUTPUT, "The submission changes nothing.")
    try:
        with stage_span("apply"):
            changes = Changes({}) if empty else apply_patch(read_patch(diff), base, fuzz=FUZZ if lenient else 0)
    except PatchError as error:
        if error.empty:
            return verdict(Outcome.NO_OUTPUT, "The submission changes nothing.")
        failed = f"The patch does not apply: {error}"
        return verdict(Outcome.PATCH_FAILED, failed, *([LENIENT] if lenient else []))
    if folder.task.state is not None:  # an agent's folder may be empty and still there, which no diff can tell
        changes = changes.keep_folders()
    if stray := outside_places(folder, changes.edits):
        where = join_names([f"/{name}" for name in stray], 5)
        return verdict(Outcome.PATCH_FAILED, f"The patch changes {where}, outside of the task's folders.")
    if not _has_room(changes.edits, folder.task.limits.disk):
        disk = f"{folder.task.limits.disk:,} bytes"
        return verdict(Outcome.PATCH_FAILED, f"What the patch writes does not fit on the task's disk of {disk}.")
    image = image_environment(environment)
    within = [f"The tests ran in the image {image.name} ({image.image[:12]})."] if image else []
    notes = (*([LENIENT] if lenient else []), *changes.notes, *within)
    if beside := beside_artifacts(folder, changes.edits):
        notes = (*notes, f"Not shown to the tests, since it is beside the task's artifacts: {join_names(beside, 5)}.")
    if decisive := start_up_files(folder, base, changes.edits):
        kept = {path: edit for path, edit in changes.edits.items() if path not in decisive}
        changes, notes = replace(changes, edits=kept), (*notes, *left_out(decisive))
    proof = None
    if folder.task.grading.tests.runner == "repository":
        notes = (*notes, *left_out(setup_of(folder, base).split(changes.edits)[1]))
        with stage_span("proof"):
            proof = _proof(folder, base, environment, oracle, cancel)
        folder = proof.proven(folder)
    with stage_span("oracle"):
        reference = oracle.reference(folder, base, environment) if oracle else None
    direct = reference is not None and reference.direct
    expected = proof.expected if proof else frozenset()
    subject = HiddenTestSubject(folder, base, environment, changes.edits, sandbox, cancel, pool, direct, expected)

    def blind(trace: BaseTrace | None) -> Verdict | None:
        """The verdict where nothing that is changed can be seen by the tests."""
        if trace is None or not trace.decides(changes.edits, limit):
            return None
        why = f"{_BLIND} {join_names(changes.edits, 5)}; they fail as they do on the base."
        comments = (why, *_failures(trace.tests), *notes)
        return verdict(Outcome.FAILED, *comments, tests=trace.tests, basis="base_trace")

    if traces is not None and (told := blind(traces.known(subject, reference))):
        return told
    with stage_span("run"):
        examined = examine(subject, reference, oracle)
    if proof and (once := _guards_alone(folder, examined)):
        # A stranger's guard may be flaky, which the runs of a proof need not show: it fails a submission twice, or not.
        with stage_span("run"):
            examined = examine(subject, reference, oracle)
        notes = (*notes, f"Run again, since only tests that pass before and after had failed: {join_names(once, 5)}.")
    reward, judging = examined.ran.told.reward, examined.ran.judging
    if judging is not None:
        asked = f"{join_names(judging.models) or 'no model'}, {account_of(judging)}"
        notes = (*notes, f"The tests asked a model ({asked}): another run may decide otherwise.")
    ran, tests = examined.ran, proof.listed(examined.tests) if proof else examined.tests
    if examined.signs:
        return verdict(Outcome.TAMPERING, *examined.signs, *notes, tests=tests)
    if ran.exit.ended is Ended.TIMED_OUT:
        return verdict(Outcome.TIMED_OUT, f"The tests ran longer than {_seconds(folder)} s.", *notes, tests=tests)
    if not (ran.told.complete and all(test.outcome == "passed" for test in tests)):
        with stage_span("trace"):  # recorded once it is of use; then the answer is the one that later patches get
            told = blind(traces.of(subject, reference, oracle)) if traces is not None else None
        return told or verdict(Outcome.FAILED, *_ending(ran), *_failures(tests), *notes, tests=tests)
    if examined.attested:
        return verdict(Outcome.PASSED, *notes, tests=tests, assurance=examined.assurance(folder, ()))
    with stage_span("canary"):
        doubt = doubt_tests(subject, examined.doubtful, ran, reference.twins if reference else None, seed)
    if doubt.timed_out:
        return verdict(Outcome.TIMED_OUT, f"The check with altered tests ran longer than {_seconds(folder)} s.",
                       *notes, tests=tests)  # fmt: skip
    if doubt.sign:
        return verdict(Outcome.TAMPERING, doubt.sign, *notes, tests=tests)
    if doubt.failed:
        return verdict(Outcome.FAILED, doubt.failed, *notes, tests=tests)
    tests = [
        test.model_copy(update={"grade": "doubted"}) if test.id in doubt.tests & set(examined.open) else test
        for test in tests
    ]
    assurance = examined.assurance(folder, doubt.tests).model_copy(update={"doubt": round(doubt.bits, 1)})
    return verdict(Outcome.PASSED, *notes, tests=tests, assurance=assurance)


def _has_room(edits: Mapping[str, FileEdit | None], disk: int) -> bool:
    """Whether a sandbox has room for changes, and an eighth besides for the tests' own files.

    Where it has none it cannot be set up, which would be nobody's failure. Files and folders count as a page each.
    """
    written = sum(-(-len(edit.content) // _PAGE) for edit in edits.values() if edit is not None)
    folders = {parent for path in edits for parent in PurePosixPath(path).parents}
    return (written + len(edits) + len(folders)) * _PAGE <= disk * 7 // 8


def _proof(
    folder: TaskFolder, base: Path, environment: Path, oracle: Oracle | None, cancel: threading.Event | None
) -> TaskProof:
    if oracle is None:
        raise InfraFault(f"The task {folder.task.id} is unproven: there is nothing here to prove it with.")
    return oracle.proof(folder, base, environment, cancel)


def _guards_alone(folder: TaskFolder, examined: HiddenTestExamination) -> list[str]:
    """Tests that did not pass, where all that decide did and nothing else is wrong."""
    if examined.signs or not examined.ran.told.complete:
        return []
    assert folder.task.grading.tests is not None
    bad = [test.id for test in examined.tests if test.outcome != "passed"]
    return [] if set(bad) & set(folder.task.grading.tests.fail_to_pass) else bad


def run_tests(
    folder: TaskFolder,
    base: Path,
    edits: Mapping[str, FileEdit | None],
    sandbox: Sandbox,
    environment: Path,
    ids: Sequence[str],
) -> list[TestResult]:
    """Run hidden tests once, without a canary, and return what each came to."""
    return run_hidden(folder, base, edits, sandbox, environment, ids=ids).told.tests


def _seconds(folder: TaskFolder) -> str:
    assert folder.task.grading.tests is not None
    return f"{folder.task.grading.tests.seconds:g}"


def _ending(ran: HiddenTestRun) -> list[str]:
    comments = []
    if ran.exit.ended is Ended.OUT_OF_MEMORY:
        comments.append("The tests ran out of memory.")
    if not ran.told.complete:
        comments.append("The test process ended early; tests it did not report do not pass.")
    return comments


def _failures(tests: Sequence[TestResult]) -> list[str]:
    bad = [test for test in tests if test.outcome != "passed"]
    comments = [f"{test.id}: {test.outcome}." for test in bad[:5]]
    return comments + ([f"{len(bad) - 5} more tests did not pass."] if len(bad) > 5 else [])
