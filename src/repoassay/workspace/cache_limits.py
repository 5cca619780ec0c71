"""Keeping the cache small: what it holds, and letting go of what was not used for longest."""

from __future__ import annotations

import fcntl
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from repoassay.sandbox import Cache, remove_tree

__all__ = ["CacheEntry", "entries", "prune"]

_KINDS = (
    "agents", "apt", "builds", "bundles", "bytecode", "checkouts", "days", "environments", "images", "indexes",
    "inputs", "interpreters", "npm", "packages", "pages", "sdists", "tarballs", "uv",
)  # fmt: skip
_WHOLE = ("npm", "pages", "uv")
"""Folders that are one entry each; of these, npm and uv are what earlier versions downloaded to."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One entry of the cache: size in bytes, and seconds since it was last of use."""

    kind: str
    path: Path
    size: int
    age: float


def entries(cache: Cache) -> list[CacheEntry]:
    """Everything the cache holds, least recently used first. Pages of indexes count as one entry."""
    now = time.time()
    found = []
    for kind in _KINDS:
        top = cache.path / kind
        places = [top] if kind in _WHOLE else sorted(top.glob("[!.]*"))
        found += [CacheEntry(kind, path, _size(path), now - path.stat().st_mtime) for path in places if path.exists()]
    return sorted(found, key=lambda entry: -entry.age)


def prune(cache: Cache, *, max_bytes: int, max_age: float) -> list[CacheEntry]:
    """Remove entries unused for `max_age` seconds, then the least recently used until `max_bytes` are left.

    An entry is taken out of sight under its lock before it goes, so that nobody finds half of it. Entries used in the
    last hour stay: an attempt may be working on them.
    """
    held = entries(cache)
    total = sum(entry.size for entry in held)
    removed = []
    for entry in held:
        if entry.age < 3600 or (entry.age < max_age and total <= max_bytes):
            continue
        if _remove(cache, entry):
            total -= entry.size
            removed.append(entry)
    return removed


def _remove(cache: Cache, entry: CacheEntry) -> bool:
    lock = os.open(cache.path / "locks" / f"{entry.kind}-{entry.path.name}", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        gone = entry.path.with_name(f".{entry.path.name}.gone")
        remove_tree(gone)
        entry.path.rename(gone)
        remove_tree(gone)
        entry.path.with_name(f".{entry.path.name}.manifest").unlink(missing_ok=True)
    except OSError:
        return False  # being built or already gone
    else:
        return True
    finally:
        os.close(lock)


def _size(path: Path) -> int:
    """What it takes on disk; of a file that entries share, its part."""
    if path.is_file():
        return path.stat().st_size
    found = (item.lstat() for item in path.rglob("*"))
    return sum(item.st_blocks * 512 // (1 if stat.S_ISDIR(item.st_mode) else item.st_nlink) for item in found)
