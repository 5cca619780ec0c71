"""Watching a process tree from outside: its memory, its processes and threads, and whether a limit was passed."""

from __future__ import annotations

import os

__all__ = ["Watch", "container_statistics", "memory_group", "memory_kills"]

_PAGE = 4096


class _Use:
    """Memory of a tree in bytes: its own with its page tables, and shared (mapped files of its scratch folders too).

    Threads count as processes, as they do to the kernel.
    """

    def __init__(self) -> None:
        self.own = self.shared = self.processes = 0


def measure(roots: list[int], *, exact: bool = False) -> _Use:
    """What the trees from these processes use, as far as they hold still.

    Pages that processes share, as after a fork, count in each of them, unless `exact`, which costs the kernel a walk
    over all page tables.
    """
    use, queue = _Use(), [*roots]
    while queue and use.processes < 10_000:
        current = queue.pop()
        try:
            own, shared = _memory(current, exact=exact)
            threads = os.listdir(f"/proc/{current}/task")
            use.own, use.shared, use.processes = use.own + own, use.shared + shared, use.processes + len(threads)
            for thread in threads:
                queue += map(int, _read(f"/proc/{current}/task/{thread}/children").split())
        except (OSError, ValueError, IndexError):
            continue  # it ended while we looked
    return use


def _memory(pid: int, *, exact: bool) -> tuple[int, int]:
    own, shared, swapped, tables = _sizes(f"/proc/{pid}/status", "RssAnon", "RssShmem", "VmSwap", "VmPTE")
    if exact:
        try:
            own, shared, swapped = _sizes(f"/proc/{pid}/smaps_rollup", "Pss_Anon", "Pss_Shmem", "SwapPss")
        except PermissionError:
            pass  # init, which may not be looked into
    return own + swapped + tables, shared


def _sizes(path: str, *names: str) -> list[int]:
    """Lines of these names, in bytes; what others say, as a process's own name, is not looked at."""
    lines = dict(line.partition(":")[::2] for line in _read(path).splitlines())
    return [int(lines.get(name, "0 kB").split()[0]) * 1024 for name in names]


def _read(path: str) -> str:
    with open(path) as stream:
        return stream.read()


class Watch:
    """Keeps the peak of a tree, of one root or several, and says when it passed its limit.

    With control groups the kernel enforces the limits and this only reads what it noted; without them this is the
    enforcement, exact to one look (a few hundredths of a second). In a container of an engine, commands are an account
    that may not be looked into; `statistics` is where its kernel tells what they use (`container_statistics`).
    """

    def __init__(
        self, roots: list[int], memory: int, disk: int, processes: int, cgroups: list[str], statistics: str = ""
    ) -> None:
        self._roots, self._memory, self._disk, self._processes = roots, memory, disk, processes
        self._folder, self._statistics = memory_group(cgroups), statistics
        self.peak = 0

    def exceeded(self) -> bool:
        """Look once; true when memory or processes passed their limits and the tree must go."""
        if self._folder is not None:
            return False
        use = measure(self._roots)
        if self._too_much(use):
            use = measure(self._roots, exact=True)
            if self._statistics:
                use.own, use.shared = memory_of_container(self._statistics), 0  # the kernel bounds both together
        self.peak = max(self.peak, use.own)
        # Twice, as RLIMIT_NPROC already refuses the next process where the kernel counts by namespace.
        return self._too_much(use) or use.processes > 2 * self._processes

    def _too_much(self, use: _Use) -> bool:
        # Scratch folders lie in memory too, and their mapped files cannot be told from other shared memory.
        return use.own > self._memory or use.own + use.shared > self._memory + self._disk

    def finish(self) -> bool:
        """Read the kernel's own notes at the end; true when it killed for memory."""
        if self._folder is None:
            return False
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            if os.path.exists(f"{self._folder}/{name}"):
                self.peak = int(_read(f"{self._folder}/{name}"))
        return memory_kills([self._folder]) > 0


def container_statistics(memory: int) -> str:
    """Where the control group of this container, which has a limit of `memory` bytes, tells its use; else empty."""
    for folder, limit in (("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")):
        try:
            if int(_read(f"{folder}/{limit}")) // _PAGE == memory // _PAGE:
                return f"{folder}/memory.stat"
        except (OSError, ValueError):
            continue
    return ""


def memory_of_container(statistics: str) -> int:
    """Bytes of memory that processes hold for themselves, of a control group's `memory.stat`."""
    values = dict(line.split() for line in _read(statistics).splitlines())
    return int(values.get("total_rss", values.get("anon", "0")))


def memory_kills(folders: list[str]) -> int:
    """How many processes the kernel has killed for memory in these control groups."""
    for path in (f"{folder}/{name}" for folder in folders for name in ("memory.events", "memory.oom_control")):
        if os.path.exists(path):
            for line in _read(path).splitlines():
                key, _, value = line.partition(" ")
                if key == "oom_kill":
                    return int(value)
    return 0


def memory_group(folders: list[str]) -> str | None:
    """The control group that holds a tree to its memory, if there is one."""
    names = ("memory.max", "memory.limit_in_bytes")
    return next((folder for folder in folders if any(os.path.exists(f"{folder}/{name}") for name in names)), None)
