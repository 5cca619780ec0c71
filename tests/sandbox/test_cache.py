"""An entry is built once, whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from repoassay.errors import BadInput, InfraFault
from repoassay.sandbox.cache import SANDBOX_UID, Cache, lock_limit, remove_tree, scratch_beside, settle

BUILDER = """
import os, sys, time
from pathlib import Path
from repoassay.sandbox.cache import Cache, scratch_beside
def build(part):
    with open(sys.argv[2], "a") as log:
        log.write("built\\n")
    with scratch_beside(part) as scratch:
        (scratch / "downloaded").write_text("x")
        (part / "half").write_text("x")
        time.sleep(0.5)
    (part / "whole").write_text("x")
entry = Cache(Path(sys.argv[1])).entry("things", "key", build)
assert (entry / "whole").exists()
"""


def test_processes_that_want_the_same_entry_build_it_once(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", BUILDER, str(tmp_path / "cache"), str(tmp_path / "log")]
    started = [subprocess.Popen(arguments) for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    assert (tmp_path / "log").read_text() == "built\n"


def test_threads_that_want_the_same_entry_build_it_once(tmp_path: Path) -> None:
    cache, built = Cache(tmp_path), []

    def build(part: Path) -> None:
        built.append(part)
        time.sleep(0.2)
        (part / "whole").write_text("x")

    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append((cache.entry("things", "key", build) / "whole").exists()))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 6
    assert len(built) == 1


def test_what_a_failing_build_leaves_is_not_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def fail(part: Path) -> None:
        (part / "locked").mkdir()
        (part / "locked/half").write_text("x")
        (part / "locked").chmod(0)
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            cache.entry("things", "key", fail)
        assert list((tmp_path / "things").iterdir()) == []
    assert cache.entry("things", "key", lambda part: (part / "whole").touch()).joinpath("whole").exists()


def test_a_builder_that_was_killed_leaves_nothing_that_counts(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", BUILDER.replace("0.5", "60"), str(tmp_path / "cache"), str(tmp_path / "log")]
    with subprocess.Popen(arguments) as process:
        end = time.monotonic() + 30
        while not (tmp_path / "cache/things/.key.part/half").exists():
            assert time.monotonic() < end
            time.sleep(0.01)
        process.kill()

    def build(part: Path) -> None:
        with scratch_beside(part) as scratch:
            assert list(scratch.iterdir()) == []
        (part / "again").touch()

    entry = Cache(tmp_path / "cache").entry("things", "key", build)
    assert [path.name for path in entry.iterdir()] == ["again"]
    assert list(entry.parent.iterdir()) == [entry]


def test_entries_of_other_keys_do_not_wait(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with cache.lock("things-one"):
        assert cache.entry("things", "two", lambda _: None).is_dir()


def test_a_wait_for_an_entry_ends_where_it_has_a_limit(tmp_path: Path) -> None:
    cache, cancel = Cache(tmp_path), threading.Event()

    def wait() -> str:
        try:
            with lock_limit(cancel):
                cache.entry("things", "one", lambda _: None)
        except InfraFault as fault:
            return str(fault)
        return "made"

    with ThreadPoolExecutor() as pool:
        with cache.lock("things-one"):
            waits = pool.submit(wait)
            with pytest.raises(TimeoutError):
                waits.result(0.5)
            cancel.set()
            assert "still making things-one" in waits.result(30)
        assert pool.submit(wait).result(30) == "made"  # what is free is had, limit or not


def test_using_an_entry_is_noted(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    entry = cache.entry("things", "key", lambda _: None)
    os.utime(entry, (0, 0))
    cache.entry("things", "key", lambda _: None)
    assert entry.stat().st_mtime > 0


def test_the_folder_is_found_where_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("REPOASSAY_CACHE", raising=False)
    assert Cache().path == tmp_path / "xdg/repoassay"
    monkeypatch.setenv("REPOASSAY_CACHE", str(tmp_path / "given"))
    assert Cache().path == tmp_path / "given"
    assert Cache(tmp_path / "argument").path == tmp_path / "argument"


def test_a_folder_that_cannot_be_made_is_the_users_to_change(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="Set REPOASSAY_CACHE"):
        Cache(tmp_path / "file/cache")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_of_another_account_is_the_users_to_change(tmp_path: Path) -> None:
    Cache(tmp_path).entry("things", "there", lambda _: None)
    (tmp_path / "locks").chmod(0o555)
    assert Cache(tmp_path).entry("things", "there", lambda _: None).is_dir()  # what is there can be used
    with pytest.raises(BadInput, match=r"cannot be written to: Permission denied\. Set REPOASSAY_CACHE"):
        Cache(tmp_path).entry("things", "new", lambda _: None)


def test_settling_follows_no_link_and_makes_modes_plain(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    (outside / "file").chmod(0o600)
    owner, top = outside.stat().st_uid, tmp_path / "top"
    (top / "locked").mkdir(parents=True)
    (top / "locked/program").write_text("x")
    (top / "locked/program").chmod(0o4711)
    (top / "link").symlink_to(outside)
    (top / "file-link").symlink_to(outside / "file")
    settle(top)
    assert (top / "locked/program").stat().st_mode & 0o7777 == 0o755
    assert (outside / "file").stat().st_mode & 0o7777 == 0o600
    assert {path.stat().st_uid for path in (outside, outside / "file")} == {owner}
    if os.geteuid() == 0:
        assert (top / "link").lstat().st_uid == SANDBOX_UID


def test_removing_a_tree_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("x")
    (tmp_path / "outside").chmod(0o750)
    (tmp_path / "top").mkdir()
    (tmp_path / "top/link").symlink_to(tmp_path / "outside")
    remove_tree(tmp_path / "top")
    assert not (tmp_path / "top").exists()
    assert (tmp_path / "outside/file").exists()
    assert (tmp_path / "outside").stat().st_mode & 0o777 == 0o750
    (tmp_path / "top").symlink_to(tmp_path / "outside")
    remove_tree(tmp_path / "top")
    assert (tmp_path / "outside/file").exists()
    assert (tmp_path / "outside").stat().st_mode & 0o777 == 0o750
