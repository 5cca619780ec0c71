"""Executors of this machine whose nodes fail or lie, for tests of what the caller makes of that."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from repoassay.errors import Interrupted
from repoassay.executors import Cluster, LocalExecutor, NodeJob, NodeLost, NodeSetup

__all__ = ["ElasticExecutor", "LosingExecutor", "LyingExecutor"]


class LosingExecutor:
    """Loses the node of each of its first jobs, after they were done."""

    losses = 2

    def __init__(self, address: str = "") -> None:
        self._left = self.losses

    def open(self, setup: NodeSetup, workers: int | None) -> Cluster:
        def lost(answer: Any) -> Any:
            self._left -= 1
            if self._left >= 0:
                raise NodeLost("The node of a job was lost: it was killed.")
            return answer

        return _Changed(LocalExecutor().open(setup, 1), lost)


class LyingExecutor:
    """Sends what `lie` makes of each answer."""

    lie: Callable[[Any], Any] = staticmethod(lambda answer: answer)

    def __init__(self, address: str = "") -> None:
        pass

    def open(self, setup: NodeSetup, workers: int | None) -> Cluster:
        return _Changed(LocalExecutor().open(setup, 1), type(self).lie)


class ElasticExecutor:
    """Has as many workers as `workers` says at the time, and is gone once `gone` says so."""

    workers = 1
    gone = False

    def __init__(self, address: str = "") -> None:
        pass

    def open(self, setup: NodeSetup, workers: int | None) -> Cluster:
        return _Elastic(LocalExecutor().open(setup, 4), lambda answer: answer)


class _Changed:
    """A cluster whose answers are changed on their way."""

    def __init__(self, cluster: Cluster, change: Callable[[Any], Any]) -> None:
        self._cluster, self._change = cluster, change

    @property
    def capacity(self) -> int:
        return self._cluster.capacity

    def submit(self, job: NodeJob, cancel: threading.Event | None = None) -> Future[Any]:
        answer: Future[Any] = Future()

        def done(given: Future[Any]) -> None:
            try:
                answer.set_result(self._change(given.result()))
            except Exception as error:  # noqa: BLE001 - carried to whoever waits
                answer.set_exception(error)

        self._cluster.submit(job, cancel).add_done_callback(done)
        return answer

    def close(self) -> None:
        self._cluster.close()


class _Elastic(_Changed):
    """A cluster whose nodes come and go."""

    @property
    def capacity(self) -> int:
        return ElasticExecutor.workers

    def submit(self, job: NodeJob, cancel: threading.Event | None = None) -> Future[Any]:
        if ElasticExecutor.gone:
            raise Interrupted("The cluster was left. No node of it is ready to work.")
        return super().submit(job, cancel)
