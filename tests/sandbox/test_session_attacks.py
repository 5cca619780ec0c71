"""What runs in a session attacks it: its process 1, its host's end, its files, its limits, its caller's patience."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from marked_processes import Marked
from repoassay.errors import Interrupted
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.namespaces import NamespaceSandbox
from repoassay.sandbox.protocol import Access, Completed, Mount, Sandbox, SandboxSession, SandboxSetup
from repoassay.types import Ended
from sandbox.conftest import PYTHON, SMALL
from waiting import wait_until

LONG = 60.0
"""Seconds that no single step of an attack may take."""


SESSIONS = ("sandbox", "bubblewrap", "podman", "docker", "apptainer")


@pytest.fixture
def session(kind: Sandbox, tree: Path) -> Iterator[SandboxSession]:
    mounts = (Mount(tree, "/w/repo", Access.COPY_ON_WRITE),)
    with kind.open(SandboxSetup(cwd="/w", scratch=("/w",), mounts=mounts, limits=SMALL)) as opened:
        yield opened


def python(session: SandboxSession, code: str, timeout: float = LONG, **options: object) -> Completed:
    return session.exec([PYTHON, "-I", "-B", "-c", code], timeout=timeout, **options)  # type: ignore[arg-type]


def works(session: SandboxSession) -> bool:
    """Whether a command, a file written and a file read are what they should be."""
    session.write("/tmp/works", b"yes")
    return session.read("/tmp/works") == b"yes" and session.exec(["echo", "yes"]).stdout == b"yes\n"


@pytest.mark.every_sandbox
def test_nobody_reaches_process_1_or_what_it_hears_and_tells(session: SandboxSession) -> None:
    code = """
import os, signal, socket
for number in range(1, 65):
    try: os.kill(1, number)
    except OSError: pass
for place in ("fd", "mem", "environ", "maps", "root/../..", "cwd", "fdinfo"):
    try: print(place, os.listdir(f"/proc/1/{place}") if "fd" in place else open(f"/proc/1/{place}", "rb+").read(9))
    except OSError as error: pass
try: os.close(os.pidfd_open(1)); import ctypes; print(ctypes.CDLL(None).syscall(438, os.pidfd_open(1), 3, 0) >= 0)
except OSError: pass
print(sorted(os.listdir("/proc/self/fd"))[:4])
for number in range(3, 4096):
    for word in (b"", b"r", b"\\xff" * 5000, b"\\xfbi\\0\\0\\0\\0"):
        try: os.write(number, word)
        except OSError: pass
"""
    done = python(session, code)
    assert done.stdout in (b"False\n['0', '1', '2', '3']\n", b"['0', '1', '2', '3']\n")
    assert works(session)


@pytest.mark.long
def test_garbage_on_every_descriptor_of_a_command_is_its_output_and_no_more(session: SandboxSession) -> None:
    code = "import os\nfor n in range(512): os.write(1 + n % 2, b'\\xfb\\x01i\\0\\0\\0\\0' * 99)\nos.closerange(0, 99)"
    done = python(session, code, output=4096)
    assert (done.exit.code, done.exit.output_truncated) == (0, True)
    with ThreadPoolExecutor(1) as pool:  # a sibling that writes where others read
        sibling = pool.submit(python, session, "import time; time.sleep(1); print('mine')")
        python(session, """
import os, time
for _ in range(40):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) not in (1, os.getpid()):
            for end in ("fd/1", "fd/2", "mem"):
                try: os.write(os.open(f"/proc/{pid}/{end}", os.O_WRONLY | os.O_NONBLOCK), b"x")
                except OSError: pass
    time.sleep(0.01)
""")  # fmt: skip
        assert sibling.result().exit.code == 0  # what a sibling prints may be spoiled, not how it ended
    assert works(session)


@pytest.mark.long
def test_a_daemon_survives_its_command_and_a_timeout_but_not_the_session(kind: Sandbox, marked: Marked) -> None:
    code = f"""
