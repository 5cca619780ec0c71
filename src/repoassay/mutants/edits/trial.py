"""Trial of a task's hidden tests by mutants of its solution, each graded as a submission would be, cheapest first."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import repoassay
from repoassay.diffs import PatchError, apply_patch, read_patch
from repoassay.errors import InfraFault
from repoassay.grading import (
    HiddenTestExamination,
    HiddenTestSubject,
    Oracle,
    WarmPool,
    can_run_node,
    examine,
    setup_of,
)
from repoassay.mutants.edits.draw import draw, solution_files
from repoassay.mutants.edits.mutant import Mutant
from repoassay.mutants.edits.strength import StrengthStore, strength_of, trial_of
from repoassay.sandbox import Cache, Sandbox
from repoassay.tasks import TaskFolder, read_regular
from repoassay.types import Ended, FileEdit, MutantTrial, TaskStrength
from repoassay.workspace import PreparedTask

__all__ = ["StrengthDemand", "measure_strength"]

_MAX_DIFF = 256 * 2**20
_TIMES, _MORE = 10.0, 5.0
"""A mutant may take so many times what the solution takes, and so many seconds more."""


@dataclass(frozen=True, slots=True)
class StrengthDemand:
    """How strength is to be measured, and what is asked of it.

    Attributes:
        count: Mutants of a task at most; with 0 none is made.
        seed: By which they are drawn.
        budget: Seconds after which no further mutant of a task is begun; None for no such limit.
        tolerance: A task of which a smaller share is killed is weak.
        required: A task of which a smaller share is killed is refused.
    """

    count: int = 20
    seed: int = 0
    budget: float | None = 120.0
    tolerance: float = 0.8
    required: float = 0.0


def measure_strength(
    layout: PreparedTask,
    sandbox: Sandbox,
    cache: Cache,
    oracle: Oracle,
    demand: StrengthDemand,
    cancel: threading.Event | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> TaskStrength:
    """Mutate a task's solution and run its hidden tests on each mutant; what is known from before is not run again.

    Args:
        layout: The task, laid out.
        sandbox: Where tests run.
        cache: Where what became of mutants is kept, apart from verdicts.
        oracle: Compares values outside the sandbox.
        demand: How many mutants, and for how long.
        cancel: Set to end early.
        progress: Told the task, how many mutants are done, and of how many.

    Raises:
        InfraFault: When the task's own solution does not pass here.
    """
    folder, environment, grader = layout.folder, layout.environment.name, _grader()
    task_strength = TaskStrength(task=folder.task.id, task_digest=folder.digest, grader=grader, seed=demand.seed)
    if why := _nothing_to_try(folder):
        return task_strength.model_copy(update={"why": why})
    store = StrengthStore(cache.path)
    journal = store.trials(folder.digest, environment, grader)
    known = {trial.name: trial for trial in journal.trials if trial.fate != "fault"}
    solution = _solution(layout)
    mutants = draw(solution, solution_files(solution, layout.base, _of_tests(layout)), demand.count, demand.seed)
    task_strength = task_strength.model_copy(update={"drawn": len(mutants)})

    def strength() -> TaskStrength:
        found = strength_of(task_strength, [known[mutant.name] for mutant in mutants if mutant.name in known])
        store.put(found, journal.model_copy(update={"trials": tuple(known.values())}))
        return found

    waiting = [mutant for mutant in mutants if mutant.name not in known]
    with _MutantBench(layout, solution, sandbox, cache, oracle, cancel) if waiting else nullcontext() as bench:
        started = time.monotonic()
        for mutant in waiting:
            late = demand.budget is not None and time.monotonic() - started > demand.budget
            if bench is None or late or (cancel is not None and cancel.is_set()):
                break
            known[mutant.name] = bench.tried(mutant)
            strength()
            if progress is not None:
                progress(folder.task.id, sum(each.name in known for each in mutants), len(mutants))
    return strength()


def _nothing_to_try(folder: TaskFolder) -> str:
    """Why a task has no mutants; empty where it may have."""
    tests = folder.task.grading.tests
    if tests is None:
        return "its steps are each judged by themselves" if folder.task.steps else "it has no hidden tests"
    if not (folder.solution / "changes.diff").is_file():
        return "it has no solution"
    return can_run_node() or "" if tests.runner == "node" else ""


def _grader() -> str:
    """What graded mutants, and by which operators they are made."""
    own = b"\0".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return f"repoassay/{repoassay.__version__} mutants/{hashlib.sha256(own).hexdigest()[:12]}"


def _solution(layout: PreparedTask) -> Mapping[str, FileEdit | None]:
    try:
        diff = read_regular(layout.folder.solution / "changes.diff", _MAX_DIFF)
        return apply_patch(read_patch(diff), layout.base).edits
    except (OSError, PatchError) as error:
        raise InfraFault(f"The task {layout.folder.task.id} has no solution that applies: {error}") from error


def _of_tests(layout: PreparedTask) -> Callable[[str], bool] | None:
    """Which paths a submission may not change; None where only their names tell."""
    tests = layout.folder.task.hidden_tests
    return setup_of(layout.folder, layout.base).holds if tests.runner == "repository" else None


class _MutantBench:
    """Where mutants of one task are tried; to be entered, and left when done.

    Raises:
        InfraFault: On entering, when the task's solution does not pass here.
    """

    def __init__(
        self, layout: PreparedTask, solution: Mapping[str, FileEdit | None], sandbox: Sandbox, cache: Cache,
        oracle: Oracle, cancel: threading.Event | None,
    ) -> None:  # fmt: skip
        folder = layout.folder
        tests = folder.task.hidden_tests
        self._in_place = tests.runner == "repository"
        expected = frozenset[str]()
        if self._in_place:
            proof = oracle.proof(folder, layout.base, layout.environment)
            folder, expected = proof.proven(folder), proof.expected
        self._oracle, self._reference = oracle, oracle.reference(folder, layout.base, layout.environment)
        self._pool = None
        if tests.runner == "pytest" and sandbox.name == "namespaces":
            self._pool = WarmPool(cache, slots=1, limits=folder.task.limits)
        subject = HiddenTestSubject(
            folder, layout.base, layout.environment, solution, sandbox, cancel, self._pool, expected=expected
        )
        self._subject = subject
        self._stages = _stages(folder)

    def __enter__(self) -> Self:
        try:
            self._stages = [(ids, self._limit(ids)) for ids, _ in self._stages]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.close()

    def _limit(self, ids: Sequence[str]) -> float:
        """Seconds that a mutant may take for these tests, from what the solution takes."""
        tests = self._subject.folder.task.hidden_tests
        ran = examine(self._subject, self._reference, self._oracle, ids)
        if why := _refusal(ran):
            task = self._subject.folder.task.id
            raise InfraFault(f"The solution of {task} does not pass here, so no mutant of it can be judged: {why}.")
        return min(tests.seconds, _TIMES * ran.ran.exit.wall + _MORE)

    def tried(self, mutant: Mutant) -> MutantTrial:
        """Run the tests that decide, then the others, until one does not pass."""
        started = time.monotonic()
        for ids, seconds in self._stages:
            subject = replace(self._subject, folder=_limited(self._subject.folder, seconds), edits=mutant.edits)
            try:
                ran = examine(subject, self._reference, self._oracle, ids)
            except InfraFault as fault:
                return trial_of(mutant, "fault", str(fault), time.monotonic() - started)
            if ran.ran.exit.ended is Ended.TIMED_OUT:
                return trial_of(mutant, "timed_out", f"longer than {seconds:.0f} s", time.monotonic() - started)
            if why := _refusal(ran):
                return trial_of(mutant, "killed", why, time.monotonic() - started)
        return trial_of(mutant, "survived", "", time.monotonic() - started)


def _stages(folder: TaskFolder) -> list[tuple[tuple[str, ...], float]]:
    """Tests by the order in which they are run: in place those that decide are asked alone before whole files run."""
    tests = folder.task.hidden_tests
    if tests.runner == "repository" and tests.pass_to_pass:
        return [(tests.fail_to_pass, 0.0), ((), 0.0)]
    return [((), 0.0)]


def _limited(folder: TaskFolder, seconds: float) -> TaskFolder:
    tests = folder.task.hidden_tests
    grading = folder.task.grading.model_copy(update={"tests": tests.model_copy(update={"seconds": seconds})})
    return replace(folder, task=folder.task.model_copy(update={"grading": grading}))


def _refusal(ran: HiddenTestExamination) -> str:
    """Why a run is no pass; empty for a pass."""
    if ran.ran.exit.ended is Ended.TIMED_OUT:
        return "its tests run out of time"
    bad = next((test for test in ran.tests if test.outcome != "passed"), None)
    if bad is not None:
        return f"{bad.id}: {bad.outcome}"
    if not ran.ran.report.complete:
        return "the tests ended early"
    return ran.signs[0] if ran.signs else ""
