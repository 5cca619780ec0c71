"""Everything ends when it should, whoever dies first, and nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.none import NoSandbox
from repoassay.sandbox.protocol import Command, Completed, ExportSpec
from repoassay.types import Ended
from waiting import wait_until

SANDBOXES = ("namespaces", "bubblewrap", "http")

Inside = Callable[..., Completed]
Plain = Callable[..., subprocess.CompletedProcess[bytes]]


class Marked(Protocol):
    word: str

    def alive(self) -> list[int]: ...


DAEMON = """
import os, signal, sys, time
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 32):
            try:
                signal.signal(number, signal.SIG_IGN)
            except OSError:
                pass
        os.closerange(0, 64)
        time.sleep(40)
    os._exit(0)
os.close(write)
os.read(read, 1)  # nothing, once the daemon has let go of everything
os.wait()
"""
DEAF = """
import signal, time
for number in range(1, 32):
    if number not in (9, 19):
        signal.signal(number, signal.SIG_IGN)
while True:
    try:
        time.sleep(1)
    except BaseException:
        pass
"""
HARNESS = """
import sys
from pathlib import Path
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Command
from repoassay.sandbox.namespaces import NamespaceSandbox
NamespaceSandbox(Cache(Path(sys.argv[1]))).run(Command(argv=("/bin/sh", "-c", "sleep 50 & setsid sleep 50; true"), env={"MARK": sys.argv[2]}))
"""  # noqa: E501 - reads as the program it is


def supervisors(parent: int) -> list[int]:
    """Supervisors of sandboxes that a process started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(stat[1]) == parent and b"sandbox.launcher" in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


@pytest.mark.every_sandbox
def test_a_daemon_outlives_a_plain_process_but_not_a_sandbox(inside: Inside, plain: Plain, marked: Marked) -> None:
    assert plain(DAEMON, marked.word).returncode == 0
    outlived = marked.alive()
    assert len(outlived) == 1
    assert inside(DAEMON, marked.word).exit.code == 0
    assert marked.alive() == outlived


def test_without_isolation_a_daemon_outlives_the_command(marked: Marked) -> None:
    argv = (sys.executable, "-I", "-c", DAEMON, marked.word)
    assert NoSandbox().run(Command(argv=argv)).exit.code == 0
    assert marked.alive()


@pytest.mark.long
@pytest.mark.every_sandbox
def test_signals_cannot_keep_a_command_beyond_its_time(inside: Inside, marked: Marked) -> None:
    done = inside(DEAF, marked.word, seconds=1)
    assert done.exit.ended is Ended.TIMED_OUT
    assert (done.exit.code, done.exit.signal) == (None, None)
    assert 1 <= done.exit.wall < 15
    assert marked.alive() == []


@pytest.mark.long
def test_nor_can_stopping_itself(inside: Inside) -> None:
    done = inside("import os, signal; print('stopping', flush=True); os.kill(os.getpid(), signal.SIGSTOP)", seconds=1)
    assert done.exit.ended is Ended.TIMED_OUT
    assert done.stdout == b"stopping\n"


def test_nor_can_a_child_that_holds_the_streams(inside: Inside) -> None:
    done = inside("import os, time\nif os.fork() == 0: time.sleep(40)\nprint('parent ends')")
    assert (done.exit.ended, done.exit.code) == (Ended.EXITED, 0)
    assert done.exit.wall < 15


@pytest.mark.long
def test_what_was_left_before_time_ran_out_crosses(inside: Inside, tmp_path: Path) -> None:
    code = "import time; open('/out/half', 'w').write('done so far'); time.sleep(40)"
    done = inside(code, seconds=1, scratch=("/out",), collect=(ExportSpec("/out", tmp_path / "got"),))
    assert done.exit.ended is Ended.TIMED_OUT
    assert (tmp_path / "got/half").read_text() == "done so far"


def test_setting_cancel_ends_a_command_early(inside: Inside, marked: Marked) -> None:
    cancel = threading.Event()

    def cancel_once_it_runs() -> None:
        wait_until(marked.alive)
        cancel.set()

    threading.Thread(target=cancel_once_it_runs).start()
    done = inside(DEAF, marked.word, cancel=cancel)
    assert done.exit.ended is Ended.CANCELLED
    assert marked.alive() == []


def test_a_command_cancelled_before_it_starts_ends_at_once(inside: Inside) -> None:
    cancel = threading.Event()
    cancel.set()
    done = inside(DEAF, cancel=cancel)
    assert done.exit.ended is Ended.CANCELLED


@pytest.mark.long
@pytest.mark.by_day(1)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_harness_that_is_killed_takes_everything_along(cache: Cache, marked: Marked, number: int) -> None:
    with subprocess.Popen([sys.executable, "-c", HARNESS, str(cache.path), marked.word]) as harness:
        wait_until(lambda: len(marked.alive()) >= 4)  # the harness, the shell, two sleeps
        (supervisor,) = supervisors(harness.pid)
        harness.send_signal(number)
        harness.wait(10)
    wait_until(lambda: marked.alive() == [])
    wait_until(lambda: not Path(f"/proc/{supervisor}").exists())


@pytest.mark.namespaces_alone
def test_a_supervisor_that_is_killed_takes_everything_along_and_is_our_fault(inside: Inside, marked: Marked) -> None:
    others = supervisors(os.getpid())  # such as a judge's, which another test's bench has not let go of yet

    def kill() -> None:
        wait_until(marked.alive)
        (ours,) = set(supervisors(os.getpid())) - set(others)
        os.kill(ours, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(InfraFault, match="supervisor ended with -9"):
        inside(DEAF, marked.word)
    killer.join()
    wait_until(lambda: marked.alive() == [])


def test_nothing_of_a_sandbox_remains_on_the_host(inside: Inside, cache: Cache, tree: Path) -> None:
    from repoassay.sandbox.protocol import Access, Mount

    def state() -> tuple[object, ...]:
        folders = (folder for folder, _, _ in os.walk("/sys/fs/cgroup"))  # of which others go meanwhile
        groups = sorted(folder for folder in folders if re.search(rf"/repoassay-\w+-{os.getpid()}-\d+$", folder))
        return (
            Path("/proc/self/mounts").read_text(),
            sorted(cache.path.rglob("*")),
            groups,
            len(list(Path("/proc/self/fd").iterdir())),
            supervisors(os.getpid()),
        )

    before = state()
    code = "import os; open('/tmp/x', 'w'); os.mkdir('/dev/shm/y'); open('/copy/new', 'w')"
    for _ in range(2):
        inside(code, mounts=(Mount(tree, "/copy", Access.COPY_ON_WRITE),), channel=True)
    assert state() == before


@pytest.mark.long
def test_two_sandboxes_at_once_do_not_see_each_other(inside: Inside, marked: Marked) -> None:
    code = """
import os, socket, sys, time
open("/tmp/mine", "w").write(sys.argv[1]); open("/dev/shm/mine", "w")
held = socket.create_server(("127.0.0.1", 7007)); held.settimeout(0)
name = socket.socket(socket.AF_UNIX); name.bind("\\0the same name")
time.sleep(1)
print([n for n in os.listdir("/proc") if n.isdigit()], os.listdir("/tmp"), open("/tmp/mine").read())
try:
    held.accept()
except BlockingIOError:
    print("nobody came")
"""
    results: dict[str, bytes] = {}
    names = ("one", "two", "three")
    threads = [
        threading.Thread(target=lambda name=name: results.update({name: inside(code, name).stdout})) for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {name: f"['1', '2'] ['mine'] {name}\nnobody came\n".encode() for name in names}
