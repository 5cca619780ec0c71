"""Signals of what a run left: each attempt's head is made in a scratch folder and measured against its task's base.

Attempts of a task share one bench, so that what runs on the base runs once. What is measured is kept at once.
"""

from __future__ import annotations

import glob
import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from repoassay.diffs import PatchError
from repoassay.engine.signal_files import NAME, SignalFile, keep, measured_of, read_measured
from repoassay.errors import BadInput, Interrupted, RepoAssayError
from repoassay.grading import PullRequest, diff_name, head_tree, reference_pull_request
from repoassay.records import RunFolder
from repoassay.sandbox import Cache, Sandbox, refuse_task_images, temporary_folder
from repoassay.signals import Signal, ToolRunner, signals
from repoassay.tasks import TaskFolder, find_suite, read_regular
from repoassay.types import Commits, PlannedTask
from repoassay.workspace import PreparedTask, lay_out

__all__ = ["MeasuredChange", "MeasuredOutcome", "NothingToMeasure", "measure"]

_MOST_DIFF = 256 * 2**20


@dataclass(frozen=True, slots=True)
class MeasuredChange:
    """What is to be measured: an attempt's change, or the task's reference where `attempt` is empty."""

    planned: PlannedTask
    attempt: str = ""
    agent: str = ""
    number: int = 1

    def place(self, run: RunFolder) -> Path:
        """Where its signals are kept."""
        if self.attempt:
            return run.attempt_folder(self.attempt) / NAME
        return run.path / "references" / self.planned.id / NAME


class NothingToMeasure(RepoAssayError):
    """A change has nothing to be measured: it is not there, is empty, or cannot be applied. Nobody's fault of ours."""


@dataclass(frozen=True, slots=True)
class MeasuredOutcome:
    """The result of measuring one change.

    Attributes:
        change: The change.
        measured: What was found; None where `problem` says why there is nothing.
        problem: Why it was not measured; `NothingToMeasure` where there is nothing to measure.
        before: Whether it was measured before and only read.
    """

    change: MeasuredChange
    measured: SignalFile | None = None
    problem: RepoAssayError | None = None
    before: bool = False


@dataclass(slots=True)
class _Table:
    """A task while its changes are measured; `lock` is held until the first of them is, as the others use its base."""

    planned: PlannedTask
    lock: threading.Lock = field(default_factory=threading.Lock)
    warm: bool = False
    layout: PreparedTask | None = None
    bench: ToolRunner | None = None
    reference: bytes | None = None
    problem: RepoAssayError | None = None
    known: dict[str, tuple[Signal, ...]] = field(default_factory=dict)
    """What was found of a diff, by its sha256: attempts may have left the same one."""


