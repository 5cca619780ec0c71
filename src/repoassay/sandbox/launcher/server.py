"""The fork server of a prefork server: process 1 inside, which has slots made for jobs and holds jobs to their limits.

It imports nothing of the environment, so that nothing hostile ever runs in it, and alone speaks with the host. Neither
do the *slot makers* (`job.py`), which it forks. The *warm interpreter* (`prefork.py`), which has imported what jobs
need, has no privilege: it is forked here, told of each job, and forks once a job; what it forks enters the slot through
a gate (`gate.py`). Jobs come over one pipe and results go over another, each a marshalled document behind its length.
One thread and one loop serve all jobs.
"""

from __future__ import annotations

import _socket
import gc
import os
import resource
import select
import signal
import struct
import time

from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.framing import decode, encode, hold_document, send
from repoassay.sandbox.launcher.identity import map_ourselves
from repoassay.sandbox.launcher.job import make_slots
from repoassay.sandbox.launcher.keeper import LOOK, Keeper
from repoassay.sandbox.launcher.prefork import be_warm

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from typing import Any

    from repoassay.sandbox.launcher.spec import Spec

__all__ = ["serve"]

_ALL = 0x40000000 | os.WNOHANG  # processes we trace among them
_PATIENCE = 1.0
"""Seconds after which a job is answered although its place is still being taken down: it may have filled that."""
_KEPT = 10.0
"""Seconds after which the dead of a job are looked for, which a hostile warm interpreter may have adopted."""


def serve(spec: Spec) -> None:
    """Take jobs until the host closes its end, at most `spec.slots` at a time.

    Raises OSError when the warm interpreter ends before that, or keeps a job from ending.
    """
    users = [_user_namespace(spec.slots) for _ in range(spec.slots)]
    bell, ring = os.pipe()
    for descriptor in (bell, ring):
        os.set_blocking(descriptor, False)
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    warm = os.fork()
    if warm == 0:
        be_warm(spec, theirs)
    theirs.close()
    gc.collect()
    gc.freeze()  # so that collections in children leave the shared pages alone
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    _Server(spec, users, bell, ours, warm).run()


