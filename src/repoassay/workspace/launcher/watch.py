"""Watching a process tree from outside: its memory and number of processes, and whether a limit was passed."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Tree", "Watch"]

_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Tree:
    """Resident memory in bytes (shared pages counted once for each process) and processes of a tree."""

    memory: int
    processes: int


def measure(pid: int) -> Tree:
    """Measure the tree below and with `pid`, as far as it holds still."""
    memory, seen, queue = 0, 0, [pid]
    while queue and seen < 10_000:
        current = queue.pop()
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{current}/statm").read_text().split()
            memory += (int(fields[1]) - int(fields[2])) * _PAGE
            seen += 1
            for thread in os.listdir(f"/proc/{current}/task"):
                queue += map(
                    int, Path(f"/proc/{current}/task/{thread}/children").read_text().split()
                )
    return Tree(memory, seen)


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
        tree = measure(self._pid)
        self.peak = max(self.peak, tree.memory)
        # Twice, as RLIMIT_NPROC already refuses the next process where the kernel counts by namespace.
        return tree.memory > self._memory or tree.processes > 2 * self._processes

    def finish(self) -> bool:
        """Read the kernel's own notes at the end; true when it killed for memory."""
        if self._folder is None:
            return False
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            with contextlib.suppress(OSError, ValueError):
                self.peak = int(Path(self._folder, name).read_text())
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError):
                for line in Path(self._folder, name).read_text().splitlines():
                    key, _, value = line.partition(" ")
                    if key == "oom_kill" and int(value) > 0:
                        return True
        return False


def _memory_file(folder: str) -> bool:
    return any(Path(folder, name).exists() for name in ("memory.max", "memory.limit_in_bytes"))
