"""Jobs of one prefork server at the same time: what one takes or leaves in the kernel costs the others nothing."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from repoassay.sandbox import WarmParent
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.launcher import server as server_module, watch
from repoassay.sandbox.launcher.framing import decode
from repoassay.sandbox.launcher.keeper import Keeper
from repoassay.types import Ended
from warm_parents import Warm, run, warm

__all__ = ["warm"]

THREADS = """
import threading, time
leave = threading.Event()
threads = [threading.Thread(target=leave.wait, args=(20,)) for _ in range(56)]
for thread in threads:
    thread.start()
time.sleep(2)
leave.set()
found = len(threads)
"""
IN_FLIGHT = """
import array, os, socket, time
held, numbers = [], array.array("i", [os.open("/dev/null", os.O_RDONLY)] * 200)
while len(held) < 7:
    ours, theirs = socket.socketpair()
    held.append((ours, theirs))
    ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
found = len(held)
time.sleep(1)
"""
NAMED = """
import ctypes, time
ctypes.CDLL(None).prctl(15, b"kB", 0, 0, 0)
held = b"x" * 2**29
time.sleep(15)
"""
TABLES = """
import mmap, time
held = []
for _ in range(256):
    held.append(mmap.mmap(-1, 2**30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, mmap.PROT_READ))
    held[-1].madvise(mmap.MADV_NOHUGEPAGE)
    for place in range(0, 2**30, 2**21):
        held[-1][place]
time.sleep(15)
"""

OF_THE_ACCOUNT = """
import ctypes, fcntl, mmap, os, resource
def error(act):
    try:
        return act() and ""
    except OSError as refused:
        return os.strerror(refused.errno)
def lease():
    with open("/tmp/own", "w"):
        return not fcntl.fcntl(os.open("/tmp/own", os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_WRLCK)
ABSENT = ("semget", 0, 1, 0o600), ("msgget", 0, 0o600), ("shmget", 0, 1, 0o600), ("aio",), ("vmsplice", 1, 0, 0, 0)
def calls(name, *numbers):
    libc = ctypes.CDLL(None, use_errno=True)
    aio = {"x86_64": 206, "aarch64": 0}[os.uname().machine], 1, ctypes.byref(ctypes.c_ulong())
    if (libc.syscall(*aio) if name == "aio" else getattr(libc, name)(*numbers)) < 0:
        raise OSError(ctypes.get_errno(), "")
def watches():
    count = 0
    while ctypes.CDLL(None).inotify_init1(0) >= 0:
        count += 1
    return count
found = {
    "lease": error(lease),
    "a page": error(lambda: mmap.mmap(-1, mmap.PAGESIZE)),
    "two": error(lambda: mmap.mmap(-1, 2 * mmap.PAGESIZE)),
    "zeros": error(lambda: mmap.mmap(os.open("/dev/zero", os.O_RDWR), mmap.PAGESIZE)),
    "read": os.read(os.open("/dev/zero", os.O_RDONLY), 4) == bytes(4),
    "absent": [error(lambda: calls(name, *numbers)) for name, *numbers in ABSENT],
    "watches": watches(),
    "signals": resource.getrlimit(resource.RLIMIT_SIGPENDING)[1],
}
"""


def beside(parent: WarmParent, cache: Cache, code: str, count: int) -> list[Any]:
    """What jobs of this code find that run at the same time."""
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(run(parent, cache, code)[0])) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.long
def test_each_job_may_have_as_many_processes_whatever_others_have(warm: Warm, cache: Cache) -> None:
    assert beside(warm(slots=4), cache, THREADS, 4) == [56] * 4


@pytest.fixture
def few_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.long
@pytest.mark.usefixtures("few_files")
def test_descriptors_in_flight_keep_no_other_job_from_starting(warm: Warm, cache: Cache) -> None:
    """The kernel counts them for the account, and lets who may open fewer files send none."""
    parent = warm(slots=3)
    attackers = threading.Thread(target=lambda: [run(parent, cache, IN_FLIGHT) for _ in range(3)])
    attackers.start()
    told = []
    while attackers.is_alive():
        told.append(run(parent, cache, "found = 'on'")[0])
    assert set(told) == {"on"}


@pytest.mark.parametrize("code", [NAMED, TABLES])
def test_memory_is_seen_whatever_a_process_calls_itself_and_maps(warm: Warm, cache: Cache, code: str) -> None:
    assert run(warm(), cache, code)[1].exit.ended is Ended.OUT_OF_MEMORY


def test_what_the_kernel_grants_an_account_is_not_for_one_job(warm: Warm, cache: Cache) -> None:
    """Leases, which keep everybody from opening a file; memory that no process shows; what watches files; signals.

    Semaphores and messages hold memory of the kernel's, pipes huge pages that were unmapped, and of asynchronous I/O a
    whole machine has so much.
    """
    found = run(warm(slots=2), cache, OF_THE_ACCOUNT)[0]
    most = int(Path("/proc/sys/fs/inotify/max_user_instances").read_text()) // 4
    assert found.pop("watches") in range(1, most + 1)
    assert found.pop("signals") <= 4096
    refused = {"lease": "Operation not permitted", "two": "Operation not permitted", "zeros": "No such device"}
    assert found.pop("absent") == ["Function not implemented"] * 5
    assert found == {**refused, "a page": "", "read": True}


def test_memory_that_was_swapped_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_read", lambda path: "RssAnon:\t 4 kB\nVmSwap:\t 99 kB\n" * path.endswith("/status"))
    assert watch.measure([os.getpid()]).own == 103 * 1024


def test_a_place_that_is_long_taken_down_ends_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is answered for meanwhile; who keeps the dead from being buried is another matter (`test_warm_gate.py`)."""
    assert server_module._has_unburied_dead() in (True, False)  # of the whole machine here, so either may be true
    monkeypatch.setattr(server_module, "_has_unburied_dead", lambda: False)
    child = os.fork()
    if child == 0:
        os.read(os.pipe()[0], 1)
    results, answers = os.pipe()
    keeper = Keeper({"id": 7, "seconds": 1, "memory": 1, "disk": 1, "processes": 1}, 5)
    server = server_module._Server(SimpleNamespace(slots=1, results_fd=answers, jobs_fd=-1), [], -1, None, -1)  # type: ignore[arg-type]
    server._keepers.append(keeper)
    keeper.first = child
    keeper.end("timed_out")  # kills it; it is dead and unburied, as if the kernel were still busy with it
    for _ in range(2):
        keeper.due -= 100
        server._look()
    told = decode(os.read(results, 1 << 16)[8:])
    assert isinstance(told, dict)
    assert (told["id"], told["ended"]) == (7, "timed_out")
    assert server._keepers == [keeper]
    *_, usage = os.wait4(child, 0)
    keeper.ends.clear()
    keeper.buried(usage)
    keeper.let_go()
    os.set_blocking(results, False)
    server._look()
    assert (server._keepers, server._free) == ([], [5])
    with pytest.raises(BlockingIOError):
        os.read(results, 1)  # it was answered once
    os.close(results)
    os.close(answers)
