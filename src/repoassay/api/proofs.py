"""Proof that the tasks of a suite can be trusted, from Python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from repoassay.api.settings import Names, SuiteLike, checked_isolation, checked_suite, checked_workers, whole
from repoassay.engine import GradingContext, Proof, validate_task
from repoassay.errors import BadInput, InfraFault
from repoassay.grading import check_packages
from repoassay.mutants import StrengthDemand, known_strengths
from repoassay.records import cache_path, write_strengths
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import DataState, TaskFolder
from repoassay.types import Outcome, StrengthSettings, SuiteStrength

__all__ = ["DataCheck", "check_data", "suite_strength", "validate"]

_OUTPUTS = 100
"""Mutants of a deliverable's outputs, unless a number is given."""


def validate(
    suite: SuiteLike,
    *,
    tasks: Names = (),
    repeat: int = 1,
    require_attested: float = 0.0,
    mutants: int | None = None,
    require_strength: float = 0.0,
    workers: int | None = None,
    isolation: str = "namespaces",
    progress: Callable[[str, int, int], None] | None = None,
) -> Iterator[Proof]:
    """Prove that tasks pass with their solution and fail with everything that is none; yields a proof at a time.

    A task can be trusted when each of its proofs is `sound` and `stable`. Settings are looked at before this returns.

    Args:
        suite: A bundled suite's name, a folder of tasks, or one task's folder.
        tasks: Globs over task ids; all tasks without.
        repeat: How often each proof is run, to show that it is stable.
        require_attested: Bits that passes of tasks that change a repository must be attested with; 0 only reports.
        mutants: How many wrong answers are made of each task's right one at most; more are sampled, and 0 makes none.
            By default 100 of outputs, and of solutions what the suite says (20 where it says nothing) for two minutes.
        require_strength: Share of the mutants, 0 to 1, that a task's hidden tests must kill; 0 only reports.
        workers: How many workspaces at a time; by default one a core.
        isolation: `namespaces`, or `none`, which protects nothing.
        progress: Told after each mutant: the task, how many are done, and of how many; from several threads.

    Raises:
        BadInput: A setting is unknown or impossible.
        Unavailable: This machine lacks something.

    Examples:
        >>> proofs = list(ra.validate("starter", tasks="sensor-log-daily"))
        >>> all(proof.sound and proof.stable for proof in proofs)
        True
    """
    times, count, kind = whole("repeat", repeat, 1, 1000), checked_workers(workers), checked_isolation(isolation)
    if not require_attested >= 0:
        raise BadInput(f"require_attested is {require_attested!r}.", "Give a number of bits, or 0.")
    if not 0 <= require_strength <= 1:
        raise BadInput(f"require_strength is {require_strength!r}.", "Give a share from 0 to 1.")
    count_mutants = None if mutants is None else whole("mutants", mutants, 0, 10_000)
    found = checked_suite(suite, tasks)
    check_packages(found.tasks)
    cache = Cache()
    cancel = threading.Event()
    bench = GradingContext(found.repositories, cache, open_sandbox(kind, cache)).ending_with(cancel)
    strength = _demand(found.suite.strength, count_mutants, require_strength)
    prove = partial(
        validate_task, bench=bench, repeat=times, required=require_attested, strength=strength, progress=progress,
        mutants=_OUTPUTS if count_mutants is None else count_mutants,
    )  # fmt: skip
    return _proofs(found.tasks, prove, count, cancel)


def _demand(settings: StrengthSettings, count: int | None, required: float) -> StrengthDemand:
    """What is asked of strength: the suite's settings, unless a number of mutants is given; then for any time."""
    demand = StrengthDemand(settings.mutants, settings.seed, tolerance=settings.tolerance, required=required)
    return demand if count is None else replace(demand, count=count, budget=None)


def _proofs(
    folders: tuple[TaskFolder, ...], prove: Callable[[TaskFolder], list[Proof]], workers: int, cancel: threading.Event
) -> Iterator[Proof]:
    """Proofs in the suite's order; when nobody wants more of them, what is under way is dropped."""

    def proofs_or_fault(folder: TaskFolder) -> list[Proof]:
        """One task whose tests cannot even be started leaves the others to be proven."""
        try:
            return prove(folder)
        except InfraFault as error:
            return [Proof(folder.task.id, "start", (Outcome.INFRA_FAULT,), sound=False, comment=str(error))]

    with ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            for proofs in pool.map(proofs_or_fault, folders):
                yield from proofs
        except BaseException:  # Ctrl-C, or the caller has seen enough
            cancel.set()
            raise


def suite_strength(suite: SuiteLike, *, tasks: Names = (), save: bool = False) -> SuiteStrength:
    """What is known of the strength of tasks' hidden tests, measured by `validate` here or told by the suite.

    Args:
        suite: A bundled suite's name, a folder of tasks, or one task's folder.
        tasks: Globs over task ids; all tasks without.
        save: Write it beside the suite's `suite.toml` as `strength.json`, other tasks' figures kept.

    Raises:
        BadInput: There is no such suite or task, or its folder cannot be written to.
    """
    found = checked_suite(suite, tasks)
    known = known_strengths(found, cache_path())
    if save:
        whole_suite = known_strengths(checked_suite(suite, ()), cache_path())
        write_strengths(found.path, whole_suite, replace=True)
    return known


@dataclass(frozen=True, slots=True)
class DataCheck:
    """How many files a suite keeps apart, and those that are not as its manifest has them, by path."""

    files: int
    wrong: dict[str, DataState] = field(default_factory=dict)


def check_data(suite: SuiteLike, *, tasks: Names = ()) -> DataCheck | None:
    """Compare the data that a suite keeps apart with its manifest; None where it keeps none.

    Raises:
        BadInput: There is no such suite or task, or its data was never fetched.
    """
    found = checked_suite(suite, tasks)
    if found.manifest is None:
        return None
    files = [file for folder in found.tasks for file in found.manifest.of(folder.task.id)]
    states = {file.path: file.state(found.manifest.root) for file in files}
    return DataCheck(len(files), {path: state for path, state in states.items() if state is not DataState.RIGHT})
