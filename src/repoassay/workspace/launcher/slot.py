"""One job of a warm parent: namespaces, file tree and identity of its own around a fork, gone in a few milliseconds.

A warm parent (`warm.py`) forks the *keeper*, which leaves every namespace for new ones, lays the repository out as an
overlay on a fresh tmpfs, and forks *process 1* of the new pid namespace; that forks the *worker*, which gives up all
privileges and runs the job in the interpreter it inherited. The keeper holds it to its limits and tells what became of
it. Nothing of the job outlives process 1.
"""

from __future__ import annotations

import os
import resource
import select
import sys
import time

from repoassay.workspace.launcher import kernel
from repoassay.workspace.launcher.identity import INSIDE, become_command
from repoassay.workspace.launcher.signals import as_a_fresh_process, as_a_fresh_python
from repoassay.workspace.launcher.watch import Watch

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["keep"]

_NAMESPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWNET
_PLACES = {"tmp": "/tmp", "shm": "/dev/shm", "home": "/home/agent", "tests": "/tests"}  # noqa: S108 - inside the slot
_LOOK = 0.05
_SAID = 64 * 1024
_TOLD = 8 * 1024 * 1024


def keep(job: dict[str, Any], work: Callable[[dict[str, Any], int], None], program: bytes) -> dict[str, Any]:
    """Run one job to its end and return what became of it: `ended`, `code`, `signal`, `wall`, `told`, `said`, `peak`.

    Args:
        job: `layers` (of the repository, uppermost first), `writes`, `env`, `seconds`, `memory`, `disk`, `processes`,
            and what `work` needs.
        work: What the worker runs, given the job and the descriptor of its private channel.
        program: The compiled system-call filter.
    """
    kernel.unshare(_NAMESPACES)
    _lay_out(job)
    told_read, told_write = os.pipe()
    said_read, said_write = os.pipe()
    result_read, result_write = os.pipe()
    started = time.monotonic()
    first = os.fork()
    if first == 0:
        _be_first(job, work, program, told_write, said_write, result_write)
    for descriptor in (told_write, said_write, result_write):
        os.close(descriptor)
    watch = Watch(first, job["memory"], job["disk"], job["processes"], [])
    told, said, ended = _listen(first, told_read, said_read, watch, started + job["seconds"])
    os.kill(first, 9)
    os.waitpid(first, 0)
    outcome = os.read(result_read, 4096).decode(errors="replace")
    if outcome.startswith("fault "):
        return {"fault": outcome[6:]}
    word, _, number = outcome.partition(" ")
    if ended == "exited" and word == "signal":
        ended = "signalled"
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "ended": ended,
        "code": int(number) if word == "exit" else None,
        "signal": int(number) if word == "signal" else None,
        "wall": time.monotonic() - started,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_memory": watch.peak or usage.ru_maxrss * 1024,
        "told": told,
        "said": said,
    }