import os, signal, sys, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork(): time.sleep(100)
os.setsid()
if os.fork(): os._exit(0)
os.execve({PYTHON!r}, [{PYTHON!r}, "-c", "import time; time.sleep(600)", {marked.word!r}], {{}})
"""
    with kind.open(SandboxSetup(limits=SMALL)) as session:
        for seconds in (2.0, 10.0, 40.0):  # a busy machine may not have come to the daemon by the first
            assert python(session, code, timeout=seconds).exit.ended is Ended.TIMED_OUT
            if marked.alive():
                break
        wait_until(lambda: len(marked.alive()) == 1)
        assert works(session)
        session.kill()
        wait_until(lambda: not marked.alive())
        python(session, code.replace("time.sleep(100)", "os._exit(0)"))
        wait_until(lambda: bool(marked.alive()))
    assert not marked.alive()


@pytest.mark.long
def test_floods_of_output_neither_fill_memory_nor_hold_up_others(session: SandboxSession) -> None:
    flood = "import os\nwhile True: os.write(1, b'x' * 65536); os.write(2, b'y' * 65536)"
    python(
        session, f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {flood!r}], start_new_session=True)"
    )
    before = _resident()
    began = time.monotonic()
    done = python(session, flood, timeout=2.5)
    assert (done.exit.ended, done.exit.output_truncated) == (Ended.TIMED_OUT, True)
    assert len(done.stdout) < SMALL.output + 200
    assert works(session)
    assert time.monotonic() - began < LONG
    assert _resident() - before < 64 * 2**20


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.every_sandbox
@pytest.mark.by_day(5)
@pytest.mark.parametrize("target", ["{secret}", "/proc/1/root{secret}", "/proc/self/cwd/../../../../../..{secret}"])
def test_links_lead_nowhere_outside(session: SandboxSession, tmp_path: Path, target: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("of this machine")
    place = target.format(secret=secret)
    python(session, f"import os; os.symlink({place!r}, 'link'); os.symlink({str(Path(place).parent)!r}, 'folder')")
    for path in ("link", "folder/secret.txt", place, f"../../../../..{secret}"):
        with contextlib.suppress(OSError):
            assert session.read(path) == b"changed"  # a file in here that has the name
        with contextlib.suppress(OSError):
            session.write(path, b"changed")
    assert secret.read_text() == "of this machine"
    assert works(session)


def test_the_helpers_own_descriptors_are_no_way_in(session: SandboxSession) -> None:
    for number in range(12):
        session.exec(["ln", "-s", f"/proc/self/fd/{number}", f"l{number}"])
        for do in (session.read, lambda path: session.write(path, b"\xfb\x01")):
            with pytest.raises(OSError) as caught:
                do(f"l{number}")
            assert caught.value.errno in (errno.ELOOP, errno.ENOENT)
    assert works(session)


def test_what_is_no_file_holds_nobody_up(session: SandboxSession) -> None:
    python(session, "import os, socket; os.mkfifo('fifo'); socket.socket(socket.AF_UNIX).bind('socket')")
    python(
        session,
        "import os; os.symlink('loop', 'loop'); os.symlink('/dev/full', 'full'); os.truncate('repo/plain.txt', 9**7)",
    )
    began = time.monotonic()
    for path in ("fifo", "socket", "loop", "full", "/dev/zero", "/dev/tty", "repo"):
        with pytest.raises(OSError):
            session.read(path, 1000)
        with pytest.raises(OSError):
            session.write(path, b"x")
    with pytest.raises(OSError) as caught:
        session.read("repo/plain.txt", 1000)
    assert caught.value.errno == errno.EFBIG
    assert time.monotonic() - began < LONG


def test_a_folder_swapped_for_a_link_while_files_are_read_and_written(session: SandboxSession, tmp_path: Path) -> None:
    """Whichever it finds, what is read lies inside: the file or what the link leads to in here."""
    outside = tmp_path / "hosts"
    outside.write_text("of this machine")
    python(session, f"""
import os
os.makedirs("a"); os.makedirs("b"); open("a/hosts", "w").write("inside")
os.symlink({str(tmp_path)!r}, "b/out")
if os.fork() == 0:
    os.setsid()
    while True:
        os.rename("a", "c"); os.symlink("b/out", "a"); os.unlink("a"); os.rename("c", "a")
""")  # fmt: skip
    found = set()
    before = session.snapshot("repo", "/w")
    for _ in range(60):
        try:
            found.add(session.read("a/hosts"))
        except FileNotFoundError:
            found.add(b"gone")
        with contextlib.suppress(OSError):
            session.write("a/new", b"written")
    session.diff(before)
    session.kill()
    assert found <= {b"inside", b"gone"}
    assert outside.read_text() == "of this machine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hosts", "tree"]


def test_listing_is_not_led_astray(session: SandboxSession) -> None:
    before = session.snapshot()
    python(session, """
