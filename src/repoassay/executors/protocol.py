"""The seam between work and where it is done: what a job, a node and a cluster are.

The caller's machine has a `Cluster`, to which it gives jobs and which answers with futures. Each node makes one
`NodeWork` from the setup and keeps it: its sandbox, its prefork servers and what it has laid out stay warm between
jobs. Whoever gave a job is the only one to write down its answer.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from repoassay.errors import InfraFault
from repoassay.executors.parcels import CacheParcel
from repoassay.sandbox import Cache
from repoassay.types import Record

__all__ = ["Cluster", "Executor", "NodeJob", "NodeLost", "NodePlace", "NodeSetup", "NodeWork"]


class NodeLost(InfraFault):
    """The node of a job was lost before its answer came: whether the job was done is not known, and its answer never
    comes."""


@dataclass(frozen=True, slots=True)
class NodeJob:
    """One piece of work for whichever node is free.

    Attributes:
        record: What is to be done; of the type that the work reads.
        warmth: Names what a node has warm after such a job, by content: jobs of the same go there while it has room.
        parcels: Entries of the cache that the job needs and the caller can make.
    """

    record: Record
    warmth: str = ""
    parcels: tuple[CacheParcel, ...] = ()


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Where a node works: its cache, and how many jobs it is given at a time."""

    cache: Cache
    workers: int


class NodeWork(Protocol):
    """What a node does, with everything it keeps warm. Used from as many threads as the node has workers.

    Attributes:
        job_type: Class of the records it reads.
    """

    job_type: type[Record]

    def do(self, record: Any, cancel: threading.Event) -> Record:
        """Do one job.

        Raises:
            RepoAssayError: It cannot be done; the caller is given the same error.
        """

    def close(self) -> None:
        """End what is warm."""


@dataclass(frozen=True, slots=True)
class NodeSetup:
    """How every node makes its work: a function by its dotted path, called with `data` and a `NodePlace`.

    Attributes:
        work: `package.module:function`; returns a `NodeWork`.
        data: JSON. Never a secret: clusters keep what they are given in logs and on disks.
        answer_type: Class of the records that the work answers with; what is none is a fault of ours.
        secrets: Variables that the environment of every node's process gets: keys of models. They go straight to that
            process, and nothing writes them down.
    """

    work: str
    data: Mapping[str, Any]
    answer_type: type[Record]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


class Cluster(Protocol):
    """Nodes that work for this process. Used from any thread."""

    @property
    def capacity(self) -> int:
        """Jobs that are done at a time; changes as nodes come and go, and is at least 1."""

    def submit(self, job: NodeJob, cancel: threading.Event | None = None) -> Future[Any]:
        """Give a job; the future has its answer, a record of the setup's `answer_type`, or an error:

        `NodeLost` when its node was lost, what the work raised, `InfraFault` when the answer is no such record.
        A future that was not begun can be cancelled; `cancel` reaches one that was.
        """

    def close(self) -> None:
        """Give up what is under way and let go of the nodes; may be called twice."""


class Executor(Protocol):
    """A kind of cluster. Plug-ins are found in the group `repoassay.executors`.

    A factory of one is called with what follows `NAME://`, empty where nothing does.
    """

    def open(self, setup: NodeSetup, workers: int | None) -> Cluster:
        """Let nodes make their work ready; returns when the first one is.

        Args:
            setup: How they make it.
            workers: Jobs at a time on each node; None for one a core.

        Raises:
            Unavailable: There is no such cluster, or its nodes cannot do the work.
        """
