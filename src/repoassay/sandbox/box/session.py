"""A session in a box, as the host sees it: requests go over the pipe to its server, and what that sends is checked."""

from __future__ import annotations

import contextlib
import json
import marshal
import os
import select
import subprocess
import threading
import time
from concurrent.futures import Future
from typing import Any, NoReturn

from repoassay.errors import InfraFault, Interrupted
from repoassay.sandbox.box.boot import code_bundle
from repoassay.sandbox.box.export import ExportReceiver
from repoassay.sandbox.box.frames import CHUNK, MARSHAL, FrameReader, frame_of
from repoassay.sandbox.box.process import RunningBox
from repoassay.sandbox.box.relay import BoxRelay
from repoassay.sandbox.box.requests import BoxRequest, BoxRequests
from repoassay.sandbox.launcher.watch import memory_kills
from repoassay.sandbox.protocol import Command, Completed, SandboxNetwork, SandboxSetup
from repoassay.sandbox.served_session import ANSWER, ServedSession
from repoassay.sandbox.session import raise_end, shell_exit
from repoassay.sandbox.stream import Bounded, Drain
from repoassay.types import Ended, Exit, SkippedFile

__all__ = ["BoxSession"]

_STARTING = 120.0
"""Seconds a box may take to be set up; an engine may have to unpack an image."""
_ENDING = 20.0
_OVERDUE = 30.0
"""Seconds after its time limit at which a box that has not ended itself is ended."""