def _user_namespace(slots: int) -> int:
    """Make the user namespace of a slot; a descriptor of it. Nothing hostile runs yet to look into its maker.

    Each slot has its own, within which the kernel counts processes and what watches files: no job can take those of
    another.
    """
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        try:
            kernel.unshare(kernel.CLONE_NEWUSER)
            map_ourselves()
            _share_watches(slots)
            namespace = os.open("/proc/self/ns/user", os.O_RDONLY)
            theirs.sendmsg([b"u"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", namespace))])
        except OSError as error:
            theirs.send(str(error).encode())
        finally:
            os._exit(0)
    theirs.close()
    data, extra, *_ = ours.recvmsg(512, _socket.CMSG_SPACE(4), _socket.MSG_CMSG_CLOEXEC)
    ours.close()
    os.waitpid(child, 0)
    if not extra:
        raise OSError(f"no user namespace for jobs: {data.decode(errors='replace')}")
    found: int = struct.unpack("i", extra[0][2][:4])[0]
    return found


def _share_watches(slots: int) -> None:
    """Let the jobs of all slots have, together, at most half of what this account may have to watch files with."""
    for name in ("instances", "watches"):
        with open(f"/proc/sys/fs/inotify/max_user_{name}") as stream:
            most = int(stream.read())
        with open(f"/proc/sys/user/max_inotify_{name}", "w") as stream:
            stream.write(str(max(1, most // (2 * slots))))


class _Server:
    def __init__(self, spec: Spec, users: list[int], bell: int, warm: _socket.socket, pid: int) -> None:
        self._spec, self._free, self._bell, self._warm, self._pid = spec, users, bell, warm, pid
        self._read = bytearray()
        self._waiting: list[dict[str, Any]] = []
        self._keepers: list[Keeper] = []
        self._open = True
        self._poll = select.poll()
        self._makers: dict[int, tuple[int, _socket.socket]] = {}
        """Slot makers by user namespace."""

    def run(self) -> None:
        """Serve until the host closes its end and the last job has ended."""
        for descriptor in (self._bell, self._warm.fileno(), self._spec.jobs_fd):
            self._poll.register(descriptor, select.POLLIN)
        while self._open or self._keepers or self._waiting:
            while self._waiting and self._free:
                self._start(self._waiting.pop(0))
            for descriptor, _ in self._poll.poll(LOOK * 1000 if self._keepers else None):
                self._ready(descriptor)
            self._look()

    def _ready(self, descriptor: int) -> None:
        if descriptor == self._spec.jobs_fd:
            self._take()
        elif descriptor == self._bell:
            os.read(self._bell, 4096)
            self._bury()
        elif descriptor == self._warm.fileno():
            data = self._warm.recv(16)
            if not data:
                raise OSError("the warm interpreter ended")
            if data == b"ready":
                _send(self._spec.results_fd, {"ready": True})
        else:
            keeper = next(keeper for keeper in self._keepers if descriptor in keeper.ends)
            if descriptor in keeper.open:
                keeper.ready(descriptor)
            if descriptor not in keeper.open:
                self._poll.unregister(descriptor)
                keeper.ends.discard(descriptor)

    def _bury(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, _ALL)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._pid and not os.WIFSTOPPED(status):
                raise OSError(f"the warm interpreter ended with {os.waitstatus_to_exitcode(status)}")
            dead = [users for users, (maker, _) in self._makers.items() if maker == pid and not os.WIFSTOPPED(status)]
            for users in dead:  # a hostile warm interpreter may end it, and gains nothing
                self._makers.pop(users)[1].close()
            self._ended(pid, status, usage)

    def _ended(self, pid: int, status: int, usage: resource.struct_rusage) -> None:
        for keeper in self._keepers:
            if keeper.gate is not None and keeper.entrant == pid:
                keeper.stopped(status)
                return
        if os.WIFSTOPPED(status):
            return
        for keeper in self._keepers:
            keeper.know_first()
            keeper.know_worker()
            if keeper.first == pid:
                keeper.buried(usage)
            elif keeper.worker == pid:
                keeper.ended(status, usage)

    def _look(self) -> None:
        now = time.monotonic()
        for keeper in list(self._keepers):
            for descriptor in keeper.look(now):
                self._poll.register(descriptor, select.POLLIN)
            if not keeper.answered and (keeper.over or keeper.late(now, _PATIENCE)):
                keeper.answered = True
                _send(self._spec.results_fd, {"id": keeper.job["id"], **keeper.answer()})
            if keeper.over:
                self._keepers.remove(keeper)
                self._free.append(keeper.users)
                for descriptor in keeper.ends:
                    self._poll.unregister(descriptor)
                keeper.close()
            elif keeper.late(now, _KEPT) and _has_unburied_dead():
                raise OSError("the warm interpreter keeps a job from ending")

    def _take(self) -> None:
        data = os.read(self._spec.jobs_fd, 1 << 20)
        if not data:
            self._poll.unregister(self._spec.jobs_fd)
            self._open = False  # what was taken is finished; should the host have died, the supervisor ends us
            return
        self._read += data
        while len(self._read) >= 8 and len(self._read) >= 8 + (size := int.from_bytes(self._read[:8], "big")):
            job = decode(bytes(self._read[8 : 8 + size]))
            del self._read[: 8 + size]
            assert isinstance(job, dict)
            if "import" in job:
                _tell(self._warm, b"import", job, [])
            elif "hold" in job:
                _tell(self._warm, f"hold {job['branch']}".encode(), job["hold"], [])
            elif "cancel" in job:
                self._cancel(job["cancel"])
            else:
                self._waiting.append(job)

    def _cancel(self, number: int) -> None:
        for job in [job for job in self._waiting if job["id"] == number]:
            self._waiting.remove(job)
            _send(self._spec.results_fd, {"id": number, "ended": "cancelled"})
        for keeper in self._keepers:
            if keeper.job["id"] == number:
                keeper.end("cancelled")

    def _start(self, job: dict[str, Any]) -> None:
        keeper = Keeper(job, self._free.pop())
        self._keepers.append(keeper)
        for descriptor in keeper.ends:
            self._poll.register(descriptor, select.POLLIN)
        place = {name: job[name] for name in ("layers", "writes", "disk")}
        slot_made = _tell(self._maker(keeper.users), b"slot", place, [keeper.entrance.fileno(), keeper.made_inner])
        document = {name: job[name] for name in _FOR_THE_INTERPRETER}
        document["writes"] = [write for write in job["writes"] if not write[0].startswith(_REPOSITORY)]
        descriptors = [keeper.inner.fileno(), keeper.told_inner, keeper.said_inner]
        is_accepted = _tell(self._warm, f"job {job['branch']}".encode(), document, descriptors)
        keeper.let_go()
        if not (slot_made and is_accepted):
            keeper.fail(f"the {'warm interpreter' if slot_made else 'slot maker'} takes no more jobs")

    def _maker(self, users: int) -> _socket.socket:
        """A slot maker, forked when it is first needed, which is after what packages do while they are imported."""
        if users not in self._makers:
            ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                make_slots(users, theirs)
            theirs.close()
            self._makers[users] = pid, ours
        return self._makers[users][1]


def _has_unburied_dead() -> bool:
    """Whether a process of a job has ended that only the warm interpreter, or what it forked, could bury.

    As long as one is there the job's process 1 cannot end. A job by itself only makes the kernel work for long.
    """
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/status") as stream:
                status = dict(line.strip().partition(":\t")[::2] for line in stream)
            with open(f"/proc/{status['PPid']}/status") as stream:
                above = dict(line.strip().partition(":\t")[::2] for line in stream)
        except OSError:
            continue  # it is gone, or is we
        inside = len(status["NSpid"].split()) > len(above["NSpid"].split())
        if inside and status["State"].startswith("Z") and status["PPid"] != "1":
            return True
    return False


def _tell(whom: _socket.socket, word: bytes, document: dict[str, Any], descriptors: list[int]) -> bool:
    """Give a helper something to do; false when it has not taken what it was given before, or has ended."""
    body = hold_document(document)
    try:
        send(whom, word, [body, *descriptors], _socket.MSG_DONTWAIT)
    except (BlockingIOError, BrokenPipeError):
        return False
    finally:
        os.close(body)
    return True


_REPOSITORY = "/workspace/repo/"
"""What a submission writes there the warm interpreter never holds: a later job could find it in its memory."""
_FOR_THE_INTERPRETER = ("env", "facts", "seconds", "disk", "processes")


def _send(descriptor: int, document: dict[str, Any]) -> None:
    body = encode(document)
    data = len(body).to_bytes(8, "big") + body
    while data:
        data = data[os.write(descriptor, data) :]