def _lay_out(job: dict[str, Any]) -> None:
    """The overlay and the scratch folders, on one tmpfs; then the places they were made of are let go."""
    inodes = max(4096, min(job["disk"] // 2048, 2_000_000))
    kernel.mount("tmpfs", "/slot", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV,
                 f"size={job['disk']},nr_inodes={inodes},mode=755")  # fmt: skip
    for name in ("upper", "work", *_PLACES):
        os.mkdir(f"/slot/{name}")
        os.chown(f"/slot/{name}", INSIDE, INSIDE)
    for name, place in _PLACES.items():
        kernel.mount(f"/slot/{name}", place, flags=kernel.MS_BIND)
    if job["layers"]:
        options = f"lowerdir={':'.join(job['layers'])},upperdir=/slot/upper,workdir=/slot/work,userxattr"
        kernel.mount("overlay", "/workspace/repo", "overlay", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    for path, content, executable in job["writes"]:
        _write(path, content, executable=executable)
    for folder in ("/checkouts", "/bytecode"):
        kernel.detach(folder)
    kernel.detach("/slot")
    kernel.protect("/slot")  # the parent's folder shows again: what one job left there, the next would find


def _write(path: str, content: bytes | None, *, executable: bool) -> None:
    """Write or remove one file; no folder on the way may be a link, which the base tree could hold."""
    folder = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    *parents, name = path.strip("/").split("/")
    try:
        for part in parents:
            if part == "..":
                raise OSError(f"{path} leads upwards")
            try:
                os.mkdir(part, 0o755, dir_fd=folder)
                os.chown(part, INSIDE, INSIDE, dir_fd=folder, follow_symlinks=False)
            except FileExistsError:
                pass
            except OSError:
                if not os.path.isdir(f"/proc/self/fd/{folder}/{part}"):
                    raise
            inner = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = inner
        if content is None:
            os.unlink(name, dir_fd=folder)
            return
        flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, 0o644, dir_fd=folder), "wb") as stream:
            stream.write(content)
            os.fchmod(stream.fileno(), 0o755 if executable else 0o644)
            os.fchown(stream.fileno(), INSIDE, INSIDE)
    finally:
        os.close(folder)


def _be_first(
    job: dict[str, Any], work: Callable[[dict[str, Any], int], None], program: bytes, told: int, said: int, result: int
) -> None:
    """Process 1 of the job: starts the worker, buries orphans, and by ending takes every descendant along."""
    try:
        as_a_fresh_process()
        kernel.die_with_parent()
        os.setsid()
        kernel.unshare(kernel.CLONE_NEWNS)  # the keeper keeps its own /proc, through which it watches
        kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
        kernel.loopback_up()
        worker = os.fork()
        if worker == 0:
            _be_worker(job, work, program, told, said)
        os.close(told)
        os.close(said)
        while True:
            child, status = os.waitpid(-1, 0)
            if child == worker:
                code = os.waitstatus_to_exitcode(status)
                os.write(result, (f"exit {code}" if code >= 0 else f"signal {-code}").encode())
                break
    except BaseException as error:  # noqa: BLE001 - process 1 has nobody above it to report to but this pipe
        os.write(result, f"fault {type(error).__name__}: {error}".encode()[:2000])
    finally:
        os._exit(0)


def _be_worker(
    job: dict[str, Any], work: Callable[[dict[str, Any], int], None], program: bytes, told: int, said: int
) -> None:
    status = 1
    try:
        as_a_fresh_python()
        null = os.open("/dev/null", os.O_RDONLY)
        for descriptor, target in ((null, 0), (said, 1), (said, 2)):
            os.dup2(descriptor, target)
        channel = os.dup2(told, 3, inheritable=False)
        os.closerange(4, 4096)
        os.umask(0o022)
        os.environ.clear()
        os.environ.update(job["env"])
        os.chdir("/tmp")  # noqa: S108 - inside the slot
        for limit, value in _limits(job).items():
            hard = resource.getrlimit(limit)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(limit, (bound, bound))
        become_command()
        kernel.set_filter(program)
        work(job, channel)
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - whatever the job raised, its process ends here
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass  # the job closed or replaced it
        os._exit(status & 255)


def _limits(job: dict[str, Any]) -> dict[int, int]:
    return {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: job["disk"],
        resource.RLIMIT_NOFILE: 4096,
        resource.RLIMIT_MEMLOCK: 1 << 20,
        resource.RLIMIT_MSGQUEUE: 1 << 16,
        resource.RLIMIT_CPU: int(job["seconds"] * (os.cpu_count() or 1)) + 5,
        # Counted over all jobs of the parent, which are one account to the kernel; the keeper counts this one's.
        resource.RLIMIT_NPROC: job["processes"] * 4,
    }


def _listen(first: int, told: int, said: int, watch: Watch, deadline: float) -> tuple[bytes, bytes, str]:
    """Take in what the job tells and says until it ends, its time is up, or it takes too much memory."""
    heard, spoken = bytearray(), bytearray()
    process = os.pidfd_open(first)
    poll = select.poll()
    for descriptor in (process, told, said):
        poll.register(descriptor, select.POLLIN)
    for descriptor in (told, said):
        os.set_blocking(descriptor, False)
    look = time.monotonic() + _LOOK
    ended = ""
    while not ended:
        left = min(deadline, look) - time.monotonic()
        ready = {descriptor for descriptor, _ in poll.poll(max(0.0, left) * 1000)}
        for descriptor, sink, most in ((told, heard, _TOLD), (said, spoken, _SAID)):
            if descriptor in ready and not _take(descriptor, sink, most):
                poll.unregister(descriptor)
        now = time.monotonic()
        if process in ready:
            ended = "exited"
        elif now >= deadline:
            ended = "timed_out"
        elif now >= look:
            look = now + _LOOK
            if watch.exceeded():
                ended = "out_of_memory"
    for descriptor, sink, most in ((told, heard, _TOLD), (said, spoken, _SAID)):
        try:
            while _take(descriptor, sink, most):
                pass
        except BlockingIOError:
            pass  # a survivor still holds the pipe; it ends with process 1
    os.close(process)
    return bytes(heard), bytes(spoken[-4096:]), ended


def _take(descriptor: int, sink: bytearray, most: int) -> bool:
    """Read once, keeping at most `most` bytes; false at the end."""
    data = os.read(descriptor, 1 << 16)
    sink += data[: max(0, most - len(sink))]
    return bool(data)
