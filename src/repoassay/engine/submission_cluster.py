"""Having submissions judged by the nodes of a cluster: what a node is given and answers, and the caller's side of it.

A node only judges. What is known already, and what submitters are told, is decided where the submissions came from.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from pydantic import ConfigDict

from repoassay.engine.grading_context import GradingContext
from repoassay.engine.task_parcels import TaskParcels
from repoassay.errors import InfraFault, RepoAssayError, Unavailable
from repoassay.executors import Cluster, NodeJob, NodeSetup, submit_again
from repoassay.tasks import TaskFolder
from repoassay.types import Limits, Record, Verdict

__all__ = [
    "ClusterJudge",
    "JudgedSubmission",
    "SubmissionJob",
    "SubmissionSettings",
    "environment_digest",
    "submission_setup",
    "verify_task",
]

_Answer = TypeVar("_Answer")
_WORK = "repoassay.engine.submission_node:SubmissionNode"


class SubmissionJob(Record):
    """A patch to be judged; without one, its task is laid out.

    `parcel` is the key of the task's parcel. Bytes are base64 in JSON.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    parcel: str
    patch: bytes | None = None


class JudgedSubmission(Record):
    """The environment a patch was judged in, by its digest, and the verdicts on it, as often as it was judged."""

    environment: str
    verdicts: tuple[Verdict, ...] = ()


class SubmissionSettings(Record):
    """How nodes judge; see `SubmissionEngine`. `limits` are the most that one of their tasks may take."""

    isolation: str
    timeout: float | None
    repeat: int
    lenient: bool
    warm: bool
    limits: Limits
    run_always: bool = False


def submission_setup(settings: SubmissionSettings) -> NodeSetup:
    """The setup of nodes that judge submissions."""
    return NodeSetup(_WORK, settings.model_dump(mode="json"), JudgedSubmission)


class ClusterJudge:
    """Has submissions judged by a cluster whose nodes were made by `submission_setup`.

    Args:
        cluster: The nodes; not closed by this.
        bench: Where repositories lie and checkouts of local ones are made.
    """

    def __init__(self, cluster: Cluster, bench: GradingContext) -> None:
        self._cluster = cluster
        self._parcels = TaskParcels(bench.repositories, bench.cache)
        self._environments: dict[str, Future[JudgedSubmission]] = {}
        self._lock = threading.Lock()

    @property
    def capacity(self) -> int:
        """Submissions that are judged at a time."""
        return self._cluster.capacity

    def judge(
        self, folder: TaskFolder, patch: bytes | None, cancel: threading.Event | None = None
    ) -> Future[JudgedSubmission]:
        """Have a patch judged; without one, have the task laid out.

        Raises:
            InfraFault: The task's repository lies here, and cannot be read.
        """
        parcels = self._parcels.of(folder)
        job = SubmissionJob(parcel=parcels[0].key, patch=patch)
        return submit_again(self._cluster, NodeJob(job, environment_digest(folder), parcels), cancel)

    def answer(
        self, folder: TaskFolder, patch: bytes, cancel: threading.Event | None, *,
        find_known: Callable[[str], _Answer | None] | None,
        make_answer: Callable[[JudgedSubmission], _Answer], make_fault: Callable[[RepoAssayError], _Answer],
    ) -> Future[_Answer]:  # fmt: skip
        """Have a patch judged, unless an answer is kept, without a thread that waits.

        Args:
            folder: The task.
            patch: A diff.
            cancel: Set to give it up.
            find_known: Looks for an answer that is known, in an environment by its digest; None to judge always.
            make_answer: Makes the answer to what was judged.
            make_fault: Makes the answer to a fault of ours.
        """
        answer: Future[_Answer] = Future()
        answer.set_running_or_notify_cancel()

        def step(work: Callable[[], _Answer | None]) -> None:
            try:
                try:
                    found = work()
                except (InfraFault, Unavailable) as error:
                    found = make_fault(error)
            except BaseException as error:  # noqa: BLE001 - carried to whoever waits
                answer.set_exception(error)
                return
            if found is not None:
                answer.set_result(found)

        def give() -> None:
            judged = self.judge(folder, patch, cancel)
            judged.add_done_callback(lambda done: step(lambda: make_answer(_checked(done.result(), folder))))

        def look(environment: str) -> _Answer | None:
            found = find_known(environment) if find_known else None
            if found is None:
                give()
            return found

        def begin() -> None:
            if find_known is None:
                give()
            else:
                environment = self.environment(folder)
                environment.add_done_callback(lambda done: step(lambda: look(done.result().environment)))

        step(begin)
        return answer

    def environment(self, folder: TaskFolder) -> Future[JudgedSubmission]:
        """The task's environment, which a node lays out when it is first asked for; asked again when that failed."""
        with self._lock:
            found = self._environments.get(folder.digest)
            if found is None or (found.done() and found.exception() is not None):
                found = self._environments[folder.digest] = self.judge(folder, None)
            return found


def _checked(found: JudgedSubmission, folder: TaskFolder) -> JudgedSubmission:
    if not found.verdicts:
        raise InfraFault("A node answered without a verdict.")
    for verdict in found.verdicts:
        verify_task(verdict, folder)
    return found


def verify_task(verdict: Verdict, folder: TaskFolder) -> None:
    """Raise `InfraFault` unless a verdict that a node sent is one on the task that it was asked about."""
    if (verdict.task, verdict.task_digest) != (folder.task.id, folder.digest):
        raise InfraFault(f"A node sent a verdict on another task than {folder.task.id}.")


def environment_digest(folder: TaskFolder) -> str:
    """A digest of what a task's environment is made of: those of the same are warm together."""
    wanted = folder.task.environment
    total = hashlib.sha256(wanted.model_dump_json(exclude={"requirements", "resolve"}).encode())
    if name := wanted.requirements or wanted.resolve:
        total.update((folder.path / name).read_bytes())
    if wanted.build:
        total.update(folder.task.repository.model_dump_json().encode())
    return total.hexdigest()[:16]
