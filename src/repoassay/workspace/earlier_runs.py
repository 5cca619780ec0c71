"""Runs that lie below a folder which an agent is shown: covered, since verdicts and logs of other attempts are in them.

An agent's folder is often the one in which `repoassay run` is typed, and so where `runs` is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from repoassay.sandbox import Cache, Mount, settle

__all__ = ["cover_runs", "is_run"]

_INSTALLED = frozenset({"site-packages", "node_modules", ".git"})
"""Folders that are large and hold what was installed or committed, never runs; this is looked at for every attempt."""


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run."""
    return (folder / "run.json").is_file() and (folder / "attempts").is_dir()


def cover_runs(mounts: Iterable[Mount], cache: Cache) -> tuple[Mount, ...]:
    """Mounts of nothing over every run below what is mounted; what the cache holds has none."""
    kept = cache.path.resolve()
    found = [
        str(PurePosixPath(mount.target, run.relative_to(mount.source)))
        for mount in mounts
        if not mount.source.resolve().is_relative_to(kept)
        for run in _runs_below(mount.source)
    ]
    if not found:
        return ()
    empty = cache.entry("checkouts", "empty", settle)
    return tuple(Mount(empty, target) for target in found)


def _runs_below(folder: Path) -> Iterator[Path]:
    """Runs in a folder, which itself is what somebody chose to show."""
    for top, folders, files in os.walk(folder):
        place = Path(top)
        if place.name in _INSTALLED:
            folders.clear()
        elif place != folder and "run.json" in files and "attempts" in folders:
            folders.clear()
            yield place
