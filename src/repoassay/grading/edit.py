"""Grading an edit: the diff on the base commit in a fresh sandbox, hidden tests, and every pass doubted once."""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import repoassay
from repoassay.errors import InfraFault
from repoassay.grading.hidden import canary, javascript
from repoassay.grading.hidden.canary import Site
from repoassay.grading.hidden.node import can_run_node
from repoassay.grading.hidden.run import Ran, run_hidden
from repoassay.grading.hidden.warm import WarmPool
from repoassay.grading.patch import PatchError, apply_patch, read_patch
from repoassay.model import Ended, Outcome, TestResult, Verdict, Whose
from repoassay.tasks import TaskFolder
from repoassay.workspace import FileEdit, Sandbox

__all__ = ["FUZZ", "LENIENT", "can_doubt", "grade_edit", "run_tests"]

FUZZ = 2
"""Lines of context at either end of a hunk that a lenient reading may leave out; GNU patch's default."""
LENIENT = f"Read leniently: up to {FUZZ} lines of context at either end of a hunk may differ."


def grade_edit(
    folder: TaskFolder,
    diff: bytes,
    sandbox: Sandbox,
    *,
    base: Path,
    environment: Path,
    seed: int | None = None,
    cancel: threading.Event | None = None,
    pool: WarmPool | None = None,
    lenient: bool = False,
) -> Verdict:
    """Return the verdict on a unified diff.

    Args:
        folder: The task.
        diff: What was submitted; hostile.
        sandbox: Where hidden tests run.
        base: Read-only checkout of the base commit.
        environment: The task's environment, mounted read-only at /env.
        seed: Which canary is drawn; by default nobody can know.
        cancel: Set to give up early.
        pool: Warm parents to run tests in, where there are any.
        lenient: Whether hunks may be applied without some of their context; the verdict says so.

    Raises:
        InfraFault: When the sandbox or a canary fails for a reason that is not the submission's.
    """
    started = time.monotonic()

    def verdict(outcome: Outcome, *comments: str, tests: Sequence[TestResult] = ()) -> Verdict:
        process = outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT)
        return Verdict(
            task=folder.task.id,
            task_digest=folder.digest,
            outcome=outcome,
            process=process if outcome.whose is Whose.AGENT else None,
            result=outcome is Outcome.PASSED if outcome.whose is Whose.AGENT else None,
            tests=tuple(tests),
            comments=comments,
            grader=f"repoassay/{repoassay.__version__}",
            graded_at=datetime.now(UTC),
            seconds=round(time.monotonic() - started, 3),
        )

    assert folder.task.grading.tests is not None
    if folder.task.grading.tests.runner == "node" and (why := can_run_node()):
        return verdict(Outcome.NOT_GRADABLE, why)
    if not diff.strip():
        return verdict(Outcome.NO_OUTPUT, "The submission changes nothing.")
    try:
        changes = apply_patch(read_patch(diff), base, fuzz=FUZZ if lenient else 0)
    except PatchError as error:
        if error.empty:
            return verdict(Outcome.NO_OUTPUT, "The submission changes nothing.")
        failed = f"The patch does not apply: {error}"
        return verdict(Outcome.PATCH_FAILED, failed, *([LENIENT] if lenient else []))
    notes = (*([LENIENT] if lenient else []), *changes.notes)
    ran = run_hidden(folder, base, changes.edits, sandbox, environment, cancel=cancel, pool=pool)
    told = ran.told
    if told.signs:
        return verdict(Outcome.TAMPERING, *told.signs, *notes, tests=told.tests)
    if ran.exit.ended is Ended.TIMED_OUT:
        return verdict(Outcome.TIMED_OUT, f"The tests ran longer than {_seconds(folder)} s.", *notes, tests=told.tests)
    if not told.passed:
        return verdict(Outcome.FAILED, *_failures(ran), *notes, tests=told.tests)
    sign = _doubt(folder, base, changes.edits, sandbox, environment, seed, cancel, pool)
    if sign:
        return verdict(Outcome.TAMPERING, sign, *notes, tests=told.tests)
    return verdict(Outcome.PASSED, *notes, tests=told.tests)


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


