"""Proof that the tasks of a suite can be trusted, from Python."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from repoassay.api.settings import Names, SuiteLike, checked_isolation, checked_suite, checked_workers, whole
from repoassay.engine import GradingContext, Proof, validate_task
from repoassay.errors import BadInput
from repoassay.grading import check_packages
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import DataState, TaskFolder

__all__ = ["DataCheck", "check_data", "validate"]


def validate(
    suite: SuiteLike,
    *,
    tasks: Names = (),
    repeat: int = 1,
    require_attested: float = 0.0,
    mutants: int = 100,
    workers: int | None = None,
    isolation: str = "namespaces",
) -> Iterator[Proof]:
    """Prove that tasks pass with their solution and fail with everything that is none; yields a proof at a time.

    A task can be trusted when each of its proofs is `sound` and `stable`. Settings are looked at before this returns.

    Args:
        suite: A bundled suite's name, a folder of tasks, or one task's folder.
        tasks: Globs over task ids; all tasks without.
        repeat: How often each proof is run, to show that it is stable.
        require_attested: Bits that passes of tasks that change a repository must be attested with; 0 only reports.
        mutants: Wrong outputs at most that are made from a deliverable's solution and must be refused; more than that
            are sampled, and 0 makes none.
        workers: How many workspaces at a time; by default one a core.
        isolation: `namespaces`, or `none`, which protects nothing.

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
    most = whole("mutants", mutants, 0, 10_000)
    found = checked_suite(suite, tasks)
    check_packages(found.tasks)
    cache = Cache()
    bench = GradingContext(found.repositories, cache, open_sandbox(kind, cache))
    return _proofs(found.tasks, bench, times, require_attested, most, count)


def _proofs(
    folders: tuple[TaskFolder, ...], bench: GradingContext, repeat: int, required: float, mutants: int,
    workers: int,
) -> Iterator[Proof]:  # fmt: skip
    with ThreadPoolExecutor(max_workers=workers) as pool:
        for proofs in pool.map(lambda folder: validate_task(folder, bench, repeat, required, mutants=mutants), folders):
            yield from proofs


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
