"""Control groups, where this account may make them: the kernel then holds a whole tree to its memory and processes."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from pathlib import Path

__all__ = ["make_cgroups", "remove_cgroups"]

_ROOT = Path("/sys/fs/cgroup")
_STALE = 3600.0
"""Seconds after which an empty group of another process namespace is taken for left: its processes are none of ours to
look for, and there is but a moment in which a group is made and empty."""
_counter = itertools.count()


def make_cgroups(memory: int, processes: int) -> list[str]:
    """Make groups with these limits (bytes, count) and return their folders; none where it is not possible."""
    name = f"repoassay-n{_process_namespace()}-{os.getpid()}-{next(_counter)}"
    groups: list[str] = []
    for parent, limits in _candidates(memory, processes):
        folder = parent / name
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            for file, value in limits.items():
                (folder / file).write_text(str(value))
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
            continue
        # Not memory.oom.group: the supervisor is in the group too, and must live to tell.
        with contextlib.suppress(OSError):
            if (folder / "memory.swap.max").exists():
                (folder / "memory.swap.max").write_text("0")
        groups.append(str(folder))
    return groups


def _candidates(memory: int, processes: int) -> list[tuple[Path, dict[str, int]]]:
    if (_ROOT / "cgroup.controllers").exists():  # version 2: one tree
        both = {"memory.max": memory, "pids.max": processes}
        own = Path("/proc/self/cgroup").read_text().strip().rpartition(":")[2]
        return [(_ROOT, both)] if os.geteuid() == 0 else [(_ROOT / own.lstrip("/"), both)]
    return [
        (_ROOT / "memory", {"memory.limit_in_bytes": memory}),
        (_ROOT / "pids", {"pids.max": processes}),
    ]


def remove_cgroups(folders: list[str]) -> None:
    """Remove groups whose processes have ended; the kernel may need a moment to notice."""
    for folder in folders:
        for _ in range(50):
            try:
                Path(folder).rmdir()
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.01)
            else:
                break


def sweep_cgroups() -> None:
    """Remove groups left by harnesses that were killed, also those of machines that are process namespaces of this."""
    here = _process_namespace()
    for parent, _ in _candidates(1, 1):
        for folder in parent.glob("repoassay-*"):
            namespace, owner = [*folder.name.split("-")[1:3], ""][:2]
            with contextlib.suppress(OSError):
                old = time.time() - folder.stat().st_mtime > _STALE
                if old or (namespace == f"n{here}" and owner.isdigit() and not Path("/proc", owner).exists()):
                    folder.rmdir()  # which fails while a process is in it


def _process_namespace() -> str:
    """Names the process namespace: several may share one tree of groups, and each counts its processes from 1."""
    return str(Path("/proc/self/ns/pid").stat().st_ino)