def can_doubt(folder: TaskFolder) -> bool:
    """Whether any hidden test of an edit task has an assertion that a canary can change."""
    return bool(_draw(folder, random.Random(0))[1])  # noqa: S311 - any draw tells


def _seconds(folder: TaskFolder) -> str:
    assert folder.task.grading.tests is not None
    return f"{folder.task.grading.tests.seconds:g}"


def _failures(ran: Ran) -> list[str]:
    comments = []
    if ran.exit.ended is Ended.OUT_OF_MEMORY:
        comments.append("The tests ran out of memory.")
    if not ran.told.complete:
        comments.append("The test process ended early; tests it did not report do not pass.")
    bad = [test for test in ran.told.tests if test.outcome != "passed"]
    comments += [f"{test.id}: {test.outcome}." for test in bad[:5]]
    return comments + ([f"{len(bad) - 5} more tests did not pass."] if len(bad) > 5 else [])


def _doubt(
    folder: TaskFolder,
    base: Path,
    edits: Mapping[str, FileEdit | None],
    sandbox: Sandbox,
    environment: Path,
    seed: int | None,
    cancel: threading.Event | None,
    pool: WarmPool | None,
) -> str:
    """Run the tests again with up to two of them changed so that they must fail; a sign of tampering, or nothing."""
    tests = folder.task.grading.tests
    assert tests is not None
    chance = random.Random(seed if seed is not None else secrets.randbits(64))  # noqa: S311 - seeded from secrets
    changed, chosen = _draw(folder, chance)
    if not chosen:
        return ""
    for _ in range(2):
        ran = run_hidden(folder, base, edits, sandbox, environment, changed=changed, cancel=cancel, pool=pool)
        if ran.exit.ended is not Ended.TIMED_OUT:
            break
    else:
        raise InfraFault("The tests passed in time, but the check with changed tests did not end in time, twice.")
    if ran.told.signs:
        return ran.told.signs[0]
    outcomes = {test.id: test.outcome for test in ran.told.tests}
    names = {site.test for site in chosen}
    for test, outcome in outcomes.items():
        touched = _plain(folder, test) in names
        if touched and outcome == "passed":
            return f"{test} passed although an assertion in it had been changed so that it must fail."
        if outcome == "missing":
            return f"{test} was not reported when tests had been changed so that some must fail."
    return ""


def _plain(folder: TaskFolder, test: str) -> str:
    """A test's id without the parameters that pytest adds to it."""
    tests = folder.task.grading.tests
    return test if tests is not None and tests.runner == "node" else test.partition("[")[0]


def _draw(folder: TaskFolder, chance: random.Random) -> tuple[dict[str, str], list[Site]]:
    """Changed test files by name, and what was changed: up to two altered assertions, or inverted ones for want of any.

    Whatever an inverted assertion catches, an altered one does, and no code can tell by reading that it is altered.
    """
    tests = folder.task.grading.tests
    assert tests is not None
    language = javascript if tests.runner == "node" else canary
    found: list[tuple[str, Site]] = []
    sources: dict[str, str] = {}
    for test in dict.fromkeys(_plain(folder, name) for name in tests.fail_to_pass):
        file, _, inner = test.partition("::")
        source = sources.setdefault(file, (folder.tests / file).read_text(encoding="utf-8"))
        found += [(file, Site(test, site.line, site.kind)) for site in language.sites(source, inner)]
    chosen: list[tuple[str, Site]] = []
    kind = "altered" if any(site.kind == "altered" for _, site in found) else "inverted"
    for _ in range(2):
        taken = {site.test for _, site in chosen}
        options = [(file, site) for file, site in found if site.kind == kind and site.test not in taken]
        if options:
            chosen.append(chance.choice(options))
    changed: dict[str, str] = {}
    for file, site in chosen:
        inside = Site(site.test.partition("::")[2], site.line, site.kind)
        changed[file] = language.mutate(changed.get(file, sources[file]), inside, chance)
    return changed, [site for _, site in chosen]
