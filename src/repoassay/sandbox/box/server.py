"""The server in a box: runs what the host asks for over one pipe, holds it to its limits, and sends what it leaves.

It is the first process of the box where that can be had. One thread and one loop serve everything.

Frames from the host: `s` specification, `r` request, `k` kill, `d` data of a connection, `q` end. To the host: `h`
ready, `o` `e` `c` output, errors and channel of a request, `a` its answer, `n` `d` `z` connections, `f` `g` exports,
`x` report, `!` a fault.
"""

from __future__ import annotations

import ctypes
import json
import marshal
import os
import select
import signal
import time
from types import SimpleNamespace

from repoassay.sandbox.box.child import be_child
from repoassay.sandbox.box.connections import BoxConnections
from repoassay.sandbox.box.export import export_folders
from repoassay.sandbox.box.frames import CHUNK, FrameReader, frame_of
from repoassay.sandbox.box.layout import lay_out_box, space_taken
from repoassay.sandbox.launcher import kernel
from repoassay.sandbox.launcher.command_line import forget_command_line
from repoassay.sandbox.launcher.identity import forget_root
from repoassay.sandbox.launcher.seccomp import compile_filter
from repoassay.sandbox.launcher.signals import as_a_fresh_process
from repoassay.sandbox.launcher.watch import Watch, container_statistics

TYPE_CHECKING = False  # as typing has it, without the price of importing typing
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["main"]

_LOOK = 50
"""Milliseconds between two looks at limits."""
_PIPE_HOLDS = 1 << 20
_SUBREAPER = 36
_SLACK = 1 << 20
"""Bytes, and an eighth, by which the disk limit may be passed: one full folder must be an error there, and no end."""
_DYING = 5.0
_PACE = 0.002
"""Seconds that whoever prints more than is kept waits for each chunk."""


def main() -> NoReturn:
    """Read a specification, lay the box out, serve; the process ends here."""
    link, out = os.dup(0), os.dup(1)
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(nothing, descriptor)
    try:
        forget_command_line()
        as_a_fresh_process()
        reader = FrameReader(1 << 40)
        rest: list[tuple[bytes, int, bytes]] = []
        while not rest:
            data = os.read(link, CHUNK)
            if not data:
                os._exit(1)
            rest += reader.feed(data)
        spec = SimpleNamespace(**marshal.loads(rest.pop(0)[2]))  # noqa: S302 - the host wrote it
        server = _Server(spec, link, out, reader)
        server.prepare()
        server.run(rest)
    except BaseException as error:  # noqa: BLE001 - nobody above to report to but the host
        _write_all(out, frame_of(b"!", 0, (str(error) or type(error).__name__).encode(errors="replace")[:2000]))
    finally:
        os._exit(0)


class _Request:
    """A request that is being served: its process, what it prints, and how much of that is passed on at full speed."""

    def __init__(self, number: int, pid: int, pipes: dict[int, bytes], kept: int) -> None:
        self.number, self.pid, self.pipes, self.kept = number, pid, pipes, kept
        self.sent = 0
        self.answered = False