def measure(
    run: RunFolder, changes: Sequence[MeasuredChange], sandbox: Sandbox, cache: Cache, *, workers: int = 1,
    again: bool = False, on_measured: Callable[[MeasuredOutcome], None] = lambda _: None,
) -> list[MeasuredOutcome]:  # fmt: skip
    """Measure changes and keep what is found beside each; those measured before are read and not measured again.

    Args:
        run: The run.
        changes: Of tasks that change a repository.
        sandbox: Where everything of the repositories runs.
        cache: Of checkouts and environments.
        workers: How many changes at a time.
        again: Measure all, replacing what was kept.
        on_measured: Called in this thread for each as it is done.

    Returns:
        One for each change, in the order given.

    Raises:
        BadInput: The run was imported without its tasks, or the sandbox runs tasks in their own images.
        Interrupted: At Ctrl-C; what is under way is dropped, what is done is kept.
    """
    if run.plan.origin is not None and not run.plan.suite_folder:
        raise BadInput(
            f"{run.path} was imported without its tasks, whose repositories signals are measured on.",
            "Import it again with --suite SUITE.",
        )
    refuse_task_images(sandbox, "What measures signals")
    bench = _Measuring(run, sandbox, cache, again, threading.Event())
    tables = {change.planned.id: _Table(change.planned) for change in changes}
    places: dict[Future[MeasuredOutcome], int] = {}
    done: dict[int, MeasuredOutcome] = {}
    pool = ThreadPoolExecutor(max_workers=max(1, workers), thread_name_prefix="signals")
    try:
        for place in _order(changes):
            places[pool.submit(bench.one, changes[place], tables[changes[place].planned.id])] = place
        left = set(places)
        while left:
            ready, left = wait(left, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in sorted(ready, key=lambda each: places[each]):
                done[places[future]] = found = future.result()
                on_measured(found)
    except KeyboardInterrupt:
        raise Interrupted(
            f"Stopped; the signals of {len(done)} of {len(changes)} changes are kept.", "Run it again for the others."
        ) from None
    finally:
        bench.cancel.set()
        pool.shutdown(wait=True, cancel_futures=True)
    return [done[place] for place in range(len(changes))]


def _order(changes: Sequence[MeasuredChange]) -> list[int]:
    """The first change of every task, then the second of each, so that few wait for a base that another looks at."""
    seen: dict[str, int] = {}
    ranks = []
    for change in changes:
        ranks.append(seen.get(change.planned.id, 0))
        seen[change.planned.id] = ranks[-1] + 1
    return sorted(range(len(changes)), key=lambda place: (ranks[place], place))


@dataclass(frozen=True, slots=True)
class _Measuring:
    """What all changes are measured with."""

    run: RunFolder
    sandbox: Sandbox
    cache: Cache
    again: bool
    cancel: threading.Event

    def one(self, change: MeasuredChange, table: _Table) -> MeasuredOutcome:
        """Measure one change, or say in a sentence why not."""
        try:
            if not self.again and (known := read_measured(change.place(self.run))) is not None:
                return MeasuredOutcome(change, known, before=True)
            diff = self._diff(change) if change.attempt else None  # before anything is laid out for it
            with table.lock:
                self._prepare(table)
                if not table.warm:
                    measured = self._measure(change, table, diff)
                    table.warm = True
                    return MeasuredOutcome(change, measured)
            return MeasuredOutcome(change, self._measure(change, table, diff))
        except RepoAssayError as error:
            return MeasuredOutcome(change, problem=error)

    def _prepare(self, table: _Table) -> None:
        """Lay the task out, once.

        Raises:
            BadInput: When the task is gone, or is not what it was.
            InfraFault: When its checkout or environment cannot be had.
        """
        if table.problem is not None:
            raise table.problem
        if table.bench is not None:
            return
        self._refuse_stopped()
        try:
            folder, repositories = _task(self.run, table.planned)
            layout = lay_out(folder, repositories, self.cache, self.sandbox)
        except RepoAssayError as error:
            table.problem = error
            raise
        environment = folder.task.environment
        try:
            table.reference = reference_pull_request(folder).diff
        except OSError:
            table.reference = None
        table.layout = layout
        table.bench = ToolRunner(
            sandbox=self.sandbox, environment=layout.environment, roots=environment.path, checks=environment.checks,
            cancel=self.cancel,
        )  # fmt: skip

    def _refuse_stopped(self) -> None:
        if self.cancel.is_set():
            raise Interrupted("It was stopped.")

    def _diff(self, change: MeasuredChange) -> bytes:
        name = diff_name(change.planned.kind)
        try:
            diff = read_regular(self.run.attempt_folder(change.attempt) / "submission" / name, _MOST_DIFF)
        except FileNotFoundError:
            raise NothingToMeasure(f"Attempt {change.attempt} left no diff: it has no submission/{name}.") from None
        except OSError as error:
            raise NothingToMeasure(
                f"The diff of attempt {change.attempt} cannot be read: {error.strerror or error}."
            ) from None
        if not diff.strip():
            raise NothingToMeasure(f"Attempt {change.attempt} left no diff: submission/{name} is empty.")
        return diff

    def _measure(self, change: MeasuredChange, table: _Table, diff: bytes | None) -> SignalFile:
        assert table.layout is not None
        diff = diff if change.attempt else table.reference
        self._refuse_stopped()
        if diff is None:
            raise NothingToMeasure(f"The task {table.planned.id} has no reference.")
        started, digest = time.monotonic(), hashlib.sha256(diff).hexdigest()
        found = table.known.get(digest)
        if found is None:
            found = table.known[digest] = self._signals(change, table, diff)
        measured = measured_of(
            found, attempt=change.attempt, task=table.planned.id, task_digest=table.planned.digest, diff_sha256=digest,
            seconds=time.monotonic() - started, environment=table.layout.environment,
        )  # fmt: skip
        place = change.place(self.run)
        try:
            keep(place, measured, again=self.again)
        except FileExistsError:  # another process was quicker; its word stands
            return read_measured(place) or measured
        except OSError as error:
            raise RepoAssayError(f"{place} cannot be written: {error.strerror or error}.") from None
        return measured

    def _signals(self, change: MeasuredChange, table: _Table, diff: bytes) -> tuple[Signal, ...]:
        assert table.layout is not None and table.bench is not None
        with temporary_folder("signals") as scratch:
            head = Path(scratch, "head")
            head.mkdir()
            try:
                head_tree(PullRequest(diff, "", Commits()), table.layout.base, head)
            except (PatchError, OSError) as error:
                whose = f"attempt {change.attempt}" if change.attempt else f"the reference of {table.planned.id}"
                raise NothingToMeasure(f"The diff of {whose} cannot be applied to the task's base: {error}") from None
            found = signals(table.layout.base, head, diff, table.reference, table.bench)
        self._refuse_stopped()  # some of it may say only that it was cancelled
        return found


def _task(run: RunFolder, planned: PlannedTask) -> tuple[TaskFolder, Path | None]:
    """The task as the run had it, and where its suite keeps repositories.

    Raises:
        BadInput: When it is gone, cannot be read, or has another digest than planned.
    """
    try:
        suite = find_suite(run.plan.suite_folder, only=[glob.escape(planned.id)])
    except BadInput as error:
        raise BadInput(f"The task {planned.id} is not there any more: {error.message}", error.remedy) from None
    suite = suite.released() if run.plan.released else suite
    folder = suite.tasks[0]
    if folder.digest != planned.digest:
        raise BadInput(
            f"The task {planned.id} has changed since the run was planned.",
            "Signals are of the task that was attempted.",
        )
    return folder, suite.repositories
