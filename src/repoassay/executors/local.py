"""This machine as a cluster of one node: the smallest executor, for nodes of batch systems and to compare with."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from repoassay.errors import BadInput
from repoassay.executors.node_work import make_work
from repoassay.executors.protocol import Cluster, NodeJob, NodePlace, NodeSetup, NodeWork
from repoassay.executors.resubmission import take_parcels
from repoassay.sandbox import Cache, usable_cores

__all__ = ["LocalCluster", "LocalExecutor"]


class LocalCluster:
    """Threads of this process that share one work.

    Args:
        work: Does the jobs; closed with the cluster.
        place: Its cache, and how many threads there are.
    """

    def __init__(self, work: NodeWork, place: NodePlace) -> None:
        self._work, self._place = work, place
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(place.workers, thread_name_prefix="node")

    @property
    def capacity(self) -> int:
        """The number of threads."""
        return self._place.workers

    def submit(self, job: NodeJob, cancel: threading.Event | None = None) -> Future[Any]:
        """See `Cluster.submit`."""
        return self._pool.submit(self._do, job, cancel or self._closing)

    def _do(self, job: NodeJob, cancel: threading.Event) -> Any:
        take_parcels(self._place.cache, {each.name: each.pack for each in job.parcels})
        return self._work.do(job.record, cancel)

    def close(self) -> None:
        """Wait for what is under way, and end the work."""
        self._closing.set()
        self._pool.shutdown(cancel_futures=True)
        self._work.close()


class LocalExecutor:
    """Opens clusters of this machine alone.

    Args:
        address: Must be empty.

    Raises:
        BadInput: There is an address.
    """

    def __init__(self, address: str = "") -> None:
        if address:
            raise BadInput(f"The executor local has no address, and was given {address!r}.", "Write --executor local.")

    def open(self, setup: NodeSetup, workers: int | None) -> Cluster:
        """See `Executor.open`."""
        place = NodePlace(Cache(), workers or usable_cores())
        return LocalCluster(make_work(setup.work, setup.data, place), place)