class _Server:
    def __init__(self, spec: Any, link: int, out: int, reader: FrameReader) -> None:
        self._spec, self._link, self._out, self._reader = spec, link, out, reader
        self._requests: list[_Request] = []
        self._program = compile_filter(memory_is_counted=spec.memory_is_counted)
        limits = spec.memory, spec.disk, spec.watched_processes
        self._watch = Watch([os.getpid()], *limits, [], container_statistics(spec.container_memory))
        self._slow: dict[int, float] = {}  # pipes that are not read before that time
        self._space = 0
        self._connections: BoxConnections | None = None
        self._started = time.monotonic()
        self._ended = ""

    def prepare(self) -> None:
        """Lay out the box and become what commands cannot touch."""
        spec = self._spec
        if spec.hosts:
            _open_low_ports()
        self._connections = BoxConnections(spec.doors, self._send)
        lay_out_box(spec)
        self._space = space_taken(spec.limited) + spec.disk + spec.disk // 8 + _SLACK
        if spec.nested:
            try:
                forget_root()
            except OSError:
                pass  # where namespaces may not be nested a command has no capability all the same
        else:
            ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        kernel.not_dumpable()
        self._bell, ring = os.pipe()
        for descriptor in (self._bell, ring):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        self._send(b"h", 0, b"")

    def run(self, frames: list[tuple[bytes, int, bytes]]) -> None:
        """Serve until the host ends it or a limit is passed; then end everything, export, report."""
        for each in frames:
            self._take(*each)
        while not self._ended:
            self._turn()
        wall = time.monotonic() - self._started
        self._end_everything()
        if self._ended == "abandoned":
            return
        rejected = export_folders(self._spec.gather, self._spec.uid, self._send)
        usage = os.times()
        report = {
            "ended": self._ended, "wall": wall, "cpu": usage.children_user + usage.children_system,
            "peak_memory": self._watch.peak, "rejected": rejected,
        }  # fmt: skip
        self._send(b"x", 0, json.dumps(report).encode())

    def _turn(self) -> None:
        poll = select.poll()
        poll.register(self._link, select.POLLIN)
        poll.register(self._bell, select.POLLIN)
        now = time.monotonic()
        self._slow = {pipe: until for pipe, until in self._slow.items() if until > now}
        owners = {pipe: request for request in self._requests for pipe in request.pipes}
        for pipe in owners.keys() - self._slow.keys():
            poll.register(pipe, select.POLLIN)
        assert self._connections is not None
        for descriptor, events in self._connections.interest():
            poll.register(descriptor, events)
        for descriptor, events in poll.poll(2 if self._slow else _LOOK):
            if descriptor == self._link:
                self._listen()
            elif descriptor == self._bell:
                os.read(self._bell, 4096)
            elif descriptor in owners:
                self._read(owners[descriptor], descriptor)
            else:
                self._connections.ready(descriptor, events)
        self._bury()
        self._look(now)

    def _look(self, now: float) -> None:
        if now - self._started > self._spec.seconds:
            self._ended = self._ended or "timed_out"
        elif self._watch.exceeded() or space_taken(self._spec.limited) > self._space:
            self._ended = self._ended or "out_of_memory"

    def _listen(self) -> None:
        data = os.read(self._link, 1 << 20)
        if not data:
            self._ended = self._ended or "abandoned"
        for each in self._reader.feed(data):
            self._take(*each)

    def _take(self, kind: bytes, number: int, data: bytes) -> None:
        if kind == b"r":
            self._start(number, *marshal.loads(data))  # noqa: S302 - the host wrote it
        elif kind == b"k":
            self._kill(number)
        elif kind == b"d" and self._connections is not None:
            self._connections.deliver(number, data)
        elif kind == b"q":
            self._ended = self._ended or data.decode()

    def _start(self, number: int, request: dict[str, Any], content: bytes) -> None:
        typed = os.memfd_create("stdin")
        _write_all(typed, content)
        os.lseek(typed, 0, os.SEEK_SET)
        kinds = (b"o", b"e", b"c") if request.get("channel") else (b"o", b"e")
        pipes = [os.pipe() for _ in kinds]
        ends = [typed, *(write for _, write in pipes)]
        try:
            child = os.fork()
        except OSError as error:
            for descriptor in (*ends, *(read for read, _ in pipes)):
                os.close(descriptor)
            self._send(b"a", number, json.dumps({"refused": str(error)}).encode())
            return
        if child == 0:
            be_child(self._spec, request, ends, self._program)
        for descriptor in ends:
            os.close(descriptor)
        reads = {read: kind for (read, _), kind in zip(pipes, kinds, strict=True)}
        for read in reads:
            os.set_blocking(read, False)
        self._requests.append(_Request(number, child, reads, request["kept"]))

    def _kill(self, number: int) -> None:
        """End the process group of a request, or, for 0, whatever runs in here."""
        if number == 0:
            until = time.monotonic() + _DYING
            while time.monotonic() < until:  # what dies still counts against the limit of processes
                self._kill_all()
                if not self._bury():
                    break
                time.sleep(_PACE)
        for request in self._requests:
            if request.number == number and not request.answered:
                for end in (os.killpg, os.kill):  # it may not have come to make its group yet
                    try:
                        end(request.pid, signal.SIGKILL)  # not buried yet: it can be nobody else
                    except ProcessLookupError:
                        pass

    def _kill_all(self) -> None:
        """End all but this process; only ever asked for where its process namespace is the box's own."""
        assert self._spec.alone
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def _read(self, request: _Request, pipe: int) -> bool:
        """Read a pipe once; whether more may lie ready."""
        try:
            data = os.read(pipe, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            os.close(pipe)
            del request.pipes[pipe]
            self._forget(request)
            return False
        request.sent += len(data)
        if request.answered or request.sent > request.kept:
            self._slow[pipe] = time.monotonic() + _PACE
        if not request.answered:
            self._send(request.pipes[pipe], request.number, data)
        return True

    def _bury(self) -> bool:
        """Bury children and orphans, and tell the host of the former; whether any live on."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            for request in [each for each in self._requests if each.pid == pid and not each.answered]:
                self._answer(request, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)

    def _answer(self, request: _Request, status: int, cpu: float, peak: int) -> None:
        for pipe in list(request.pipes):
            for _ in range(_PIPE_HOLDS // CHUNK + 1):
                if not self._read(request, pipe):
                    break
        request.answered = True
        answer = {"code": os.waitstatus_to_exitcode(status), "cpu": cpu, "peak_memory": peak}
        self._send(b"a", request.number, json.dumps(answer).encode())
        self._forget(request)

    def _forget(self, request: _Request) -> None:
        if request.answered and not request.pipes and request in self._requests:
            self._requests.remove(request)

    def _end_everything(self) -> None:
        """Return once this is the only process left; what was printed is still passed on."""
        while True:
            self._kill_all()
            try:
                pid, _ = os.waitpid(-1, 0)
            except ChildProcessError:
                return
            for request in [each for each in self._requests if each.pid == pid and not each.answered]:
                for pipe in list(request.pipes):
                    self._read(request, pipe)

    def _send(self, kind: bytes, number: int, data: bytes) -> None:
        _write_all(self._out, frame_of(kind, number, data))


def _open_low_ports() -> None:
    """Let everybody in this network namespace, which is the box's own, listen at ports below 1024."""
    try:
        with open("/proc/sys/net/ipv4/ip_unprivileged_port_start", "w") as stream:
            stream.write("0")
    except OSError:
        pass  # who would listen there finds out


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
