"""Proof that hidden tests tell a solution from its absence, time after time: per-test counts and flip rates.

Every run is a fresh interpreter in a fresh sandbox, never a fork of a warm one: forks share what chance gave their
parent, such as the seed of string hashes, and would hide that a test depends on it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum

from repoassay.errors import Interrupted
from repoassay.grading import SCRIPT, HiddenTestRun, run_hidden
from repoassay.sandbox import Sandbox
from repoassay.types import Ended, FileEdit
from repoassay.workspace import PreparedTask

__all__ = ["MOST_LOST", "ProofCase", "ProofFinding", "ProofRole", "ProvenTask", "prove", "prove_in_place"]

_MESSAGE = 2000


class ProofRole(StrEnum):
    """What a test is to a task."""

    MUST_PASS = "fail_to_pass"  # noqa: S105 - a role of tests, no password
    GUARD = "pass_to_pass"
    FLAKY = "flaky"
    FAILS = "fails"
    BREAKS = "breaks"
    SKIPPED = "skipped"


class ProofFinding(StrEnum):
    """The result of proving a task; only a sound task is kept."""

    SOUND = "sound"
    VACUOUS = "vacuous"
    UNSTABLE = "unstable"
    BROKEN = "broken"
    LOSSY = "lossy"
    UNBUILDABLE = "unbuildable"
    SLOW = "slow"
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True)
class ProofCase:
    """One test: its outcome in every run at the base and at the solution, and why it first did not pass there."""

    id: str
    base: tuple[str, ...]
    solution: tuple[str, ...]
    base_message: str = ""
    solution_message: str = ""

    @property
    def role(self) -> ProofRole:
        """What the test can be to the task."""
        if flip_rate(self.base) or flip_rate(self.solution):
            return ProofRole.FLAKY
        if self.solution and set(self.solution) == {"skipped"}:
            return ProofRole.SKIPPED
        before, after = self.base[:1] == ("passed",), self.solution[:1] == ("passed",)
        if after:
            return ProofRole.GUARD if before else ProofRole.MUST_PASS
        return ProofRole.BREAKS if before else ProofRole.FAILS


@dataclass(frozen=True, slots=True)
class ProvenTask:
    """Every test's counts, and what follows from it.

    `unread` are files without a test that could be run, with the reason; `unseen` counts the tests that stand in them.
    More than the share `most_lost` of the tests that are no use refuses the task.
    """

    cases: tuple[ProofCase, ...]
    unread: Mapping[str, str] = field(default_factory=dict)
    unseen: Mapping[str, int] = field(default_factory=dict)
    most_lost: float = 1.0

    def of(self, role: ProofRole) -> tuple[ProofCase, ...]:
        """The tests with this role."""
        return tuple(case for case in self.cases if case.role is role)

    @property
    def lost(self) -> tuple[int, int]:
        """How many tests that should pass with the solution are no use, and of how many; skipped ones do not count."""
        useful = len(self.of(ProofRole.MUST_PASS)) + len(self.of(ProofRole.GUARD))
        whole = len(self.cases) - len(self.of(ProofRole.SKIPPED)) + sum(self.unseen.values())
        return whole - useful, whole

    @property
    def finding(self) -> ProofFinding:
        """A test that the solution breaks, none that it makes pass, or many that are no use refuse the task."""
        lost, whole = self.lost
        if self.of(ProofRole.BREAKS):
            return ProofFinding.BROKEN
        if self.of(ProofRole.MUST_PASS):
            return ProofFinding.LOSSY if lost > self.most_lost * whole else ProofFinding.SOUND
        if self.of(ProofRole.FLAKY):
            return ProofFinding.UNSTABLE
        missing = self.of(ProofRole.FAILS) or self.unseen or not self.of(ProofRole.GUARD)
        return ProofFinding.BROKEN if missing else ProofFinding.VACUOUS


def flip_rate(outcomes: Sequence[str]) -> float:
    """Share of runs that differ from the more frequent of passing and not passing: 0 when stable, at most 0.5."""
    passed = sum(outcome == "passed" for outcome in outcomes)
    return min(passed, len(outcomes) - passed) / len(outcomes) if outcomes else 0.0


def prove(
    layout: PreparedTask,
    edits: Mapping[str, FileEdit | None],
    files: Sequence[str],
    sandbox: Sandbox,
    *,
    times: int,
    workers: int = 1,
    scripts: Sequence[str] = (),
    done: Callable[[], None] = lambda: None,
) -> ProvenTask:
    """Run the tests of `files` at the base and with the solution's `edits`, `times` times each.

    At the base every file runs by itself, since one that cannot be imported there would keep the others from running;
    with the solution all run together, as they do when a submission is graded.

    Args:
        layout: The draft of the task, laid out; its hidden tests are on disk.
        edits: What the solution changes.
        files: Test files below the task's `tests/`.
        sandbox: Where they run.
        times: Runs on each side.
        workers: Sandboxes at a time.
        scripts: Files that are run as a script where pytest finds no test in them.
        done: Told of each finished run.

    Raises:
        InfraFault: When tests cannot be started.
        Interrupted: When the user stops it.
    """
    cancel = threading.Event()

    def run(changes: Mapping[str, FileEdit | None], ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        ran = run_hidden(layout.folder, layout.base, changes, sandbox, layout.environment, ids=ids, cancel=cancel)
        if cancel.is_set():
            raise Interrupted("Stopped.", "Nothing was written.")
        done()
        return _outcomes_of(ran, layout)

    def together(groups: Sequence[Sequence[str]], changes: Mapping[str, FileEdit | None]) -> _Told:
        outcomes: _Told = {}
        for ids in groups:
            outcomes |= run(changes, ids)
        return outcomes

    def side(groups: Sequence[Sequence[str]], changes: Mapping[str, FileEdit | None]) -> list[Future[_Told]]:
        return [pool.submit(together, groups, changes) for _ in range(times)]

    with ThreadPoolExecutor(workers) as pool:
        try:
            found = {file: pool.submit(run, edits, [file]) for file in files}
            whole_ids, unread = _test_arguments({file: future.result() for file, future in found.items()}, scripts)
            after = side([whole_ids] if whole_ids else [], edits)
            before = side([[one] for one in whole_ids], {})
            solved = [future.result() for future in after]
            based = [future.result() for future in before]
        except BaseException:
            cancel.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return ProvenTask(_cases(whole_ids, based, solved), unread)


def prove_in_place(
    layout: PreparedTask,
    edits: Mapping[str, FileEdit | None],
    first: HiddenTestRun,
    missing_counts: Mapping[str, int],
    sandbox: Sandbox,
    *,
    times: int,
    workers: int = 1,
    on_run: Callable[[], None] = lambda: None,
    probe: bool = False,
) -> ProvenTask:
    """Run a repository's own tests at the base and with the solution, `times` times each.

    Args:
        layout: The draft of the task, laid out.
        edits: What the solution changes.
        first: A run with the solution, which counts as one of the `times`.
        missing_counts: How many tests stand in files of which that run reported none.
        sandbox: Where they run.
        times: Runs on each side.
        workers: Sandboxes at a time.
        on_run: Told of each finished run.
        probe: Whether it ends after one run on each side where these show that no further one can make a task of it.

    Raises:
        InfraFault: When tests cannot be started.
        Interrupted: When the user stops it.
    """
    cancel = threading.Event()
    why = (first.report.broken or [first.printed.strip() or "it was never reported"])[0]
    unread = dict.fromkeys(missing_counts, why[-_MESSAGE:])

    whole = [_is_whole(first)]

    def proven(based: Sequence[_Told], solved: Sequence[_Told]) -> ProvenTask:
        cases = _cases((), based, solved)
        if all(whole):  # a name that only a failure at the base had is no test with the solution
            cases = tuple(case for case in cases if "passed" in case.base or set(case.solution) != {"missing"})
        return ProvenTask(cases, unread, dict(missing_counts), MOST_LOST)

    def run(changes: Mapping[str, FileEdit | None]) -> _Told:
        ran = run_hidden(layout.folder, layout.base, changes, sandbox, layout.environment, cancel=cancel)
        if cancel.is_set():
            raise Interrupted("Stopped.", "Nothing was written.")
        on_run()
        whole.extend([_is_whole(ran)] if changes else [])
        return _reported(ran, layout, at_base=not changes)

    solved, based = [_reported(first, layout)], [run({})] if probe else []
    if based and _hopeless(early := proven(based, solved)):
        return early
    with ThreadPoolExecutor(workers) as pool:
        try:
            after = [pool.submit(run, edits) for _ in range(times - len(solved))]
            before = [pool.submit(run, {}) for _ in range(times - len(based))]
            solved += [future.result() for future in after]
            based += [future.result() for future in before]
        except BaseException:
            cancel.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return proven(based, solved)


def _is_whole(ran: HiddenTestRun) -> bool:
    """Whether a run told of every test: none is missing because it, or a file of it, came to no end."""
    report = ran.report
    return ran.exit.ended is Ended.EXITED and report.complete and not report.broken and not report.signs


def _hopeless(early: ProvenTask) -> bool:
    """Whether one run on each side leaves no test that could have to pass, or too few that could count.

    What fails once with the solution, or passes once at the base, is never a test that must pass, whatever comes.
    """
    if not early.of(ProofRole.MUST_PASS):
        return True
    passed = sum(case.solution == ("passed",) for case in early.cases)
    whole = len(early.cases) - len(early.of(ProofRole.SKIPPED)) + sum(early.unseen.values())
    return whole - passed > early.most_lost * whole


MOST_LOST = 0.2
"""The share of a change's own tests that may be no use here; beyond it a task would be weaker than it looks."""


