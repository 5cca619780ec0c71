"""Verdicts on patches, one after the other or many at a time, from Python: reward loops, services, notebooks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self, get_args

from repoassay.api.settings import Amount, SuiteLike, checked_isolation, checked_workers, one_of, whole
from repoassay.engine import FeedbackLedger, GradedSubmission, GradingContext, SubmissionEngine, number
from repoassay.errors import BadInput, Interrupted
from repoassay.formats import RowSupplies, usable_tasks
from repoassay.grading import names
from repoassay.records import VerdictCache
from repoassay.sandbox import Cache, open_sandbox
from repoassay.tasks import SuiteFolder, TaskFolder, find_suite
from repoassay.types import Feedback

__all__ = ["Grader"]


class Grader:
    """Grades patches, each in an isolated workspace of its own. A context manager; usable from any thread.

    Args:
        dataset: A file of rows: JSON, JSONL, parquet or arrow. Patches for rows that cannot be tasks are answered with
            a fault of ours, with the reason.
        suite: Instead: the tasks of a suite that change a repository.
        mirrors: Repository URL -> local folder or git bundle that it is taken from.
        mirrors_folder: A folder of them: `OWNER--NAME.bundle`, `OWNER+NAME` or `OWNER/NAME`.
        environments: A folder of rows' frozen environments, `ID.yml`.
        workers: How many patches at a time; by default one a core.
        timeout: Seconds a patch's tests may take, instead of the tasks' own limit.
        repeat: How often each patch is graded.
        lenient: Let up to 2 lines of context at either end of a hunk differ.
        feedback: How much answers tell: verdict, counts, tests or full.
        require_attested: Bits that a pass must be attested with to count; 0 takes doubted ones too.
        cache: Whether a known verdict is used again.
        run_always: Run tests even where a trace of their base shows that they never look at what a patch changes.
        isolation: `namespaces`, or `none`, which protects nothing.
        executor: `local`, or `ray[://HOST:PORT]`, `slurm://NODES` or a plug-in's: the nodes that judge. `workers` are
            then those of each node.

    Raises:
        BadInput: A setting is unknown or impossible, or a row cannot be used.
        Unavailable: This machine lacks something.

    Examples:
        >>> with ra.Grader(suite="starter", workers=2) as grader:
        ...     answer = grader.submit("edit-ledger-monthly", "")
        >>> answer.verdict.outcome.value
        'no_output'
    """

    def __init__(
        self,
        dataset: str | Path | None = None,
        *,
        suite: SuiteLike | None = None,
        mirrors: Mapping[str, str | Path] | None = None,
        mirrors_folder: str | Path | None = None,
        environments: str | Path | None = None,
        workers: int | None = None,
        timeout: Amount | None = None,
        repeat: int = 1,
        lenient: bool = False,
        feedback: Feedback = "verdict",
        require_attested: float = 0.0,
        cache: bool = True,
        run_always: bool = False,
        isolation: str = "namespaces",
        executor: str = "local",
    ) -> None:
        if (dataset is None) == (suite is None):
            raise BadInput("Give either a dataset or a suite.", "One of them says which tasks there are.")
        if not require_attested >= 0:
            raise BadInput(f"require_attested is {require_attested!r}.", "Give a number of bits, or 0.")
        one_of("feedback", feedback, get_args(Feedback))
        count, kind, times = checked_workers(workers), checked_isolation(isolation), whole("repeat", repeat, 1, 1000)
        each = count if executor == "local" or workers is not None else None
        seconds = float(number("timeout", str(timeout))) if timeout is not None else None
        store = Cache()
        supplies = RowSupplies(
            {url: str(path) for url, path in (mirrors or {}).items()},
            None if mirrors_folder is None else Path(mirrors_folder),
            None if environments is None else Path(environments),
        )
        tasks, refused, repositories = _tasks(dataset, suite, supplies, store.path / "rows")
        bench = GradingContext(repositories, store, open_sandbox(kind, store), timeout=seconds)
        known = VerdictCache(store.path / "verdicts.sqlite") if cache else None
        self._engine = SubmissionEngine(
            tasks, bench, each, known, times, lenient, ledger=FeedbackLedger(feedback), required=require_attested,
            refused=refused, executor=executor, run_always=run_always,
        )  # fmt: skip
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="grader")
        self._closing = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up what is under way and end every process; may be called twice."""
        self._closing.set()
        self._pool.shutdown(cancel_futures=True)
        self._engine.close()

    @property
    def tasks(self) -> Mapping[str, TaskFolder]:
        """Tasks by the id that patches name them by."""
        return self._engine.tasks

    def task(self, id: str) -> TaskFolder:
        """A task; raises `BadInput` naming the nearest when there is none."""
        return self._engine.task(id)

    def check(self, id: str) -> None:
        """Raise `BadInput`, naming the nearest, when there is no task and no row of an id."""
        self._engine.check(id)

    def remember(self, answers: Mapping[str, int]) -> None:
        """Count answers that were given before, elsewhere or by an earlier process, against the bits of later passes.

        Args:
            answers: Task id -> number of answers; ids of rows that are no tasks are passed over.
        """
        known = {id: count for id, count in answers.items() if id in self.tasks}
        self._engine.ledger.remember({self.task(id).digest: count for id, count in known.items()})

    def submit(self, id: str, patch: str | bytes, *, cancel: threading.Event | None = None) -> GradedSubmission:
        """Grade one patch and wait for the answer.

        Args:
            id: Id of the task.
            patch: A diff.
            cancel: Set it, from another thread, to give the patch up.

        Raises:
            BadInput: There is no such task.
            Interrupted: By Ctrl-C, `cancel`, or because the grader was closed.
        """
        event = cancel or threading.Event()
        future = self._start(id, patch, event)
        try:
            answer = future.result()
        except KeyboardInterrupt as error:
            event.set()
            raise Interrupted("The patch was given up.") from error
        return self._finished(answer, event)

    def submit_many(
        self, submissions: Iterable[tuple[str, str | bytes]], *, cancel: threading.Event | None = None
    ) -> Iterator[GradedSubmission]:
        """Grade many patches, `workers` at a time; yields their answers in their order.

        Args:
            submissions: Pairs of task id and diff; may be endless.
            cancel: Set it to give up what is under way; nothing more is yielded then.

        Raises:
            BadInput: A task does not exist; patches before it were graded.
            Interrupted: By Ctrl-C.
        """
        event = cancel or threading.Event()
        try:
            yield from self._engine.grade_many(submissions, event)
        except KeyboardInterrupt as error:
            raise Interrupted("The patches were given up.") from error

    async def asubmit(self, id: str, patch: str | bytes) -> GradedSubmission:
        """Grade one patch without blocking the event loop; when the task that waits is cancelled, it is given up.

        Raises:
            BadInput: There is no such task.
        """
        event = threading.Event()
        try:
            answer = await asyncio.wrap_future(self._start(id, patch, event))
        except asyncio.CancelledError:
            event.set()
            raise
        return self._finished(answer, event)

    def _start(self, id: str, patch: str | bytes, cancel: threading.Event) -> Future[GradedSubmission]:
        self._engine.check(id)
        if self._closing.is_set():
            raise Interrupted("The grader is closed.")
        either = _Either(cancel, self._closing)
        if self._engine.executor != "local":
            return self._engine.start(id, patch, either)
        return self._pool.submit(self._engine.grade, id, patch, either)

    def _finished(self, answer: GradedSubmission, cancel: threading.Event) -> GradedSubmission:
        if cancel.is_set() or self._closing.is_set():
            raise Interrupted("The patch was given up.")
        return answer


class _Either(threading.Event):
    """Set when one of two events is."""

    def __init__(self, first: threading.Event, second: threading.Event) -> None:
        super().__init__()
        self._first, self._second = first, second

    def is_set(self) -> bool:
        return self._first.is_set() or self._second.is_set()


def _tasks(
    dataset: str | Path | None, suite: SuiteLike | None, supplies: RowSupplies, place: Path
) -> tuple[Mapping[str, TaskFolder], Mapping[str, str], Path | None]:
    """The tasks by id, why rows are none, and where repositories of a suite lie."""
    if dataset is not None:
        found = usable_tasks(Path(dataset), place, supplies)
        return found.tasks, found.refused, None
    assert suite is not None
    read = suite if isinstance(suite, SuiteFolder) else find_suite(suite, metrics=names())
    return {each.task.id: each for each in read.tasks if each.task.kind.changes_repository}, {}, read.repositories
