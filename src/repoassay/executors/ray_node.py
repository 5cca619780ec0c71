"""What runs on the machines of a Ray cluster: the actor of a node, and the actor that keeps what nodes share.

An actor answers with JSON alone, an error of ours as its class, message and remedy.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from repoassay import errors
from repoassay.errors import InfraFault, RepoAssayError
from repoassay.executors.cache_share import SHARED_KINDS, pack_entry, share_key, unpack_entry
from repoassay.executors.node_work import make_work, node_facts
from repoassay.executors.protocol import NodePlace, NodeWork
from repoassay.executors.resubmission import take_parcels
from repoassay.records import parse, to_json
from repoassay.sandbox import Cache

__all__ = ["NodeActor", "ShelfActor", "error_of", "told_error"]

_LOOK = 0.5
"""Seconds between looks at what another node builds."""


class NodeActor:
    """A node: one work, made once. Used from as many threads as it has workers, and two more."""

    def __init__(self) -> None:
        self._work: NodeWork | None = None
        self._cache: Cache | None = None
        self._cancels: dict[int, threading.Event] = {}
        self._closing = threading.Event()

    def facts(self) -> bytes:
        """What must be alike on all machines."""
        return to_json(node_facts())

    def open(self, setup: bytes, workers: int, shelf: Any, node: str, secrets: Mapping[str, str]) -> bytes:
        """Make the work ready."""
        document = json.loads(setup)
        os.environ.update(secrets)

        def make() -> bytes:
            self._cache = Cache(share=_Shelf(shelf, node, self._closing))
            place = NodePlace(self._cache, workers)
            self._work = make_work(document["work"], document["data"], place)
            return b""

        return _answered(make)

    def do(self, number: int, record: bytes, parcels: Mapping[str, list[Any]]) -> bytes:
        """Do one job; `parcels` are references to their bytes by `kind/key`."""
        import ray

        cancel = self._cancels.setdefault(number, threading.Event())
        if self._closing.is_set():
            cancel.set()

        def work() -> bytes:
            assert self._work is not None and self._cache is not None
            reads: dict[str, Any] = {name: partial(ray.get, refs[0]) for name, refs in parcels.items()}
            take_parcels(self._cache, reads)
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
        self._closing.set()
        for cancel in list(self._cancels.values()):
            cancel.set()
        if self._work is not None:
            self._work.close()


class ShelfActor:
    """Entries of the cache as archives in the object store, by key, and which node builds those that are not there."""

    def __init__(self) -> None:
        self._ready: dict[str, Any] = {}
        self._builders: dict[str, str] = {}

    def claim(self, key: str, node: str) -> tuple[str, list[Any]]:
        """`ready` with a reference; `build` when the node is to build it; `wait` while another one does."""
        if key in self._ready:
            return "ready", [self._ready[key]]
        if self._builders.setdefault(key, node) == node:
            return "build", []
        return "wait", []

    def put(self, key: str, data: bytes) -> None:
        """Keep an archive, for as long as the cluster is open; this actor owns it, whatever becomes of the node."""
        import ray

        self._ready.setdefault(key, ray.put(data))
        self._builders.pop(key, None)

    def release(self, key: str, node: str) -> None:
        """A node does not share what it was to build."""
        if self._builders.get(key) == node:
            del self._builders[key]

    def forget(self, node: str) -> None:
        """A node was lost."""
        self._builders = {key: builder for key, builder in self._builders.items() if builder != node}


class _Shelf:
    """A cache's way to the shelf."""

    def __init__(self, actor: Any, node: str, closing: threading.Event) -> None:
        self._actor, self._node, self._closing = actor, node, closing

    def fill(self, kind: str, key: str, part: Path, build: Callable[[Path], None]) -> None:
        import ray

        if kind not in SHARED_KINDS:
            build(part)
            return
        name = share_key(kind, key)
        try:
            held = self._held(name)
        except ray.exceptions.RayError:  # the shelf was lost, or what it held: then every node builds for itself
            build(part)
            return
        if held is not None:
            unpack_entry(held, part)
            return
        data = None
        try:
            build(part)
            data = pack_entry(part)
        finally:
            if data is None:
                self._actor.release.remote(name, self._node)
        with contextlib.suppress(ray.exceptions.RayError):
            ray.get(self._actor.put.remote(name, data))

    def _held(self, name: str) -> bytes | None:
        """An archive once it is there; None where it is this node that builds.

        Raises:
            ray.exceptions.RayError: The shelf or the archive is lost.
        """
        import ray

        while True:
            state, refs = ray.get(self._actor.claim.remote(name, self._node))
            if state == "ready":
                found: bytes = ray.get(refs[0])
                return found
            if state == "build":
                return None
            if self._closing.wait(_LOOK):
                raise InfraFault("The node is closing.")


def _answered(work: Callable[[], bytes]) -> bytes:
    """What some work answers, or the error it raised, told apart by the first byte."""
    began = time.monotonic()
    try:
        return b"+" + work()
    except RepoAssayError as error:
        return told_error(error)
    except Exception as error:  # noqa: BLE001 - a fault of ours, which the caller is to hear of
        said = f"{type(error).__name__}: {error}"[:500]
        return told_error(InfraFault(f"A node failed after {time.monotonic() - began:.0f} s: {said}"))


def told_error(error: RepoAssayError) -> bytes:
    """An error as an answer."""
    said = {"kind": type(error).__name__, "message": error.message, "remedy": error.remedy}
    return b"-" + json.dumps(said).encode()


def error_of(answer: bytes) -> RepoAssayError:
    """The error of an answer that is one; what is not written as ours are is a fault of ours."""
    try:
        said = json.loads(answer[1:])
        kind = getattr(errors, said["kind"])
        if kind in (errors.BadInput, errors.Unavailable, errors.NoIsolation, errors.InfraFault, errors.Interrupted):
            found: RepoAssayError = kind(str(said["message"])[:2000], str(said["remedy"])[:1000])
            return found
        return InfraFault(str(said["message"])[:2000])
    except (ValueError, KeyError, TypeError, AttributeError):
        return InfraFault("A node answered with what is no record.")
