"""The fork server's gate and life: nobody keeps a capability on the way in, disturbs others, or stays behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Protocol

import pytest

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import Cache
from repoassay.types import Ended
from waiting import wait_until
from warm_parents import AT_THE_GATE, LAUNCHER, SMALL, Warm, WarmJob, base, run, warm

__all__ = ["warm"]


class Marked(Protocol):
    word: str

    def alive(self) -> list[int]: ...


@pytest.mark.parametrize("name", AT_THE_GATE)
def test_what_differs_at_the_gate_is_ended(warm: Warm, cache: Cache, name: str) -> None:
    code, reason = AT_THE_GATE[name]
    parent = warm(LAUNCHER + code + "\n")
    for _ in range(2):
        with pytest.raises(InfraFault, match=reason):
            run(parent, cache, "found = 'it ran'")


def test_descriptors_of_namespaces_are_of_no_use_without_the_gate(warm: Warm, cache: Cache) -> None:
    """The fork passes on to the warm interpreter's own state what it tried with the descriptors it was sent."""
    code = (
        LAUNCHER
        + """
import errno
def collect(job, entrance, told, said, work, strict):
    import _socket, json
    server = _socket.socket(-1, -1, -1, entrance)
    tried = []
    while len(tried) < 5:
        word, given = launcher.receive(server, 5)
        for descriptor in given:
            try:
                enter(descriptor, 0)
                tried.append("went")
            except OSError as error:
                tried.append(errno.errorcode[error.errno])
    os.write(2, json.dumps(tried).encode())
    os._exit(0)
launcher._enter = collect
"""
    )
    parent = warm(code)
    with pytest.raises(InfraFault):
        run(parent, cache)
    end = time.monotonic() + 20
    while b"]" not in parent._said and time.monotonic() < end:
        time.sleep(0.05)
    assert bytes(parent._said).count(b'"ENOSYS"') == 5


@pytest.mark.parametrize("number", [1, 2, 9, 15, 19])
def test_the_fork_server_is_deaf(warm: Warm, cache: Cache, number: int) -> None:
    parent = warm(f"import os\nos.kill(1, {number})\nfound = 'still here'\n")
    assert run(parent, cache)[0] == "still here"
    assert run(parent, cache, f"import os\nos.kill(1, {number})\nfound = 'on'")[0] == "on"
    assert run(parent, cache)[0] == "still here"


def test_the_fork_server_shows_and_takes_nothing(warm: Warm, cache: Cache) -> None:
    code = """
import os, resource
def attempt(action):
    try:
        return f"went: {action()}"
    except OSError as error:
        return type(error).__name__
found = [attempt(action) for action in (
    lambda: open("/proc/1/mem", "rb+"), lambda: open("/proc/1/environ").read(), lambda: os.listdir("/proc/1/fd"),
    lambda: os.readlink("/proc/1/root"), lambda: os.open("/proc/1/ns/user", os.O_RDONLY),
    lambda: open("/proc/1/oom_score_adj", "w"), lambda: resource.prlimit(1, resource.RLIMIT_CPU, (0, 0)),
)]
"""
    parent = warm(code)
    for found, _ in (run(parent, cache), run(parent, cache, code)):
        assert set(found) == {"PermissionError"}


def test_a_job_sees_itself_alone(warm: Warm, cache: Cache) -> None:
    code = "import os; found = [sorted(int(n) for n in os.listdir('/proc') if n.isdigit()), os.getpid(), os.getppid()]"
    (seen, own, parents), _ = run(warm(), cache, code)
    assert (seen, parents) == ([1, own], 0)


KILL_ALL = "import os\ntry:\n    os.kill(-1, 9)\nexcept ProcessLookupError:\n    pass\n"


@pytest.mark.long
def test_a_job_that_kills_all_it_can_ends_itself_alone(warm: Warm, cache: Cache) -> None:
    parent, other = warm("found = 'warm'\n"), warm("found = 'other'\n")
    held: list[object] = []
    beside = threading.Thread(target=lambda: held.append(run(parent, cache, "import time; time.sleep(3)")[0]))
    far = threading.Thread(target=lambda: held.append(run(other, cache, "import time; time.sleep(3)")[0]))
    beside.start()
    far.start()
    time.sleep(1)
    _, done = run(parent, cache, f"{KILL_ALL}os.kill(0, 9)")
    assert (done.exit.ended, done.exit.signal) == (Ended.SIGNALLED, 9)
    beside.join(30)
    far.join(30)
    assert sorted(map(str, held)) == ["other", "warm"]