class BoxSession(ServedSession):
    """See `SandboxSession`; opened by a `BoxSandbox`.

    Args:
        setup: What the session shows and may use.
        box: The process that was started in the box.
        spec: What its server is told; see `box/server.py`.
        cancel: Ends it early when set.
        stack: Ends the process and removes what is left of the box.
    """

    def __init__(
        self,
        setup: SandboxSetup,
        box: RunningBox,
        spec: dict[str, Any],
        cancel: threading.Event | None,
        stack: contextlib.ExitStack,
    ) -> None:
        super().__init__(setup)
        self._box, self._cancel, self._stack = box, cancel, stack
        self._requests = BoxRequests(self._logged)
        self._ready: Future[None] = Future()
        self._sending, self._closing = threading.Lock(), threading.Lock()
        self._over, self._closed, self._cancelling = threading.Event(), False, False
        self._report: Completed | InfraFault | None = None
        self._said, self._drain = Bounded(4096), Drain()
        assert box.process.stdin and box.process.stdout and box.process.stderr
        self._drain.add(os.dup(box.process.stderr.fileno()), self._said, lambda _: None)
        self._relay = BoxRelay(setup.doors, setup.network is SandboxNetwork.NONE, self._send)
        wanted = [(str(each.into.resolve()), each.max_bytes, each.max_files) for each in setup.collect]
        self._exports = ExportReceiver(wanted)
        self._started = self._last = time.monotonic()
        self._thread = threading.Thread(target=self._listen, name="sandbox-session", daemon=True)
        with self._sending:  # nothing may come before
            self._thread.start()
            with contextlib.suppress(OSError):  # `await_start` tells
                self._put(code_bundle() + frame_of(b"s", 0, marshal.dumps(spec, MARSHAL)))

    @property
    def ended(self) -> bool:
        """See `SandboxSession`."""
        return self._over.is_set()

    def await_start(self) -> None:
        """Wait until commands can be run; raises `InfraFault`, after closing, when that does not come to be."""
        try:
            self._ready.result(_STARTING)
            self._box.started()
            self._relay.hand_over()
        except BaseException as error:
            with contextlib.suppress(InfraFault):
                self.close()
            if isinstance(error, TimeoutError):
                raise InfraFault("The sandbox's session did not start.") from error
            raise

    def perform_command(self, command: Command) -> Completed:
        """Run a command as `Sandbox.run` does: with its standard input and channel, for as long as the session has."""
        request: dict[str, Any] = {"do": "run", "argv": list(command.argv), "cwd": "", "env": {}}
        if command.channel:
            request |= {"channel": True, "env": {"REPOASSAY_CHANNEL": "3"}}
        kept = command.limits.output
        return self._perform(request, command.stdin, None, (kept, kept), logged=True, command=command)

    def kill(self) -> None:
        """See `SandboxSession`."""
        self._check()
        self._send(b"k", 0, b"")

    def close(self) -> Completed:
        """See `SandboxSession`."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._tell_end(b"exited")
                collecting = _ENDING + sum(each.max_bytes for each in self.setup.collect) / 2**20
                self._over.wait(collecting)
                self._end()
        if self._report is None:
            raise InfraFault("The sandbox's session did not end, and was killed.")
        if isinstance(self._report, InfraFault):
            raise self._report
        return self._report

    def _end(self) -> None:
        process = self._box.process
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2 if self.ended else 0.01)
        try:
            if process.poll() is None:
                process.kill()
            process.wait()
            self._thread.join(_ENDING)
        finally:
            self._stack.close()
            self._relay.__exit__()
            self._exports.close()
            self._drain.close()
            self._end_log()

    def _perform(
        self,
        request: dict[str, Any],
        stdin: bytes,
        timeout: float | None,
        limits: tuple[int, int],
        logged: bool,
        command: Command | None = None,
    ) -> Completed:
        """Have a child of the server do something, and wait for it; a whole `command` also ends by being cancelled."""
        if self.ended and command is not None:
            return self._cut_short(command)
        self._check()
        waiting = self._requests.begin(limits, logged, command.on_channel if command else None)
        kills, started = memory_kills(self._box.cgroups), time.monotonic()
        body = marshal.dumps(({**request, "kept": max(limits)}, stdin), MARSHAL)
        timed_out = False
        try:
            with contextlib.suppress(Interrupted) if command else contextlib.nullcontext():
                self._send(b"r", waiting.number, body)
            if self.ended and not waiting.answer.done():
                waiting.answer.set_result(None)
            try:
                answer = waiting.answer.result(timeout)
            except TimeoutError:
                timed_out = True
                answer = self._ended_by_us(waiting)
        except BaseException:  # Ctrl-C, say
            with contextlib.suppress(Interrupted, InfraFault):
                self._send(b"k", waiting.number, b"")
            raise
        finally:
            self._requests.forget(waiting)
        wall = round(time.monotonic() - started, 4)
        if answer is not None and "refused" in answer:
            return waiting.refused(answer["refused"], shell_exit(126, wall=wall))
        if answer is None:
            exit_ = self._cut_short(command).exit.model_copy(update={"wall": wall})
        else:
            exit_ = shell_exit(answer["code"], wall=wall, cpu=answer["cpu"], peak_memory=answer["peak_memory"])
            if timed_out:
                exit_ = exit_.model_copy(update={"ended": Ended.TIMED_OUT})
            elif (command or exit_.signal == 9) and memory_kills(self._box.cgroups) > kills:
                # A whole command ran out of memory whichever of its processes the kernel chose.
                exit_ = exit_.model_copy(update={"ended": Ended.OUT_OF_MEMORY})
        return waiting.completed(exit_)

    def _ended_by_us(self, waiting: BoxRequest) -> dict[str, Any] | None:
        self._send(b"k", waiting.number, b"")
        try:
            return waiting.answer.result(_ENDING)
        except TimeoutError as error:
            raise InfraFault("A command of the session could not be killed.") from error

    def _cut_short(self, command: Command | None) -> Completed:
        """How the session ended, while something ran; raises `Interrupted` when that was the caller's doing."""
        report = self._report
        if self._closed or not isinstance(report, Completed):
            self._raise_end()
        assert isinstance(report, Completed)
        if report.exit.ended is Ended.CANCELLED and command is None:
            self._raise_end()
        return report

    def _check(self) -> None:
        if self._closed or self.ended:
            self._raise_end()

    def _raise_end(self) -> NoReturn:
        raise_end(self._report, is_closed=self._closed)

    def _send(self, kind: bytes, number: int, data: bytes) -> None:
        try:
            with self._sending:
                self._put(frame_of(kind, number, data))
        except (OSError, ValueError):
            self._over.wait(_ENDING)
            self._raise_end()

    def _put(self, data: bytes) -> None:
        assert self._box.process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self._box.process.stdin.write(view) :]

    def _listen(self) -> None:
        """Take what the server sends until it has reported or is gone; then tell whoever waits."""
        assert self._box.process.stdout is not None
        pipe, reader = self._box.process.stdout.fileno(), FrameReader(max(CHUNK, ANSWER, 1 << 20))
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        try:
            while self._report is None:
                self._look_at_the_time()
                if poll.poll(100):
                    self._receive(os.read(pipe, CHUNK), reader)
        except InfraFault as fault:
            self._report = fault
        except (ValueError, TypeError, KeyError, IndexError, OSError, Interrupted) as error:
            self._report = InfraFault(f"The sandbox sent what it should not: {str(error)[:200]}.")
        except BaseException as error:  # noqa: BLE001 - a listener of the caller's failed; whoever waits is told
            self._report = InfraFault(f"The sandbox's session failed: {type(error).__name__}.")
        self._over.set()
        if not self._ready.done():
            assert isinstance(self._report, InfraFault)
            self._ready.set_exception(self._report)
        self._requests.end()

    def _tell_end(self, how: bytes) -> None:
        with contextlib.suppress(Interrupted, InfraFault):
            self._send(b"q", 0, how)

    def _look_at_the_time(self) -> None:
        if self._cancel is not None and self._cancel.is_set() and not self._cancelling:
            self._cancelling = True  # by a thread, since this one must go on reading
            threading.Thread(target=self._tell_end, args=(b"cancelled",), name="sandbox-cancel", daemon=True).start()
        if self._box.process.poll() is not None and self._last < time.monotonic() - 1:
            raise InfraFault(self._how_it_broke())
        if time.monotonic() - self._started > self.setup.limits.seconds + _STARTING + _OVERDUE:
            raise InfraFault("The sandbox did not end at its time limit, and was killed.")

    def _receive(self, data: bytes, reader: FrameReader) -> None:
        if not data:
            raise InfraFault(self._how_it_broke())
        self._last = time.monotonic()
        for each in reader.feed(data):
            self._take(*each)

    def _how_it_broke(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._box.process.wait(_ENDING)
        time.sleep(0.05)  # for what it said last
        text = self._said.value().decode(errors="replace").strip()[-500:]
        if not self._ready.done():
            return f"The sandbox could not be set up: {text or self._box.process.returncode}."
        return f"The sandbox ended with {self._box.process.returncode} and no report. {text}".strip()

    def _take(self, kind: bytes, number: int, data: bytes) -> None:
        if kind in (b"o", b"e", b"c"):
            self._requests.take_output(kind, number, data)
        elif kind == b"a":
            self._requests.take_answer(number, data)
        elif kind == b"n":
            self._relay.connect(number, int(data))
        elif kind == b"d":
            self._relay.take(number, data)
        elif kind == b"z":
            self._relay.forget(number)
        elif kind == b"f":
            self._exports.take_header(number, data)
        elif kind == b"g":
            self._exports.take_data(data)
        elif kind == b"h":
            self._ready.set_result(None)
        elif kind == b"x":
            self._report = _report(json.loads(data))
        elif kind == b"!":
            raise InfraFault(f"The sandbox could not be set up: {data.decode(errors='replace')[:2000]}.")
        else:
            raise ValueError(f"a frame of kind {kind!r}")


def _report(document: Any) -> Completed:
    ended = Ended(document["ended"])
    rejected = tuple(SkippedFile(path=str(path), reason=str(reason)) for path, reason in document["rejected"][:1000])
    exit_ = Exit(
        ended=ended,
        code=0 if ended is Ended.EXITED else None,
        wall=round(float(document["wall"]), 4),
        cpu=round(float(document["cpu"]), 4),
        peak_memory=int(document["peak_memory"]),
    )
    return Completed(exit_, rejected=rejected)
