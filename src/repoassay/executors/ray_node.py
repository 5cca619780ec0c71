"""What runs on the machines of a Ray cluster: the actor of a node, and the actor that keeps what nodes share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from repoassay.errors import InfraFault
from repoassay.executors.cache_share import SHARED_KINDS, pack_entry, share_key, unpack_entry
from repoassay.executors.job_stock import JobStock, StockAnswer
from repoassay.executors.node_process import NodeProcess
from repoassay.executors.node_work import node_facts
from repoassay.records import to_json

__all__ = ["NodeActor", "ShelfActor"]

_LOOK = 0.5
"""Seconds between looks at what another node builds."""


class NodeActor:
    """A node. Used from a few threads, which are not those of its workers."""

    def __init__(self) -> None:
        self._node = NodeProcess()
        self._stock: JobStock | None = None

    def facts(self) -> bytes:
        """What must be alike on all machines."""
        return to_json(node_facts())

    def open(self, setup: bytes, workers: int, shelf: Any, node: str, secrets: Mapping[str, str]) -> bytes:
        """Make the work ready."""
        self._stock = JobStock(workers)
        return self._node.open(setup, workers, secrets, _Shelf(shelf, node, self._node.closing))

    def give(self, jobs: Sequence[tuple[int, bytes, Mapping[str, list[Any]]]]) -> None:
        """Have jobs done: their numbers, their records, and references to the bytes of their parcels by `kind/key`."""
        import ray

        assert self._stock is not None
        for number, record, parcels in jobs:
            reads: dict[str, Any] = {name: partial(ray.get, refs[0]) for name, refs in parcels.items()}
            self._stock.add(number, partial(self._node.do, number, record, reads))

    def take(self) -> list[StockAnswer]:
        """Wait for answers."""
        assert self._stock is not None
        return self._stock.take()

    def cancel(self, number: int) -> None:
        """Give up a job, begun or not."""
        self._node.cancel(number)

    def close(self) -> None:
        """Give up every job and end what is warm."""
        self._node.close()
        if self._stock is not None:
            self._stock.close()


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
            held = self._wait_for_archive(name)
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

    def _wait_for_archive(self, name: str) -> bytes | None:
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
