"""What runs on a node, whatever brought it there: one work, made once, and the cancelling of its jobs.

It answers with JSON alone, an error of ours as its class, message and remedy.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping

from repoassay import errors
from repoassay.errors import InfraFault, RepoAssayError
from repoassay.executors.node_work import make_work
from repoassay.executors.protocol import NodePlace, NodeWork
from repoassay.executors.resubmission import take_parcels
from repoassay.records import parse, to_json
from repoassay.sandbox import Cache, EntryShare

__all__ = ["NodeProcess", "error_of", "told_error"]


class NodeProcess:
    """A node. Used from as many threads as it has workers, and others.

    Attributes:
        closing: Set once it gives up every job.
    """

    def __init__(self) -> None:
        self._work: NodeWork | None = None
        self._cache: Cache | None = None
        self._cancels: dict[int, threading.Event] = {}
        self.closing = threading.Event()

    def open(self, setup: bytes, workers: int, secrets: Mapping[str, str], share: EntryShare | None = None) -> bytes:
        """Make the work ready."""
        document = json.loads(setup)
        os.environ.update(secrets)

        def make() -> bytes:
            self._cache = Cache(share=share)
            place = NodePlace(self._cache, workers)
            self._work = make_work(document["work"], document["data"], place)
            return b""

        return _answered(make)

    def do(self, number: int, record: bytes, parcels: Mapping[str, Callable[[], bytes]]) -> bytes:
        """Do one job; `parcels` are read, by `kind/key`, where the cache lacks them."""
        cancel = self._cancels.setdefault(number, threading.Event())
        if self.closing.is_set():
            cancel.set()

        def work() -> bytes:
            assert self._work is not None and self._cache is not None
            take_parcels(self._cache, parcels)
            return to_json(self._work.do(parse(self._work.job_type, record), cancel))

        try:
            return _answered(work)
        finally:
            self._cancels.pop(number, None)

    def cancel(self, number: int) -> None:
        """Give up a job, begun or not."""
        self._cancels.setdefault(number, threading.Event()).set()

    def close(self) -> None:
        """Give up every job and end what is warm."""
        self.closing.set()
        for cancel in list(self._cancels.values()):
            cancel.set()
        if self._work is not None:
            self._work.close()


def _answered(work: Callable[[], bytes]) -> bytes:
    """What some work answers, or the error it raised, told apart by the first byte."""
    began = time.monotonic()
    try:
        return b"+" + work()
    except RepoAssayError as error:
        return told_error(error)
    except Exception as error:  # noqa: BLE001 - a fault of ours, which the caller is to hear of
        message = f"{type(error).__name__}: {error}"[:500]
        return told_error(InfraFault(f"A node failed after {time.monotonic() - began:.0f} s: {message}"))


def told_error(error: RepoAssayError) -> bytes:
    """An error as an answer."""
    document = {"kind": type(error).__name__, "message": error.message, "remedy": error.remedy}
    return b"-" + json.dumps(document).encode()


def error_of(answer: bytes) -> RepoAssayError:
    """The error of an answer that is one; what is not written as ours are is a fault of ours."""
    try:
        document = json.loads(answer[1:])
        kind = getattr(errors, document["kind"])
        if kind in (errors.BadInput, errors.Unavailable, errors.NoIsolation, errors.InfraFault, errors.Interrupted):
            found: RepoAssayError = kind(str(document["message"])[:2000], str(document["remedy"])[:1000])
            return found
        return InfraFault(str(document["message"])[:2000])
    except (ValueError, KeyError, TypeError, AttributeError):
        return InfraFault("A node answered with what is no record.")
