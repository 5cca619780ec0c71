"""The submission environment (RES-Q, section 3.3): patches in, verdicts out, each in isolation, many at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import repoassay
from repoassay.engine.answer import GradedSubmission
from repoassay.engine.feedback import FeedbackLedger, ruled_by
from repoassay.engine.grading_context import GradingContext
from repoassay.engine.submission_cluster import (
    ClusterJudge,
    JudgedSubmission,
    SubmissionSettings,
    submission_setup,
)
from repoassay.errors import BadInput, InfraFault, Unavailable
from repoassay.executors import Cluster, answers_in_order, find_executor
from repoassay.grading import BaseTraces, WarmPool, fault, grade_edit, name_isolation, no_task
from repoassay.records import VerdictCache, verdict_key
from repoassay.spans import stage_span
from repoassay.tasks import TaskFolder
from repoassay.text import quote, suggest
from repoassay.types import Limits, Verdict
from repoassay.workspace import PreparedTask, lay_out

__all__ = ["SubmissionEngine"]

_GRADING = "values-2"
"""How edits are judged; a verdict reached in another way is not used again."""
_PENDING, _PENDING_ON_NODES = 4, 16
"""Submissions a worker that may be under way or wait for one before them; nodes are given several at once."""


@dataclass(slots=True)
class SubmissionEngine:
    """Grades patches on tasks.

    Args:
        tasks: Tasks by the id submissions name them by.
        bench: Sandbox, cache, bundled repositories; `timeout` overrides the tasks' own limits (seconds).
        workers: How many submissions at a time.
        known: Verdicts by what they rest on; None to grade everything.
        repeat: How often each submission is graded.
        lenient: Whether hunks may be applied without some of their context; every verdict says so.
        warm: Whether to fork from prefork servers, as is fast; without namespaces there are none.
        ledger: How much submitters learn of verdicts, and what they know already.
        required: Bits that a pass must be attested with to count as one; 0 takes doubted and plain passes too.
        refused: Ids of rows that are no tasks, with the reasons: patches for them are answered with a fault of ours.
        executor: `local`, or the executor whose nodes judge; `workers` are then each node's, None for one a core.
        run_always: Whether tests run even on patches that change nothing they look at, as the trace of their base says.
        limits: The most that one job may take; by default the most that one of `tasks` may.

    Raises:
        BadInput: There is no such executor.
        Unavailable: Its nodes cannot be had.
    """

    tasks: Mapping[str, TaskFolder]
    bench: GradingContext
    workers: int | None = 1
    known: VerdictCache | None = None
    repeat: int = 1
    lenient: bool = False
    warm: bool = True
    ledger: FeedbackLedger = field(default_factory=FeedbackLedger)
    required: float = 0.0
    refused: Mapping[str, str] = field(default_factory=dict)
    executor: str = "local"
    limits: Limits | None = None
    run_always: bool = False
    traces: BaseTraces | None = field(default=None, init=False)
    _cluster: Cluster | None = None
    _judge: ClusterJudge | None = None
    _pool: WarmPool | None = None
    _layouts: dict[str, PreparedTask] = field(default_factory=dict)
    _laying: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        limits = self.limits or _most(self.tasks.values())
        if self.executor != "local":
            bench = self.bench
            settings = SubmissionSettings(
                isolation=bench.sandbox.name, timeout=bench.timeout, repeat=self.repeat, lenient=self.lenient,
                warm=self.warm, limits=limits, run_always=self.run_always,
            )  # fmt: skip
            self._cluster = find_executor(self.executor).open(submission_setup(settings), self.workers)
            self._judge = ClusterJudge(self._cluster, bench)
        elif self.warm and self.bench.sandbox.name == "namespaces":
            self._pool = WarmPool(self.bench.cache, slots=self.capacity, limits=limits)
            self.traces = None if self.run_always else BaseTraces(self.bench.cache)

    @property
    def capacity(self) -> int:
        """Submissions that are judged at a time."""
        return self._judge.capacity if self._judge else self.workers or 1

    def close(self) -> None:
        """End every prefork server, and let go of every node."""
        if self._pool:
            self._pool.close()
        if self._cluster:
            self._cluster.close()
        self.bench.oracle.close()

    def __enter__(self) -> SubmissionEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def task(self, name: str) -> TaskFolder:
        """A task by the id submissions use; raises `BadInput` naming the nearest when there is none."""
        found = self.tasks.get(name)
        if found is None:
            raise BadInput(f"There is no task {quote(name)}.", suggest(name, list(self.tasks)))
        return found

    def check(self, name: str) -> None:
        """Raise `BadInput`, naming the nearest, when there is neither a task nor a refused row of an id."""
        if name not in self.refused:
            self.task(name)

    def checkout(self, name: str) -> Path:
        """The checkout of a task's base commit, made once; read-only.

        Raises:
            BadInput: When there is no such task.
            InfraFault: When the task cannot be prepared.
        """
        return self._layout(name, self._timed(self.task(name))).base

    def worth(self, name: str) -> float:
        """Bits that a pass of a task can be attested with before anything is told of it; 0 where it cannot be.

        Raises:
            BadInput: When there is no such task.
            InfraFault: When the task cannot be prepared, or its solution does not pass here.
        """
        folder = self._timed(self.task(name))
        layout = self._layout(name, folder)
        reference = self.bench.oracle.reference(folder, layout.base, layout.environment)
        return reference.total if reference else 0.0

    def grade(self, name: str, patch: str | bytes, cancel: threading.Event | None = None) -> GradedSubmission:
        """Grade one patch.

        What was given up by `cancel` is answered with a fault of ours, told nobody, kept nowhere and charged to nobody.

        Raises:
            BadInput: When there is no such task.
        """
        if self._judge is not None:
            return self.start(name, patch, cancel).result()
        return self._tell(self._grade(name, patch, cancel))

    def start(self, name: str, patch: str | bytes, cancel: threading.Event | None = None) -> Future[GradedSubmission]:
        """Have the nodes of the executor grade one patch; the future raises as `grade` does. No thread waits for it."""
        return self._start(name, patch, cancel, self._tell)

    def _grade(self, name: str, patch: str | bytes, cancel: threading.Event | None) -> GradedSubmission:
        """The answer before it is cut to what the submitter may know."""
        if name in self.refused:
            return GradedSubmission(name, no_task(name, self.refused[name]))
        folder, data = self.task(name), _bytes(patch)
        try:
            if self._remembers and (kept := self._cached_answer(name, data, self.environment(name))):
                return kept
            return self._settled(name, data, self.judge(name, data, cancel), cancel)
        except (InfraFault, Unavailable) as error:
            return GradedSubmission(name, fault(folder, error))

    def _start(
        self, name: str, patch: str | bytes, cancel: threading.Event | None,
        tell: Callable[[GradedSubmission], GradedSubmission],
    ) -> Future[GradedSubmission]:  # fmt: skip
        assert self._judge is not None
        if name in self.refused or name not in self.tasks:
            answer: Future[GradedSubmission] = Future()
            try:
                self.check(name)
                answer.set_result(GradedSubmission(name, no_task(name, self.refused[name])))
            except BadInput as error:
                answer.set_exception(error)
            return answer
        folder, data = self.task(name), _bytes(patch)

        def find_known(environment: str) -> GradedSubmission | None:
            kept = self._cached_answer(name, data, environment)
            return kept and tell(kept)

        return self._judge.answer(
            folder, data, cancel,
            find_known=find_known if self._remembers else None,
            make_answer=lambda found: tell(self._settled(name, data, found, cancel)),
            make_fault=lambda error: GradedSubmission(name, fault(folder, error)),
        )  # fmt: skip

    @property
    def _remembers(self) -> bool:
        return self.known is not None and self.repeat == 1

    def _cached_answer(self, name: str, patch: bytes, environment: str) -> GradedSubmission | None:
        """The answer where the verdict is known."""
        kept = self.known.get(self._key(name, patch, environment)) if self.known is not None else None
        return GradedSubmission(name, kept, cached=True) if kept else None

    def _settled(
        self, name: str, patch: bytes, found: JudgedSubmission, cancel: threading.Event | None
    ) -> GradedSubmission:
        """The answer to what was judged, which is kept."""
        if cancel and cancel.is_set():
            return GradedSubmission(name, fault(self.task(name), InfraFault("The grading was given up.")))
        if self.known is not None:
            self.known.put(self._key(name, patch, found.environment), found.verdicts[0])
        return GradedSubmission(name, found.verdicts[0], verdicts=found.verdicts if self.repeat > 1 else ())

    def _key(self, name: str, patch: bytes, environment: str) -> str:
        how = f"{_GRADING} {self.bench.sandbox.name}" + (" lenient" if self.lenient else "")
        how += " run-always" if self.run_always else ""
        grader = f"repoassay/{repoassay.__version__} {how}"
        return verdict_key(self.task(name).digest, patch, environment, grader)

    def judge(self, name: str, patch: bytes, cancel: threading.Event | None = None) -> JudgedSubmission:
        """Judge a patch here, whatever is known or may be told.

        Raises:
            BadInput: When there is no such task.
            InfraFault: When it cannot be laid out.
        """
        folder = self._timed(self.task(name))
        with stage_span("layout"):
            layout = self._layout(name, folder)
        verdicts = tuple(self._run(folder, layout, patch, cancel) for _ in range(self.repeat))
        return JudgedSubmission.model_construct(environment=layout.environment.name, verdicts=verdicts)

    def environment(self, name: str) -> str:
        """The digest of a task's environment, which is made here where it is not there. Raises as `judge` does."""
        with stage_span("layout"):
            return self._layout(name, self._timed(self.task(name))).environment.name

    def grade_many(
        self, submissions: Iterable[tuple[str, str | bytes]], cancel: threading.Event | None = None
    ) -> Iterator[GradedSubmission]:
        """Yield an answer for every submission, in their order, holding no more of them than are under way.

        What an answer is worth depends on those before it, so they are told in that order too, whoever was faster.

        Args:
            submissions: Task ids and patches; may be endless.
            cancel: Set to give up: what is under way is dropped, and nothing more is yielded.
        """
        event = cancel or threading.Event()
        most = _PENDING_ON_NODES if self._judge else _PENDING
        with ThreadPoolExecutor(1 if self._judge else self.capacity) as pool:

            def begin(name: str, patch: str | bytes) -> Future[GradedSubmission]:
                if self._judge is not None:
                    return self._start(name, patch, event, lambda answer: answer)
                return pool.submit(self._grade, name, patch, event)

            futures = ((name, begin(name, patch)) for name, patch in submissions)
            try:
                with contextlib.closing(answers_in_order(futures, lambda: most * self.capacity)) as answers:
                    for _, answer in answers:
                        found = answer.result()
                        if event.is_set():
                            return
                        yield self._tell(found)
            except KeyboardInterrupt:
                event.set()  # else what is under way would be waited for
                raise

    def _run(self, folder: TaskFolder, layout: PreparedTask, patch: bytes, cancel: threading.Event | None) -> Verdict:
        verdict = grade_edit(
            folder, patch, self.bench.sandbox, base=layout.base, environment=layout.environment,
            oracle=self.bench.oracle, cancel=cancel, pool=self._pool, lenient=self.lenient, traces=self.traces,
        )  # fmt: skip
        return name_isolation(verdict, self.bench.sandbox)

    def _tell(self, answer: GradedSubmission) -> GradedSubmission:
        """The answer as the submitter gets it; a pass that is not assured as required is none, and nobody's fault."""
        verdicts = tuple(
            name_isolation(ruled_by(self.ledger.tell(each), self.required), self.bench.sandbox)
            for each in answer.verdicts or (answer.verdict,)
        )
        return replace(answer, verdict=verdicts[0], verdicts=verdicts if answer.verdicts else ())

    def _timed(self, folder: TaskFolder) -> TaskFolder:
        """The task with the time limit in force."""
        tests = folder.task.grading.tests
        if self.bench.timeout is None or tests is None:
            return folder
        grading = folder.task.grading.model_copy(
            update={"tests": tests.model_copy(update={"seconds": self.bench.timeout})}
        )
        return replace(folder, task=folder.task.model_copy(update={"grading": grading}))

    def _layout(self, name: str, folder: TaskFolder) -> PreparedTask:
        """The task laid out, once; others that want it meanwhile wait."""
        found = self._layouts.get(name)
        if found is not None:
            return found
        with self._lock:
            laying = self._laying.setdefault(name, threading.Lock())
        with laying:
            found = self._layouts.get(name)
            if found is None:
                if not folder.task.kind.changes_repository:
                    raise InfraFault(f"The task {name} is not graded by a patch.")
                if folder.task.steps:
                    raise InfraFault(f"The task {name} has several steps, and is not graded by one patch.")
                found = lay_out(folder, self.bench.repositories, self.bench.cache, self.bench.sandbox)
                self._layouts[name] = found
            return found


def _bytes(patch: str | bytes) -> bytes:
    return patch if isinstance(patch, bytes) else patch.encode("utf-8", "surrogatepass")


def _most(folders: Iterable[TaskFolder]) -> Limits:
    """The most that a job of one of some tasks may take."""
    limits = [folder.task.limits for folder in folders]
    return Limits(
        memory=max((each.memory for each in limits), default=Limits().memory),
        disk=max((each.disk for each in limits), default=Limits().disk),
        processes=max((each.processes for each in limits), default=Limits().processes),
    )