def _reported(ran: HiddenTestRun, layout: PreparedTask, *, at_base: bool = False) -> _Told:
    """What a repository's own tests came to, but for the names a draft stands for them with.

    What passed at the base before its time was over did pass there.
    """
    missing = {test.id for test in ran.report.tests if test.outcome == "missing"}
    outcomes = _outcomes_of(ran, layout)
    if at_base and ran.exit.ended is Ended.TIMED_OUT:
        outcomes |= {test.id: (test.outcome, test.message) for test in ran.report.others}
    return {name: each for name, each in outcomes.items() if name not in missing}


_Told = dict[str, tuple[str, str]]
"""Outcome and message by test id; what was asked for and has no test of its own stands by its own name."""


def _outcomes_of(ran: HiddenTestRun, layout: PreparedTask) -> _Told:
    outcomes: _Told = {test.id: (test.outcome, test.message) for test in (*ran.report.tests, *ran.report.others)}
    outcomes |= dict.fromkeys(ran.report.expected, ("skipped", "It fails as it is expected to, which says nothing."))
    tests = layout.folder.task.grading.tests
    if ran.exit.ended is Ended.TIMED_OUT and tests is not None:
        why = f"The tests did not end within {tests.seconds:g} s."
    elif ran.report.signs:
        why = f"Refused as tampering when graded: {ran.report.signs[0]}."
    else:
        return outcomes
    return {name: ("missing" if outcome == "passed" else outcome, why) for name, (outcome, _) in outcomes.items()}


