"""What is alike for every executor: jobs given again when their node is lost, answers in order, parcels in a cache."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any, TypeVar

from repoassay.errors import InfraFault
from repoassay.executors.parcels import unpack_tree
from repoassay.executors.protocol import Cluster, NodeJob, NodeLost
from repoassay.sandbox import Cache, settle

__all__ = ["MOST_LOSSES", "answers_in_order", "submit_again", "take_parcels"]

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")

MOST_LOSSES = 8
"""How many nodes may be lost over one job before it is taken for the cause."""
_WRITABLE = frozenset({"checkouts"})
"""Kinds of entries that sandboxes see copy-on-write, so that their account must own them."""


def submit_again(cluster: Cluster, job: NodeJob, cancel: threading.Event | None = None) -> Future[Any]:
    """Give a job that may be done twice, as judging may: again whenever its node is lost.

    The future fails with `InfraFault` when that happened too often, else as those of `Cluster.submit`.
    """
    answer: Future[Any] = Future()
    answer.set_running_or_notify_cancel()

    def give(losses: int) -> None:
        try:
            future_answer = cluster.submit(job, cancel)
        except BaseException as error:  # noqa: BLE001 - carried to whoever waits
            answer.set_exception(error)
            return
        future_answer.add_done_callback(lambda future: answered(future, losses))

    def answered(future: Future[Any], losses: int) -> None:
        error = future.exception()
        if isinstance(error, NodeLost) and losses + 1 < MOST_LOSSES and not (cancel and cancel.is_set()):
            give(losses + 1)
        elif isinstance(error, NodeLost):
            answer.set_exception(InfraFault(f"{losses + 1} nodes were lost while they did this."))
        elif error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(future.result())

    give(0)
    return answer


def answers_in_order(
    questions: Iterable[tuple[_Asked, Future[_Answer]]], most: Callable[[], int]
) -> Generator[tuple[_Asked, Future[_Answer]]]:
    """Yield what was asked with its future, done, in order; takes no more of them than `most()` beyond the first.

    What is left when this is closed is cancelled where it has not begun.
    """
    pending: deque[tuple[_Asked, Future[_Answer]]] = deque()
    try:
        for each in questions:
            pending.append(each)
            while pending and (pending[0][1].done() or len(pending) > most()):
                yield _first(pending)
        while pending:
            yield _first(pending)
    finally:
        for _, future in pending:
            future.cancel()


def _first(pending: deque[tuple[_Asked, Future[_Answer]]]) -> tuple[_Asked, Future[_Answer]]:
    if not pending[0][1].done():
        wait([pending[0][1]])
    return pending.popleft()


def take_parcels(cache: Cache, parcels: Mapping[str, Callable[[], bytes]]) -> None:
    """Put parcels, by `kind/key`, into a cache where it lacks them.

    Raises:
        InfraFault: One cannot be had or unpacked.
    """
    for name, read in parcels.items():
        kind, key = name.split("/")

        def fill(part: Path, kind: str = kind, read: Callable[[], bytes] = read) -> None:
            unpack_tree(read(), part)
            if kind in _WRITABLE:
                settle(part)

        cache.entry(kind, key, fill)
