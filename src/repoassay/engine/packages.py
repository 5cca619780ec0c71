"""The port forwards of the network policy `packages`: the run's package proxy, and an attempt's way to it."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from repoassay.package_proxy import HostRule, Indexes, PackageProxy, Visit
from repoassay.records import OBJECTS, JsonLines
from repoassay.sandbox import Cache, Mount, PortForward, Sandbox, SandboxNetwork, open_door
from repoassay.workspace import IndexRequest, PreparedTask, relay_for_agent

__all__ = ["PackageDoors", "Packages"]

_PORT, _INDEX = 4711, 4712
_MOST_VISITS = 20_000
"""Lines of an attempt's journal: a hostile agent must not fill the disk with requests."""


@dataclass(frozen=True, slots=True)
class PackageDoors:
    """What one attempt is given: port forwards, and the environment and mounts that make its tools use them."""

    doors: tuple[PortForward, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    mounts: tuple[Mount, ...] = ()


class Packages:
    """The proxy of a run, started when the first attempt needs it and ended with `ends`."""

    def __init__(self, ends: contextlib.ExitStack) -> None:
        self._ends = ends
        self._lock = threading.Lock()
        self._made: tuple[PackageProxy, Indexes] | None = None

    def open(
        self, layout: PreparedTask, cache: Cache, sandbox: Sandbox, network: SandboxNetwork, journal: Path,
        ends: contextlib.ExitStack,
    ) -> PackageDoors:  # fmt: skip
        """Open the way for one attempt, until `ends`; every request is a line in `journal`.

        Where the repository is to be changed, packages come from an index of the attempt's own, which holds back the
        project itself and what is newer than the task; the proxy leads to declared hosts that hold no packages.

        Raises:
            InfraFault: The task's day cannot be found out.
        """
        with self._lock:
            if self._made is None:
                self._made = (self._ends.enter_context(PackageProxy()), Indexes.configured())
            proxy, indexes = self._made
        note = _Journal(journal).note
        task = layout.folder.task
        if task.state or not task.kind.changes_repository:
            visitor = proxy.admit(indexes.rules(task.network.hosts), note)
            ends.callback(visitor.close)
            door = open_door(sandbox, network, _PORT, visitor.serve)
            own = [open_door(sandbox, network, port, visitor.relay(host, port)) for host, port in indexes.on_loopback()]
            return PackageDoors((door, *own), tuple(indexes.env(door.port).items()), indexes.mounts())
        visitor = proxy.admit(map(HostRule.parse, task.network.hosts), note, is_closed=indexes.is_one)
        ends.callback(visitor.close)
        index = relay_for_agent(layout, cache, indexes, note)
        ends.callback(index.close)
        doors = (open_door(sandbox, network, _PORT, visitor.serve), open_door(sandbox, network, _INDEX, index.serve))
        env = {**indexes.env(doors[0].port), **index.env(doors[1].port)}
        return PackageDoors(doors, tuple(env.items()), indexes.mounts())


class _Journal:
    """An attempt's journal, written from the proxy's thread and those of its index."""

    def __init__(self, path: Path) -> None:
        self._record = JsonLines(path, OBJECTS, fsync=False)
        self._lock = threading.Lock()
        self._lines = 0

    def note(self, request: Visit | IndexRequest) -> None:
        with self._lock:
            self._lines += 1
            if self._lines <= _MOST_VISITS:
                self._record.append(asdict(request))
