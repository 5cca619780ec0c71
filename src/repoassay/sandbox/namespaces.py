"""The default sandbox: kernel namespaces, without root and without a container engine.

What is isolated and what is not is stated in SECURITY.md; how it is built, in `launcher/`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import sys
import threading
from collections.abc import Mapping
from typing import Protocol

from repoassay.sandbox.cache import SANDBOX_UID, Cache
from repoassay.sandbox.capabilities import SandboxCapabilities
from repoassay.sandbox.cgroups import make_cgroups, remove_cgroups, sweep_cgroups
from repoassay.sandbox.launcher.framing import encode
from repoassay.sandbox.launcher.spec import Bind, Gather, Spec, Write
from repoassay.sandbox.namespace_session import NamespaceSession
from repoassay.sandbox.port_forward import host_doors, inner_doors
from repoassay.sandbox.protocol import Command, Completed, SandboxNetwork, SandboxSetup
from repoassay.sandbox.session import work_outside
from repoassay.sandbox.stream import Bounded, Log, pump
from repoassay.sandbox.supervisor import (
    PACKAGE,
    Pipe,
    RunningSupervisor,
    end_supervisor,
    start_supervisor,
    supervisor_report,
)
from repoassay.types import IsolationGrade

__all__ = ["BASE_ENV", "NamespaceSandbox", "system_binds"]

_CHANNEL_LIMIT = 16 * 2**20
BASE_ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/home/agent",
    "USER": "agent",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",  # noqa: S108 - inside the sandbox, its own scratch folder
    "TERM": "dumb",
}


class _InheritedFile(Protocol):
    def fileno(self) -> int: ...

    def close(self) -> None: ...


class NamespaceSandbox:
    """Runs commands in fresh user, mount, pid, net, ipc, uts and cgroup namespaces.

    Args:
        cache: Where the mountpoint lies; hidden from commands.
        control_groups: Whether to use control groups where this account may make them; without them, memory is held
            to its limit by looking at the tree 20 times a second.
    """

    name = "namespaces"
    network_is_private = True
    capabilities = SandboxCapabilities(
        grade=IsolationGrade.KERNEL, apt=True, network_phases=True, port_forwards=True, attests=True
    )

    def __init__(self, cache: Cache, *, control_groups: bool = True) -> None:
        self._cache = cache
        self._control_groups = control_groups
        sweep_cgroups()

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end; see `Sandbox`."""
        if command.outside is not None:
            return work_outside(self, command, cancel)
        with contextlib.ExitStack() as stack:
            return self._run(command, cancel or threading.Event(), stack)

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> NamespaceSession:
        """Open a session; see `Sandbox`."""
        stack = contextlib.ExitStack()
        try:
            ours, theirs = map(stack.enter_context, socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            running = self._start(setup, stack, {"session_fd": theirs})
            session = NamespaceSession(setup, running, ours, cancel, stack)
            session.await_start()
        except BaseException:  # Ctrl-C, say, while the session is made: then nobody else has the stack
            stack.close()
            raise
        return session

    def _start(
        self, setup: SandboxSetup, stack: contextlib.ExitStack, streams: Mapping[str, _InheritedFile]
    ) -> RunningSupervisor:
        """Start a supervisor with `given`, fields of `Spec`, besides its own pipes; all are closed here afterwards."""
        limits = setup.limits
        cgroups = make_cgroups(limits.memory + limits.disk, limits.processes + 8) if self._control_groups else []
        stack.callback(remove_cgroups, cgroups)
        # Entered early, to be left late: a port forward is over when everything behind it is dead.
        private = setup.network is SandboxNetwork.NONE
        doors = stack.enter_context(inner_doors(setup.doors if private else ()))
        stack.enter_context(host_doors(() if private else setup.doors))
        status, control = Pipe(stack), Pipe(stack)
        streams = {"status_fd": status.write, "control_fd": control.read, **streams}
        process = start_supervisor([*(stream.fileno() for stream in streams.values()), *doors.given])
        stack.callback(end_supervisor, process)
        spec = self.spec(setup, cgroups, **{name: stream.fileno() for name, stream in streams.items()})
        doors.tell(spec)
        doors.let_go()
        for stream in streams.values():
            stream.close()
        assert process.stdin
        with contextlib.suppress(BrokenPipeError), process.stdin:
            process.stdin.write(encode(spec.fields()))
        doors.receive()
        return RunningSupervisor(process, status.read, control.write, cgroups)

    def _run(self, command: Command, cancel: threading.Event, stack: contextlib.ExitStack) -> Completed:
        channel = Pipe(stack) if command.channel else None
        running = self._start(command, stack, {"channel_fd": channel.write} if channel else {})
        process = running.process
        assert process.stdout and process.stderr
        out, err = Bounded(command.limits.output), Bounded(command.limits.output)
        report, channel_bytes = Bounded(2**24), Bounded(_CHANNEL_LIMIT)
        shown = (process.stdout.fileno(), process.stderr.fileno())
        sinks = {**dict(zip(shown, (out, err), strict=True)), running.status.fileno(): report}
        if channel:
            sinks[channel.read.fileno()] = channel_bytes
        log = stack.enter_context(Log(command.log, command.limits.output))
        heard = channel.read.fileno() if channel else -1

        def tick() -> None:
            if cancel.is_set():
                running.cancel()

        def seen(descriptor: int, data: bytes) -> None:
            if descriptor in shown:
                log.write(data)
            elif descriptor == heard and command.on_channel:
                command.on_channel(data)

        pump(sinks, tick, seen)
        process.wait()
        found = supervisor_report(report.value(), process.returncode, err.value())
        return Completed(
            exit=found.exit.model_copy(update={"output_truncated": out.truncated or err.truncated}),
            stdout=out.value(),
            stderr=err.value(),
            channel=channel_bytes.value(),
            rejected=found.rejected,
        )

    def spec(self, setup: SandboxSetup, cgroups: list[str], **descriptors: int) -> Spec:
        """The description of a command, or of a session, for the supervisor; `descriptors` are fields of it."""
        command = setup if isinstance(setup, Command) else Command()
        env = {**BASE_ENV, **setup.env}
        if descriptors.get("channel_fd", -1) >= 0:
            env["REPOASSAY_CHANNEL"] = str(descriptors["channel_fd"])
        as_root = os.geteuid() == 0
        for collect in setup.collect:
            collect.into.mkdir(parents=True, exist_ok=True)
        return Spec(
            argv=list(command.argv),
            env=list(env.items()),
            cwd=setup.cwd,
            stdin=command.stdin,
            mountpoint=str(self._cache.mountpoint),
            system=system_binds(),
            hide=[str(PACKAGE), os.path.realpath(self._cache.path)],
            binds=[Bind(os.path.realpath(m.source), m.target, m.access.value) for m in setup.mounts],
            scratch=list(setup.scratch),
            writes=[
                Write(path, None if edit is None else edit.content,
                      edit is not None and edit.executable)
                for path, edit in setup.edits.items()
            ],
            gather=[
                Gather(c.source, str(c.into.resolve()), c.max_bytes, c.max_files, list(c.skip),
                       None if c.links is None else list(c.links))
                for c in setup.collect
            ],
            hosts=list(setup.hosts),
            host_network=setup.network is SandboxNetwork.HOST,
            seconds=setup.limits.seconds,
            memory=setup.limits.memory,
            disk=setup.limits.disk,
            processes=setup.limits.processes,
            uid=SANDBOX_UID if as_root else os.geteuid(),
            gid=SANDBOX_UID if as_root else os.getegid(),
            cgroups=cgroups,
            **descriptors,  # type: ignore[arg-type]  # numbers all
        )  # fmt: skip


@functools.cache
def system_binds() -> list[Bind]:
    """The host's programs and libraries, and our interpreter's installation, each at its own place."""
    folders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
    base = os.path.realpath(sys.base_prefix)
    if not base.startswith("/usr/"):
        folders.append(base)
    # A base prefix reached through a link (as version managers make them) must work by that name too.
    return [Bind(folder, folder, "read") for folder in dict.fromkeys([*folders, sys.base_prefix])]
