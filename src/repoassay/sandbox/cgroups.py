"""Control groups, where this account may make them: the kernel then holds a whole tree to its memory and processes.

And what is read of those that this process is in: how many cores it may keep busy.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from pathlib import Path, PurePosixPath

__all__ = ["make_cgroups", "remove_cgroups", "usable_cores"]

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


def usable_cores(root: Path = Path("/")) -> int:
    """Whole cores that this process may use, at least one.

    The fewest of those it may be scheduled on and of what each control group above it may spend, as `docker run --cpus`
    and limits of Kubernetes say (`cpu.max` of version 2, `cpu.cfs_quota_us` of version 1). The kernel would halt more
    workers than these in turns, and what they run would reach its time limit for no fault of its own.

    Args:
        root: Where `/proc` and `/sys` are found.
    """
    allowed = len(os.sched_getaffinity(0))
    return max(1, min([allowed, *(int(cores) for cores in _quotas(root))]))


def _quotas(root: Path) -> list[float]:
    """Cores that each control group of this process, and each above it, may spend."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found: list[float] = []
    for line in lines:
        _, controllers, own = [*line.split(":", 2), "", ""][:3]
        if controllers and "cpu" not in controllers.split(","):
            continue
        tree = root / "sys/fs/cgroup" / controllers
        path = PurePosixPath(own)
        # Inside a container the path may be told as the host sees it, and only the folder above all is there.
        for group in (path, *path.parents):
            quota = _quota(tree / str(group).lstrip("/"))
            found += [] if quota is None else [quota]
    return found


def _quota(group: Path) -> float | None:
    """Cores that one control group may spend; None without a limit."""
    try:
        if (group / "cpu.max").is_file():
            most, period = (group / "cpu.max").read_text().split()
        else:
            most, period = ((group / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
        return int(most) / int(period) if int(most) > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None  # "max", or no such limit here