def _test_arguments(found: Mapping[str, _Told], scripts: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """What to ask for in every run, and files in which nothing could be run, with the reason."""
    ids: list[str] = []
    unread: dict[str, str] = {}
    for file, cases in found.items():
        if set(cases) - {file}:
            ids.append(file)
        elif file in scripts:
            ids.append(f"{file}::{SCRIPT}")
        else:
            unread[file] = cases[file][1]
    return ids, unread


def _cases(ids: Sequence[str], based: Sequence[_Told], solved: Sequence[_Told]) -> tuple[ProofCase, ...]:
    """A case for every test that any run with the solution, or any at the base, reported."""
    whole = {name for name in ids if not name.endswith(f"::{SCRIPT}")}
    names = sorted({name for told in (*solved, *based) for name in told} - whole)

    def outcomes(name: str, runs: Sequence[_Told]) -> tuple[tuple[str, ...], str]:
        file = name.partition("::")[0]
        pairs = [told.get(name) or ("missing", told.get(file, ("", ""))[1]) for told in runs]
        first = next((why for word, why in pairs if word != "passed"), "")
        return tuple(outcome for outcome, _ in pairs), first[-_MESSAGE:]

    cases = []
    for name in names:
        base, base_message = outcomes(name, based)
        solution, solution_message = outcomes(name, solved)
        cases.append(ProofCase(name, base, solution, base_message, solution_message))
    return tuple(cases)
