"""One job as the fork server sees it: its slot, who runs in it, what it tells and says, its limits and its end."""

from __future__ import annotations

import _socket
import os
import resource
import signal
import struct
import time

from repoassay.sandbox.launcher.gate import Gate
from repoassay.sandbox.launcher.watch import Watch

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from typing import Any

__all__ = ["LOOK", "Keeper"]

LOOK = 0.05
"""Seconds between two looks at a job's memory."""
_SAID = 64 * 1024
_TOLD = 8 * 1024 * 1024
_MUCH = 1 << 14
"""Bytes that have come between two looks from which a pipe may be about to fill up."""
_ENTERING = 120.0
"""Seconds the warm interpreter may take, with whatever it has to import first, until it enters a slot."""
_ENDING = 1.0
_KILLED = "process 1 of its namespace was killed"
_CREDENTIALS = struct.Struct("iII")
_KIB = 1024


class Keeper:
    """Holds the fork server's ends of a job in the slot of `users`; the server's loop calls what fits the event."""

    def __init__(self, job: dict[str, Any], users: int = -1) -> None:
        self.job, self.users = job, users
        self.entrance, self.inner = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self.entrance.setsockopt(_socket.SOL_SOCKET, _socket.SO_PASSCRED, 1)
        outer, inner = _socket.socketpair()  # whoever has an end of a pipe can read back what was written to it
        outer.shutdown(_socket.SHUT_WR)
        self.told, self.told_inner = outer.detach(), inner.detach()
        self.said, self.said_inner = os.pipe()
        self.made, self.made_inner = os.pipe()
        for descriptor in (self.told, self.said, self.made):
            os.set_blocking(descriptor, False)
        self.entrance.setblocking(False)
        self.open = {self.told, self.said, self.made, self.entrance.fileno()}
        self.ends = self.open - {self.told, self.said}  # while the loop knows them
        self.first = self.entrant = self.worker = 0
        self.gate: Gate | None = None
        self._heard, self._spoken, self._notes = bytearray(), bytearray(), bytearray()
        self._pidfd = -1
        self._watch: Watch | None = None
        self._ended, self._fault = "", ""
        self._status: int | None = None
        self._cpu, self._peak = 0.0, 0
        self._through = self._first_gone = self._entrant_gone = self.answered = False
        self.started = time.monotonic()
        self.wall = self._look = 0.0
        self.due = self.started + _ENTERING

    @property
    def ending(self) -> bool:
        """Whether it is decided how the job ended."""
        return bool(self._ended or self._fault)

    @property
    def over(self) -> bool:
        """Whether nothing of the job is left."""
        return self.ending and self._first_gone and self._entrant_gone

    def let_go(self) -> None:
        """Close what others hold now."""
        for descriptor in (self.told_inner, self.said_inner, self.made_inner):
            os.close(descriptor)
        self.inner.close()

    def close(self) -> None:
        """Close what is held here, and make sure of whoever entered."""
        self._kill_entrant()
        for descriptor in (self.told, self.said, self.made, *([self._pidfd] if self._pidfd >= 0 else [])):
            os.close(descriptor)
        self.entrance.close()

    def ready(self, descriptor: int) -> None:
        """Take in what has come over one of the descriptors in `open`."""
        if descriptor in (self.told, self.said):
            more = _take(descriptor, *self._sink(descriptor)) != 0
        elif descriptor == self.made:
            more = _take(descriptor, self._notes, 4096) != 0
            self._note(at_end=not more)
        else:
            more = self._word()
        if not more:
            self.open.discard(descriptor)

    def know_first(self) -> None:
        """Make sure that the number of process 1 is known if it has been told."""
        if not self.first and self.made in self.open:
            self.ready(self.made)

    def know_worker(self) -> None:
        """The same of the worker's number."""
        if not self.worker and self.entrance.fileno() in self.open:
            self.ready(self.entrance.fileno())

    def _note(self, *, at_end: bool) -> None:
        """Lines of the slot maker and of process 1, of whom either may be the first to write, or to end."""
        *lines, _ = bytes(self._notes).split(b"\n")
        number = next((int(line) for line in lines if line.isdigit()), 0)
        if number and not self.first:
            self.first, self._first_gone = number, not _is_child(number)
            if self.ending:
                self._kill_first()
        for fault in lines:
            if not fault.isdigit():
                self.fail(fault.decode(errors="replace"))
        if at_end and not number:
            self._first_gone = True
        if self._first_gone:
            self.fail(_KILLED if number else "its process 1 could not be made")

    def _word(self) -> bool:
        """A word of who enters, that it is there, or of the worker, that it was born in there."""
        try:
            data, extra, *_ = self.entrance.recvmsg(64, _socket.CMSG_SPACE(_CREDENTIALS.size))
        except BlockingIOError:
            return True
        except OSError:
            data, extra = b"", []
        if not data:
            self._entrant_gone = True
            if self._watch is None:
                self.fail("the warm interpreter did not start it")
            return False
        number = next((_CREDENTIALS.unpack(sent[: _CREDENTIALS.size])[0] for *_, sent in extra), 0)
        if data == b"here" and not self.entrant and not self.ending:
            self._meet(number)
        elif data == b"born" and self._through and not self.worker:
            self.worker = number
            limits = (self.job["memory"], self.job["disk"], self.job["processes"])
            self._watch = Watch([self.first, self.worker], *limits, [])
        return True

    def _meet(self, number: int) -> None:
        self.entrant = number
        try:
            self._pidfd = os.pidfd_open(self.entrant)
            self.gate = Gate(self.entrant)
            self.entrance.send(b"go")
        except OSError as error:
            self.fail(f"the gate could not be watched ({error}); kernel.yama.ptrace_scope must be below 3")

    def stopped(self, status: int) -> None:
        """Who enters was stopped at the gate, or ended there."""
        assert self.gate is not None
        if os.WIFSTOPPED(status):
            try:
                reason = self.gate.step(status)
            except OSError as error:
                reason = f"it ended at the gate ({error})"
            if reason == "through":
                self.gate, self._through = None, True
                self.know_first()
                self.started = time.monotonic()
                self.due = self.started + self.job["seconds"]
                self._look = self.started + LOOK
            elif reason:
                self.fail(f"the warm interpreter may not start it: {reason}")
        else:
            self.gate = None

    def look(self, now: float) -> set[int]:
        """Keep the job to its limits; those of its pipes that are to be listened to from now on.

        What it tells and says is taken in now and then, and at the end: to be woken for each line costs more than the
        line, and only a pipe that fills up is worth it.
        """
        if self.ending:
            if now >= self.due:
                self._kill_entrant()
        elif now >= self.due:
            self.end("timed_out") if self._watch else self.fail("the warm interpreter did not start it in time")
        elif self._watch and now >= self._look:
            self._look = now + LOOK
            if self._watch.exceeded():
                self.end("out_of_memory")
            unheard = {self.told, self.said} & self.open - self.ends
            full = {pipe for pipe in unheard if (_take(pipe, *self._sink(pipe)) or 0) >= _MUCH}
            self.ends |= full
            return full
        return set()

    def fail(self, reason: str) -> None:
        """End the job for a fault of ours, or of the warm interpreter."""
        if not self.ending:
            self._fault = reason
            self._end()

    def end(self, how: str) -> None:
        """End the job; the first reason holds."""
        if not self.ending:
            self._ended = how
            self._end()

    def _end(self) -> None:
        self.wall = time.monotonic() - self.started
        self.due = time.monotonic() + _ENDING
        self._kill_first()
        try:
            self.entrance.shutdown(_socket.SHUT_WR)  # who waits to enter leaves by itself: it may share others' memory
        except OSError:
            pass  # it has left
        if not self.entrant:
            self._entrant_gone = True  # and should it still come, it finds nobody here

    def _kill_first(self) -> None:
        if self.first and not self._first_gone:
            os.kill(self.first, 9)  # our child, and not buried yet: it can be nobody else

    def _kill_entrant(self) -> None:
        if self._pidfd >= 0:
            try:
                signal.pidfd_send_signal(self._pidfd, 9)
            except ProcessLookupError:
                pass
        self._entrant_gone = True

    def ended(self, status: int, usage: resource.struct_rusage) -> None:
        """The worker has ended, and with it the job."""
        self.worker = -1
        self._status, self._peak = status, usage.ru_maxrss * _KIB
        self._cpu += usage.ru_utime + usage.ru_stime
        self.end("exited")

    def buried(self, usage: resource.struct_rusage) -> None:
        """Process 1 has ended, and with it the whole namespace."""
        self._first_gone = True
        self._cpu += usage.ru_utime + usage.ru_stime
        if self._watch is not None:
            self.end("exited")
        elif self.made in self.open:
            self.ready(self.made)  # where it says why, if it was not killed
        else:
            self.fail(_KILLED)

    def late(self, now: float, most: float) -> bool:
        """Whether it takes so many seconds longer than usual until nothing of it is left."""
        return self.ending and now > self.due + most

    def answer(self) -> dict[str, Any]:
        """What became of the job."""
        if self._fault:
            return {"fault": self._fault}
        for descriptor in (self.told, self.said):
            while descriptor in self.open and _take(descriptor, *self._sink(descriptor)):
                pass
        status = self._status if self._status is not None and self._ended == "exited" else 9
        code = os.waitstatus_to_exitcode(status)
        exited = self._ended == "exited"
        assert self._watch is not None or not exited
        return {
            "ended": "signalled" if exited and code < 0 else self._ended,
            "code": code if exited and code >= 0 else None,
            "signal": -code if exited and code < 0 else None,
            "wall": self.wall,
            "cpu": self._cpu,
            "peak_memory": (self._watch.peak if self._watch else 0) or self._peak,
            "told": bytes(self._heard),
            "said": bytes(self._spoken[-4096:]),
        }

    def _sink(self, descriptor: int) -> tuple[bytearray, int]:
        return (self._heard, _TOLD) if descriptor == self.told else (self._spoken, _SAID)


def _is_child(pid: int) -> bool:
    """Whether it is ours and not buried yet."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _take(descriptor: int, sink: bytearray, most: int) -> int | None:
    """Read once, keeping at most `most` bytes: how many have come, 0 at the end, None where there is nothing yet."""
    try:
        data = os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return None
    sink += data[: max(0, most - len(sink))]
    return len(data)