@pytest.mark.long
def test_a_package_that_kills_all_it_can_leaves_other_parents_alone(warm: Warm, cache: Cache) -> None:
    other = warm("found = 'other'\n")
    held: list[object] = []
    far = threading.Thread(target=lambda: held.append(run(other, cache, "import time; time.sleep(3)")[0]))
    far.start()
    parent = warm(f"{KILL_ALL}found = 1\n")
    assert run(parent, cache)[0] == 1
    far.join(30)
    assert held == ["other"]


@pytest.mark.long
def test_who_makes_slots_may_be_killed_between_jobs(warm: Warm, cache: Cache, tmp_path: Path) -> None:
    """A package that is imported later finds it; the next job gets another."""
    parent = warm("found = 'on'\n")
    assert run(parent, cache)[0] == "on"
    (next(parent.environment.glob("lib/*/site-packages")) / "later.py").write_text(KILL_ALL)
    parent.import_too(["later"])
    time.sleep(1)
    assert run(parent, cache)[0] == "on"
    assert run(parent, cache)[0] == "on"


def test_what_fills_its_pipes_is_heard_whole(warm: Warm, cache: Cache) -> None:
    """Pipes are looked into now and then; those that fill up at once, so that nobody waits long for room."""
    parent = warm()
    code = "import os\nfor number in range(60):\n    os.write(3, b'%02d' % number * 30_000)\nfound = 'end'"
    done = parent.run(WarmJob(base(cache), None, {}, {"path": [], "code": code}, SMALL))
    assert done.channel == b"".join(b"%02d" % number * 30_000 for number in range(60)) + b'"end"'
    assert done.exit.code == 0


@pytest.mark.long
def test_limits_hold_whatever_the_package_does(warm: Warm, cache: Cache) -> None:
    """A time-out and a memory limit are the fork server's to see, not the warm interpreter's."""
    ignore = "import os, signal\nos.waitpid = lambda *_: (signal.pause(), 0)\n"
    parent = warm(ignore)
    short = SMALL.model_copy(update={"seconds": 1})
    _, done = run(parent, cache, "import time; time.sleep(30)", short)
    assert done.exit.ended is Ended.TIMED_OUT
    _, done = run(warm(), cache, "x = [b'x' * 10**7 for _ in range(80)]\nimport time; time.sleep(20)")
    assert done.exit.ended is Ended.OUT_OF_MEMORY


@pytest.mark.exhaustive
def test_a_package_cannot_keep_a_job_from_ending(warm: Warm, cache: Cache) -> None:
    """It adopts the worker and never buries it: the job is answered, and the whole parent ends with what was kept."""
    code = (
        LAUNCHER
        + """
fork = os.fork
os.fork = lambda: kernel._libc.prctl(36, 1, 0, 0, 0) or fork()
os.waitpid = lambda *_: (0, 0)
"""
    )
    parent = warm(code, slots=1)
    assert run(parent, cache, "import time; time.sleep(1); found = 'done'")[0] == "done"
    with pytest.raises(InfraFault, match="ended before the job did"):
        run(parent, cache, "found = 'it ran in the place that was kept'")


def test_a_job_that_came_as_the_parent_ended_is_not_waited_for(warm: Warm, cache: Cache) -> None:
    """What is left of the parent may still hold the end of the pipe that jobs go into, and never read it."""
    parent = warm()
    parent._process.kill()
    wait_until(lambda: parent._over)
    read, write = os.pipe()
    with os.fdopen(read, "rb"), os.fdopen(write, "wb", buffering=0) as parent._jobs:
        cancel = threading.Event()
        threading.Timer(5, cancel.set).start()
        with pytest.raises(InfraFault, match="has ended"):
            parent.run(WarmJob(None, None, {}, {"path": [], "code": ""}, SMALL), cancel)