import os
os.chdir("repo")
os.symlink("/", "root"); os.symlink(".", "self"); os.mkdir("locked")
open("locked/in", "w").write("x"); os.chmod("locked", 0)
for name in (b"\\xff\\xfe", b"a\\nb", b"0 0 0 0", b"x" * 255): open(name, "w").write("x")
for _ in range(60): os.mkdir("deep"); os.chdir("deep")
open("bottom", "w").write("x")
""")  # fmt: skip
    found = {change.path.removeprefix("/w/repo/"): change for change in session.diff(before)}
    bottom = "deep/" * 60 + "bottom"
    assert set(found) == {"root", "self", "locked/in", os.fsdecode(b"\xff\xfe"), "a\nb", "0 0 0 0", "x" * 255, bottom}
    assert session.read(f"repo/{bottom}") == session.read(found[os.fsdecode(b"\xff\xfe")].path) == b"x"


@pytest.mark.every_sandbox
def test_a_full_disk_is_an_error_and_no_end(kind: Sandbox, session: SandboxSession) -> None:
    done = python(session, "open('/tmp/big', 'wb').write(bytes(10**9))")
    assert done.exit.code != 0
    if kind.name != "namespaces":  # each folder has a size, and passing the limit together ends all
        code = "open('/w/more', 'wb').write(bytes(2**23)); import time; time.sleep(20)"
        assert python(session, code).exit.ended is Ended.OUT_OF_MEMORY
        return
    with pytest.raises(OSError) as caught:
        session.write("more", b"x" * 2**20)
    assert caught.value.errno == errno.ENOSPC
    with pytest.raises(OSError) as caught:
        session.write("more", b"x" * (SMALL.disk + 1))
    assert caught.value.errno == errno.EFBIG
    session.exec(["rm", "/tmp/big"])
    assert works(session)


FORKS = """
import os, signal, time
for number in (15, 2, 1): signal.signal(number, signal.SIG_IGN)
os.setsid() if os.fork() == 0 else os._exit(0)
while True:
    try: os.fork()
    except OSError: time.sleep(0.001)
"""


def test_exhausted_processes_leave_files_readable_and_can_be_killed(kind: Sandbox, session: SandboxSession) -> None:
    if kind.name.startswith("podman"):
        pytest.skip("the engine limits processes, and has no control groups in these tests")
    python(session, FORKS)
    time.sleep(0.5)
    began = time.monotonic()
    with contextlib.suppress(OSError):
        session.write("in/between", b"x")
    done = session.exec(["true"], timeout=LONG)
    assert done.exit.code in (0, 126)
    session.kill()
    assert works(session)
    assert time.monotonic() - began < LONG


def test_memory_that_runs_out_is_told(session: SandboxSession, watched: NamespaceSandbox) -> None:
    bomb = "held = []\nwhile True: held.append(bytearray(b'x') * 2**22)"
    done = python(session, bomb)
    assert done.exit.ended is Ended.OUT_OF_MEMORY
    if not session.ended:  # the kernel chose the process alone
        assert works(session)
    with watched.open(SandboxSetup(limits=SMALL)) as other:
        assert python(other, bomb).exit.ended is Ended.OUT_OF_MEMORY
        with pytest.raises(Interrupted, match="out of memory"):
            other.exec(["true"])
        assert other.close().exit.ended is Ended.OUT_OF_MEMORY


def fails_soon(session: SandboxSession) -> bool:
    """Whether writing comes to an error; on a busy machine the attack may take its time to begin."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            session.write("victim", b"x")
        except OSError:
            return True
    return False


def test_stopped_and_killed_helpers_are_an_error(session: SandboxSession) -> None:
    python(session, """
import os, signal
if os.fork() == 0:
    os.setsid()
    while True:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if int(pid) not in (1, os.getpid()):
                try: os.kill(int(pid), signal.SIGKILL)
                except OSError: pass
""")  # fmt: skip
    assert fails_soon(session)
    session.kill()
    assert works(session)


@pytest.mark.long
def test_helpers_that_are_stopped_are_given_up(session: SandboxSession, monkeypatch: pytest.MonkeyPatch) -> None:
    from repoassay.sandbox import served_session

    monkeypatch.setattr(served_session, "_FILES", 0.5)
    python(session, """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    time.sleep(0.5)
    while True:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if int(pid) not in (1, os.getpid()):
                try: os.kill(int(pid), signal.SIGSTOP)
                except OSError: pass
""")  # fmt: skip
    assert fails_soon(session)
    assert session.exec(["sleep", "5"], timeout=0.5).exit.ended is Ended.TIMED_OUT
    session.kill()
    assert works(session)


CALLER = """
import os, sys, threading, time
from pathlib import Path
from repoassay.sandbox.cache import Cache
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.sandbox.protocol import SandboxSetup
with open_sandbox("namespaces", Cache(Path(sys.argv[1]))).open(SandboxSetup()) as session:
    session.exec(["sh", "-c", "setsid sleep 600 &"], env={"MARK": sys.argv[2]})
    print("ready", flush=True)
    try:
        session.exec(["sleep", "601"], env={"MARK": sys.argv[2]})
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        raise
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_caller_that_is_interrupted_or_killed_leaves_nothing_running(
    cache: Cache, marked: Marked, number: signal.Signals
) -> None:
    argv = [sys.executable, "-c", CALLER, str(cache.path), marked.word]
    sound = "import os, signal, sys; signal.signal(2, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    argv = [sys.executable, "-c", sound, *argv]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as caller:
        assert caller.stdout
        assert caller.stdout.readline() == b"ready\n"
        wait_until(lambda: len(marked.alive()) >= 3)
        caller.send_signal(number)
        said = caller.stdout.read()
        caller.wait(LONG)
    assert (said == b"interrupted\n") is (number == signal.SIGINT)
    wait_until(lambda: not marked.alive())
