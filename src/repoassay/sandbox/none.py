"""No isolation: the command runs as our own account and can do whatever we can. Only ever by explicit flag.

Places such as /workspace do not exist on the host, so mounts and scratch folders are laid out below a temporary folder
and every mention of them in the command line, environment, standard input and edits is rewritten to it. Time and
output are limited; memory, processes, disk and network are not.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

from repoassay.sandbox.capabilities import SandboxCapabilities
from repoassay.sandbox.host_places import HostPlaces
from repoassay.sandbox.host_session import HostSession
from repoassay.sandbox.port_forward import host_doors
from repoassay.sandbox.protocol import Command, Completed, SandboxSetup
from repoassay.sandbox.scratch import temporary_folder
from repoassay.sandbox.session import work_outside
from repoassay.sandbox.stream import Bounded, Log, pump
from repoassay.types import Ended, Exit, IsolationGrade

__all__ = ["NoSandbox"]


class NoSandbox:
    """Runs commands directly on the host, in a session of their own that is killed at the end."""

    name = "none"
    network_is_private = False
    capabilities = SandboxCapabilities(grade=IsolationGrade.NONE, port_forwards=True)

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end; see `Sandbox`."""
        if command.outside is not None:
            return work_outside(self, command, cancel)
        folder_made = temporary_folder("run")
        with folder_made as folder, host_doors(command.doors):
            return _run(command, cancel or threading.Event(), HostPlaces(Path(folder).resolve(), command))

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> HostSession:
        """Open a session; see `Sandbox`."""
        return HostSession(setup, cancel)


def _run(command: Command, cancel: threading.Event, places: HostPlaces) -> Completed:
    channel_read, channel_write = os.pipe()
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, channel_read)
        log = stack.enter_context(Log(command.log, command.limits.output))
        stdin = stack.enter_context(places.typed(command.stdin))
        channel_name = {"REPOASSAY_CHANNEL": str(channel_write)}
        try:
            process = places.start(command.argv, command.cwd, stdin, channel_name, [channel_write])
        except (OSError, ValueError) as error:
            return places.not_started(command.argv, error)
        finally:
            os.close(channel_write)
        assert process.stdout and process.stderr
        stack.enter_context(process.stdout)
        stack.enter_context(process.stderr)
        limit = command.limits.output
        sinks = {process.stdout.fileno(): Bounded(limit), process.stderr.fileno(): Bounded(limit)}
        sinks[channel_read] = Bounded(2**24)
        state = _State(process, cancel, started + command.limits.seconds)

        def seen(descriptor: int, data: bytes) -> None:
            if descriptor != channel_read:
                log.write(data)
            elif command.on_channel:
                command.on_channel(data)

        pump(sinks, state.tick, seen)
        process.wait()
        state.end(Ended.EXITED)
        out, err, channel = sinks.values()
    rejected = places.collect()
    code = process.returncode
    ended = state.ended if state.ended is not Ended.EXITED or code >= 0 else Ended.SIGNALLED
    exit_ = Exit(
        ended=ended,
        code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        wall=round(time.monotonic() - started, 4),
        output_truncated=out.truncated or err.truncated,
    )
    return Completed(exit_, out.value(), err.value(), channel.value(), rejected)


class _State:
    """Why the command is being ended, decided once."""

    def __init__(self, process: subprocess.Popen[bytes], cancel: threading.Event, deadline: float) -> None:
        self._process, self._cancel, self._deadline = process, cancel, deadline
        self.ended = Ended.EXITED
        self._over = False

    def tick(self) -> None:
        if self._cancel.is_set():
            self.end(Ended.CANCELLED)
        elif time.monotonic() > self._deadline:
            self.end(Ended.TIMED_OUT)
        elif self._process.poll() is not None:
            self.end(Ended.EXITED)  # survivors would hold the pipes open

    def end(self, why: Ended) -> None:
        if not self._over:
            self._over, self.ended = True, why
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