def test_a_package_that_asked_to_adopt_orphans_gets_no_worker(warm: Warm, cache: Cache) -> None:
    assert run(warm(LAUNCHER + "kernel._libc.prctl(36, 1, 0, 0, 0)\nfound = 1\n"), cache)[0] == 1


@pytest.mark.long
def test_jobs_share_no_terminal_and_no_folder(warm: Warm, cache: Cache) -> None:
    parent = warm()
    held: list[object] = []
    hold = "import os, time; a, b = os.openpty(); found = os.ttyname(b); open('/workspace/repo/x', 'w'); time.sleep(3)"
    bare = WarmJob(None, None, {}, {"path": [], "code": hold}, SMALL)
    beside = threading.Thread(target=lambda: held.append(parent.run(bare).channel))
    beside.start()
    time.sleep(1.5)
    look = "import os; found = [os.listdir('/dev/pts'), os.listdir('/workspace/repo'), os.listdir('/tmp')]"
    told = parent.run(WarmJob(None, None, {}, {"path": [], "code": look}, SMALL)).channel
    assert told == b'[["ptmx"], [], []]'
    beside.join(30)
    assert held == [b'"/dev/pts/0"']


LEFT = """
import os
if os.fork() == 0:
    os.setsid()
    os.execve("/bin/sleep", ["sleep", "300"], {"MARK": "%s"})
found = "left"
"""


def test_nothing_is_left_behind_by_package_or_job(warm: Warm, cache: Cache, marked: Marked) -> None:
    parent = warm(LEFT % marked.word)
    assert run(parent, cache)[0] == "left"
    assert len(marked.alive()) == 1
    assert run(parent, cache, LEFT % marked.word)[0] == "left"
    assert len(marked.alive()) == 1  # the job's ended with it
    parent.close()
    assert marked.alive() == []


@pytest.mark.exhaustive
def test_jobs_under_way_are_finished_when_the_parent_retires(warm: Warm, cache: Cache) -> None:
    parent = warm()
    held: list[object] = []
    job = threading.Thread(target=lambda: held.append(run(parent, cache, "import time; time.sleep(2); found = 1")[0]))
    job.start()
    time.sleep(0.7)
    parent.retire()
    job.join(30)
    assert held == [1]


@pytest.mark.long
def test_a_job_can_be_cancelled(warm: Warm, cache: Cache) -> None:
    parent, cancel = warm(), threading.Event()
    threading.Timer(1, cancel.set).start()
    job = WarmJob(base(cache), None, {}, {"path": [], "code": "import time; time.sleep(30)"}, SMALL)
    assert parent.run(job, cancel).exit.ended is Ended.CANCELLED
    assert run(parent, cache, "found = 'on'")[0] == "on"


def test_a_warm_interpreter_that_ends_is_a_fault(warm: Warm, cache: Cache) -> None:
    with pytest.raises(InfraFault):
        warm("import os\nos._exit(0)\n")
    later = LAUNCHER + "launcher._enter = lambda *_: os.kill(os.getppid(), 9)\n"
    with pytest.raises(InfraFault):
        run(warm(later), cache)


HARNESS = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from pathlib import Path
from repoassay.sandbox.cache import Cache
from warm_parents import start, run
cache = Cache(Path(sys.argv[3]))
with start(cache, Path(sys.argv[4]), sys.argv[5]) as parent:
    print("ready", flush=True)
    run(parent, cache, "import time; time.sleep(60)")
"""


@pytest.mark.by_day(1)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_harness_takes_all_along(tmp_path: Path, marked: Marked, number: int) -> None:
    tmp_path.chmod(0o755)
    for name in ("cache", "parent"):
        (tmp_path / name).mkdir(mode=0o755)
    source = str(Path(sys.modules["repoassay"].__path__[0]).parent)
    argv = [sys.executable, "-c", HARNESS, source, str(Path(__file__).parents[1])]
    argv += [str(tmp_path / "cache"), str(tmp_path / "parent"), LEFT % marked.word]
    harness = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert harness.stdout is not None
    with harness.stdout:
        assert harness.stdout.readline() == b"ready\n"
        wait_until(lambda: len(marked.alive()) >= 2)  # the harness itself carries the word, and what was left
        harness.send_signal(number)
        if number == signal.SIGINT and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            harness.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            harness.wait(30)
    wait_until(lambda: not marked.alive())
