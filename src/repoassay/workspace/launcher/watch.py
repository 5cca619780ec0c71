"""Watching a process tree from outside: its memory and number of processes, and whether a limit was passed."""

from __future__ import annotations

import os

__all__ = ["Watch"]

_PAGE = os.sysconf("SC_PAGE_SIZE")


def measure(pid: int) -> tuple[int, int]:
    """Private resident memory in bytes and number of processes of the tree from `pid`, as far as it holds still."""
    memory, seen, queue = 0, 0, [pid]
    while queue and seen < 10_000:
        current = queue.pop()
        try:
            fields = _read(f"/proc/{current}/statm").split()
            memory += (int(fields[1]) - int(fields[2])) * _PAGE
            seen += 1
            for thread in os.listdir(f"/proc/{current}/task"):
                queue += map(int, _read(f"/proc/{current}/task/{thread}/children").split())
        except (OSError, ValueError, IndexError):
            continue  # it ended while we looked
    return memory, seen


def _read(path: str) -> str:
    with open(path) as stream:
        return stream.read()


class Watch:
    """Keeps the peak of a tree and says when it passed its limit.

    With control groups the kernel enforces the limits and this only reads what it noted; without them this is the
    enforcement, exact to one look (a few hundredths of a second).
    """

    def __init__(self, pid: int, memory: int, processes: int, cgroups: list[str]) -> None:
        self._pid, self._memory, self._processes = pid, memory, processes
        self._folder = next((path for path in cgroups if _memory_file(path)), None)
        self.peak = 0

    def exceeded(self) -> bool:
        """Look once; true when memory or processes passed their limits and the tree must go."""
        if self._folder is not None:
            return False
        memory, processes = measure(self._pid)
        self.peak = max(self.peak, memory)
        # Twice, as RLIMIT_NPROC already refuses the next process where the kernel counts by namespace.
        return memory > self._memory or processes > 2 * self._processes

    def finish(self) -> bool:
        """Read the kernel's own notes at the end; true when it killed for memory."""
        if self._folder is None:
            return False
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            if os.path.exists(f"{self._folder}/{name}"):
                self.peak = int(_read(f"{self._folder}/{name}"))
        for name in ("memory.events", "memory.oom_control"):
            if os.path.exists(f"{self._folder}/{name}"):
                for line in _read(f"{self._folder}/{name}").splitlines():
                    key, _, value = line.partition(" ")
                    if key == "oom_kill" and int(value) > 0:
                        return True
        return False


def _memory_file(folder: str) -> bool:
    return any(os.path.exists(f"{folder}/{name}") for name in ("memory.max", "memory.limit_in_bytes"))
