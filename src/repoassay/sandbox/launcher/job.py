"""The place of one job: namespaces and a file tree of its own, made before anybody enters.

A *slot maker*, a fork of the fork server, has entered the user namespace of a slot. For each job it forks *process 1*
of new namespaces. That lays the repository out as an overlay on a fresh tmpfs, hands the namespaces to whoever is to
run the job, and then only buries orphans; its end is the end of everything in there.
"""

from __future__ import annotations

import _socket
import errno
import gc
import os
import signal
import stat

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.framing import held_document, receive, send
from repoassay.sandbox.launcher.identity import INSIDE
from repoassay.sandbox.launcher.root import TERMINALS, remove

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["KINDS", "make_slots"]

KINDS = {
    "user": kernel.CLONE_NEWUSER,
    "mnt": kernel.CLONE_NEWNS,
    "net": kernel.CLONE_NEWNET,
    "ipc": kernel.CLONE_NEWIPC,
    "pid": kernel.CLONE_NEWPID,
}
"""The namespaces of a job, in the order they are handed over and entered."""
_NEW = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC | kernel.CLONE_NEWNET
_PLACES = {"tmp": "/tmp", "shm": "/dev/shm", "home": "/home/agent", "tests": "/tests"}  # noqa: S108 - inside the slot
_SHARED = ("/checkouts", "/bytecode")
"""What the jobs of all tasks are laid out from; a job sees of it what is laid out for it."""


def make_slots(users: int, server: _socket.socket) -> NoReturn:
    """In a fork of the fork server: make the place of each job that it asks for, until it is gone.

    What it asks comes as three descriptors: a document with `layers` (of the repository, uppermost first), `writes` and
    `disk`; where the namespaces are sent, as descriptors; and a pipe that is told, a line each, the number of process 1
    and what went wrong, if anything, and is closed when all is laid out.

    Args:
        users: The user namespace of the slot.
        server: Where the fork server asks.
    """
    try:
        channel = os.dup2(server.detach(), 3, inheritable=False)
        kernel.setns(users, kernel.CLONE_NEWUSER)
        os.closerange(4, 4096)
        source = _socket.socket(-1, -1, -1, channel)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # of a job that was given up
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # process 1 waits for it
        gc.freeze()
        while True:
            _, request = receive(source, 3)
            _make_slot(*request)
            for descriptor in request:
                os.close(descriptor)
    except EOFError:
        pass  # the fork server is gone
    except BaseException as error:  # noqa: BLE001 - the host reads why from what was said
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)


def _make_slot(body: int, entrance: int, answer: int) -> None:
    try:
        first = kernel.fork_into(_NEW)
    except OSError as error:
        os.write(answer, _fault(error))
        return
    if first:
        os.write(answer, f"{first}\n".encode())
        return
    try:
        _be_first(held_document(body), entrance)
    except BaseException as error:  # noqa: BLE001 - nobody above to report to but this pipe
        os.write(answer, _fault(error))
    finally:
        os._exit(0)


def _fault(error: BaseException) -> bytes:
    return " ".join(f"{type(error).__name__}: {error}".split()).encode()[:2000] + b"\n"


def _be_first(job: dict[str, Any], channel: int) -> None:
    os.setsid()
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    kernel.mount("devpts", "/dev/pts", "devpts", kernel.MS_NOSUID | kernel.MS_NOEXEC, TERMINALS)
    kernel.loopback_up()
    _lay_out(job)
    descriptors = [os.open(f"/proc/self/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in KINDS]
    try:
        send(_socket.socket(-1, -1, -1, channel), b"n", descriptors)
    except OSError:
        pass  # whoever was to enter is gone, which the fork server sees
    os.closerange(0, 4096)
    while True:
        signal.sigwait([signal.SIGCHLD])
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def _lay_out(job: dict[str, Any]) -> None:
    """The overlay and the scratch folders, on one tmpfs; then the places they were made of are covered."""
    inodes = max(4096, min(job["disk"] // 2048, 2_000_000))
    kernel.mount("tmpfs", "/slot", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV,
                 f"size={job['disk']},nr_inodes={inodes},mode=755")  # fmt: skip
    places = _PLACES if job["layers"] else {**_PLACES, "repo": "/workspace/repo"}
    for name in ("upper", "work", *places):
        os.mkdir(f"/slot/{name}")
    for name, place in places.items():
        kernel.mount(f"/slot/{name}", place, flags=kernel.MS_BIND)
    if job["layers"]:
        options = f"lowerdir={':'.join(job['layers'])},upperdir=/slot/upper,workdir=/slot/work,userxattr"
        kernel.mount("overlay", "/workspace/repo", "overlay", kernel.MS_NOSUID | kernel.MS_NODEV, options)
    for path, content, executable in job["writes"]:
        _write(path, content, executable=executable)
    kernel.detach("/slot")
    for folder in (*_SHARED, "/slot"):  # locked, so they are covered by what is empty and not taken away
        kernel.mount("/sys", folder, flags=kernel.MS_BIND)


def _write(path: str, content: bytes | None, *, executable: bool) -> None:
    """Write or remove one file, or an empty folder; no folder on the way may be a link, which the base could hold."""
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
            _remove(name, folder)
            return
        flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            file = os.open(name, flags, 0o644, dir_fd=folder)
        except OSError as error:
            if error.errno not in (errno.EISDIR, errno.ELOOP):  # a folder, or a link of the base
                raise
            _remove(name, folder)
            file = os.open(name, flags, 0o644, dir_fd=folder)
        with os.fdopen(file, "wb") as stream:
            stream.write(content)
            os.fchmod(stream.fileno(), 0o755 if executable else 0o644)
            os.fchown(stream.fileno(), INSIDE, INSIDE)
    finally:
        os.close(folder)


def _remove(name: str, folder: int) -> None:
    cache = f"{name}/__pycache__"  # the layer of byte code keeps what a folder had compiled
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        try:
            compiled = os.open(cache, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        except FileNotFoundError:
            pass
        else:
            for each in os.listdir(compiled):
                os.unlink(each, dir_fd=compiled)
            os.close(compiled)
            os.rmdir(cache, dir_fd=folder)
    remove(name, folder)
