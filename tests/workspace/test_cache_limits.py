"""Pruning removes what is old or too much, never what may be in use."""

from __future__ import annotations

import os
import time
from pathlib import Path

from repoassay.sandbox.cache import Cache
from repoassay.workspace.cache_limits import entries, prune

DAY = 86400


def filled(path: Path) -> Cache:
    cache = Cache(path)

    def build(part: Path) -> None:
        (part / "file").write_bytes(b"x" * 100_000)

    for number, days in enumerate((40, 10, 5, 0)):
        entry = cache.entry("checkouts", f"entry{number}", build)
        os.utime(entry, (time.time() - days * DAY,) * 2)
    return cache


def names(cache: Cache) -> list[str]:
    return [entry.path.name for entry in entries(cache)]


def test_entries_are_listed_least_recently_used_first(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    assert names(cache) == ["entry0", "entry1", "entry2", "entry3"]
    assert all(entry.size >= 100_000 for entry in entries(cache))


def test_old_entries_go(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    assert [entry.path.name for entry in prune(cache, max_bytes=10**9, max_age=30 * DAY)] == ["entry0"]
    assert names(cache) == ["entry1", "entry2", "entry3"]


def test_the_least_recently_used_go_until_the_rest_fits_but_never_the_last_hours(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    prune(cache, max_bytes=250_000, max_age=1000 * DAY)
    assert names(cache) == ["entry2", "entry3"]
    prune(cache, max_bytes=0, max_age=0)
    assert names(cache) == ["entry3"]


def test_an_entry_under_construction_is_left_alone(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    with cache.lock("checkouts-entry0"):
        assert "entry0" not in [entry.path.name for entry in prune(cache, max_bytes=0, max_age=0)]
    assert "entry0" in names(cache)
