"""The port forwards of the network policy `packages`: the run's package proxy, and an attempt's way to it."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from repoassay.package_proxy import Indexes, PackageProxy, Visit
from repoassay.records import OBJECTS, JsonLines
from repoassay.sandbox import Mount, PortForward, Sandbox, SandboxNetwork, open_door
from repoassay.tasks import TaskFolder

__all__ = ["PackageDoors", "Packages"]

_PORT = 4711
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
        self, folder: TaskFolder, sandbox: Sandbox, network: SandboxNetwork, journal: Path, ends: contextlib.ExitStack
    ) -> PackageDoors:
        """Open the way for one attempt, until `ends`; every request is a line in `journal`."""
        with self._lock:
            if self._made is None:
                self._made = (self._ends.enter_context(PackageProxy()), Indexes.configured())
            proxy, indexes = self._made
        record = JsonLines(journal, OBJECTS, fsync=False)
        lines = 0

        def note(visit: Visit) -> None:
            nonlocal lines
            lines += 1
            if lines <= _MOST_VISITS:
                record.append(asdict(visit))

        visitor = proxy.admit(indexes.rules(folder.task.network.hosts), note)
        ends.callback(visitor.close)
        door = open_door(sandbox, network, _PORT, visitor.serve)
        local = [open_door(sandbox, network, port, visitor.relay(host, port)) for host, port in indexes.on_loopback()]
        return PackageDoors((door, *local), tuple(indexes.env(door.port).items()), indexes.mounts())
