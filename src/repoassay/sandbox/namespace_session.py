"""A session in namespaces, as the host sees it: what it asks of process 1 (`launcher/session.py`), and its end."""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import socket
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, NoReturn

from repoassay.errors import InfraFault, Interrupted
from repoassay.sandbox.launcher.framing import decode, encode
from repoassay.sandbox.launcher.watch import memory_kills
from repoassay.sandbox.protocol import Completed, SandboxSetup
from repoassay.sandbox.served_session import ANSWER, ServedSession
from repoassay.sandbox.session import raise_end, shell_exit
from repoassay.sandbox.stream import Bounded, Drain, DrainSource
from repoassay.sandbox.supervisor import Pipe, RunningSupervisor, SandboxReport, supervisor_report
from repoassay.types import Ended

__all__ = ["NamespaceSession"]

_STARTING = 60.0
_ENDING = 10.0
"""Seconds within which process 1 does what takes it milliseconds."""


class NamespaceSession(ServedSession):
    """See `SandboxSession`; opened by `NamespaceSandbox`."""

    def __init__(
        self,
        setup: SandboxSetup,
        running: RunningSupervisor,
        link: socket.socket,
        cancel: threading.Event | None,
        stack: contextlib.ExitStack,
    ) -> None:
        super().__init__(setup)
        self._running, self._link, self._cancel, self._stack = running, link, cancel, stack
        self._drain = Drain()
        self._said = Bounded(4096)
        assert running.process.stdout and running.process.stderr
        for stream in (running.process.stdout, running.process.stderr):
            self._drain.add(os.dup(stream.fileno()), self._said, lambda _: None)
        self._numbers = itertools.count(1)
        self._ready: Future[dict[str, Any] | None] = Future()  # the thread may take it before anybody waits
        self._waiting: dict[int, Future[dict[str, Any] | None]] = {0: self._ready}
        self._lock, self._closing = threading.Lock(), threading.Lock()
        self._report: SandboxReport | InfraFault | None = None
        self._over, self._closed = threading.Event(), False
        self._thread = threading.Thread(target=self._listen, name="sandbox-session", daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        """See `SandboxSession`."""
        return self._over.is_set()

    def await_start(self) -> None:
        """Wait until commands can be run; raises `InfraFault`, after closing, when that does not come to be."""
        try:
            if self._ready.result(_STARTING) is None:
                self._raise_end()
        except BaseException as error:
            with contextlib.suppress(InfraFault):
                self.close()
            if isinstance(error, TimeoutError):
                raise InfraFault("The sandbox's session did not start.") from error
            raise

    def kill(self) -> None:
        """See `SandboxSession`."""
        self._ask({"kill": 0})

    def close(self) -> Completed:
        """See `SandboxSession`."""
        with self._closing:
            if not self._closed:
                self._closed = True
                with contextlib.suppress(OSError):
                    self._link.shutdown(socket.SHUT_RDWR)  # process 1 ends, and everything with it
                try:
                    if not self._over.wait(_ENDING):
                        self._running.cancel()
                        self._over.wait(_ENDING)
                finally:
                    self._end()
        self._over.wait(_ENDING)
        if self._report is None:
            raise InfraFault("The sandbox's session did not end, and was killed.")
        if isinstance(self._report, InfraFault):
            raise self._report
        return Completed(exit=self._report.exit, rejected=self._report.rejected)

    def _end(self) -> None:
        try:
            self._stack.close()  # kills the supervisor, should it live, and with it whatever is inside
        finally:
            self._thread.join(_ENDING)
            self._drain.close()
            self._end_log()

    def _perform(
        self, request: dict[str, Any], stdin: bytes, timeout: float | None, limits: tuple[int, int], logged: bool
    ) -> Completed:
        """Have a child of process 1 do something, and wait for it."""
        number, answer = next(self._numbers), Future[dict[str, Any] | None]()
        sinks = tuple(map(Bounded, limits))
        kills = memory_kills(self._running.cgroups)
        started = time.monotonic()
        try:
            ends = self._begin({**request, "id": number}, answer, stdin, sinks, logged)
        except ValueError:  # closed meanwhile, and what it reads with
            self._raise_end()
        timed_out = False
        try:
            try:
                result = answer.result(timeout)
            except TimeoutError:
                timed_out = True
                result = self._ended_by_us(number, answer)
        except BaseException:  # Ctrl-C, say
            with contextlib.suppress(Interrupted):
                self._ask({"kill": number})
            raise
        finally:
            for end in ends:
                self._drain.take(end)
        wall = round(time.monotonic() - started, 4)
        truncated = any(sink.truncated for sink in sinks)
        out, err = (sink.value() for sink in sinks)
        if result is None:
            exit_ = self._cut_short().exit.model_copy(update={"wall": wall, "output_truncated": truncated})
            return Completed(exit_, out, err)
        if "refused" in result:
            return Completed(shell_exit(126, wall=wall), out, f"cannot be started: {result['refused']}\n".encode())
        exit_ = shell_exit(result["code"], wall=wall, cpu=round(result["cpu"], 4), peak_memory=result["peak_memory"])
        ended = exit_.ended
        if timed_out:
            ended = Ended.TIMED_OUT
        elif exit_.signal == 9 and memory_kills(self._running.cgroups) > kills:
            ended = Ended.OUT_OF_MEMORY
        return Completed(exit_.model_copy(update={"ended": ended, "output_truncated": truncated}), out, err)

    def _begin(
        self, request: dict[str, Any], answer: Future[Any], stdin: bytes, sinks: Sequence[Bounded], logged: bool
    ) -> list[DrainSource]:
        """Send a request; returns where its output is read."""
        self._check()
        with contextlib.ExitStack() as stack:
            typed = stack.enter_context(_memory_file("stdin", stdin))
            pipes = [Pipe(stack) for _ in sinks]
            ends: list[DrainSource] = []
            self._waiting[request["id"]] = answer
            for pipe, sink in zip(pipes, sinks, strict=True):
                seen = self._logged if logged else lambda _: None
                ends.append(self._drain.add(os.dup(pipe.read.fileno()), sink, seen))
            self._ask(request, typed.fileno(), *(pipe.write.fileno() for pipe in pipes))
            if self.ended and (late := self._waiting.pop(request["id"], None)):
                late.set_result(None)
        return ends

    def _ask(self, request: dict[str, Any], *descriptors: int) -> None:
        self._check()
        with _memory_file("request", encode(request)) as body, self._lock:
            try:
                socket.send_fds(self._link, [b"r"], [body.fileno(), *descriptors])
            except OSError:
                self._over.wait(_ENDING)
                self._raise_end()

    def _check(self) -> None:
        if self._closed or self.ended:
            self._raise_end()

    def _ended_by_us(self, number: int, answer: Future[dict[str, Any] | None]) -> dict[str, Any] | None:
        self._ask({"kill": number})
        try:
            return answer.result(_ENDING)
        except TimeoutError as error:
            raise InfraFault("A command of the session could not be killed.") from error

    def _cut_short(self) -> SandboxReport:
        """How the session ended, while something ran; raises `Interrupted` when that was the caller's doing."""
        report = self._report
        if self._closed or not isinstance(report, SandboxReport) or report.exit.ended is Ended.CANCELLED:
            self._raise_end()
        assert isinstance(report, SandboxReport)
        return report

    def _raise_end(self) -> NoReturn:
        raise_end(self._report, is_closed=self._closed)

    def _listen(self) -> None:
        """Hand every answer to whoever waits for it; at the end, read the report and tell the others."""
        poll = select.poll()
        poll.register(self._link, select.POLLIN)
        wait = None if self._cancel is None else 100
        with contextlib.suppress(OSError, ValueError, EOFError):
            while True:
                if self._cancel is not None and self._cancel.is_set():
                    self._running.cancel()
                if poll.poll(wait):
                    data = self._link.recv(ANSWER)
                    if not data:
                        break
                    message = decode(data)
                    assert isinstance(message, dict)
                    if waiting := self._waiting.pop(message.get("id", 0), None):
                        waiting.set_result(message)
        try:
            status = b"".join(iter(lambda: self._running.status.read(1 << 16) or b"", b""))
            self._report = supervisor_report(status, self._running.process.wait(), self._said.value())
        except InfraFault as fault:
            self._report = fault
        except (OSError, ValueError):
            pass  # closed under us, when it did not end
        self._over.set()
        for number in list(self._waiting):
            if late := self._waiting.pop(number, None):
                late.set_result(None)


def _memory_file(name: str, content: bytes) -> Any:
    """An open file in memory, at its beginning."""
    stream = open(os.memfd_create(name), "w+b")  # noqa: PTH123, SIM115 - a descriptor; the caller closes it
    stream.write(content)
    stream.seek(0)
    return stream
