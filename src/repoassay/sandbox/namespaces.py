"""The default sandbox: kernel namespaces, without root and without a container engine.

What is isolated and what is not is stated in SECURITY.md; how it is built, in `launcher/`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.sandbox.cache import SANDBOX_UID, Cache
from repoassay.sandbox.cgroups import make_cgroups, remove_cgroups, sweep_cgroups
from repoassay.sandbox.launcher.framing import decode, encode
from repoassay.sandbox.launcher.spec import Bind, Gather, Spec, Write
from repoassay.sandbox.port_forward import host_doors, inner_doors
from repoassay.sandbox.protocol import Command, Completed, SandboxNetwork
from repoassay.sandbox.stream import Bounded, Log, pump
from repoassay.types import Ended, Exit, SkippedFile

__all__ = ["NamespaceSandbox", "Pipe", "end_supervisor", "start_supervisor"]

_PACKAGE = Path(__file__).resolve().parent.parent
_START = "import sys; sys.path.insert(0, sys.argv[1]); from repoassay.sandbox.launcher.main import main; main()"
_CHANNEL_LIMIT = 16 * 2**20
_BASE_ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/home/agent",
    "USER": "agent",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",  # noqa: S108 - inside the sandbox, its own scratch folder
    "TERM": "dumb",
}


@dataclass(frozen=True, slots=True)
class _Report:
    exit: Exit
    rejected: tuple[SkippedFile, ...]


class NamespaceSandbox:
    """Runs commands in fresh user, mount, pid, net, ipc, uts and cgroup namespaces.

    Args:
        cache: Where the mountpoint lies; hidden from commands.
        control_groups: Whether to use control groups where this account may make them; without them, memory is held
            to its limit by looking at the tree 20 times a second.
    """

    name = "namespaces"
    network_is_private = True

    def __init__(self, cache: Cache, *, control_groups: bool = True) -> None:
        self._cache = cache
        self._control_groups = control_groups
        sweep_cgroups()

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end; see `Sandbox`."""
        limits = command.limits
        cgroups = make_cgroups(limits.memory + limits.disk, limits.processes + 8) if self._control_groups else []
        try:
            return self._run(command, cancel or threading.Event(), cgroups)
        finally:
            remove_cgroups(cgroups)

    def _run(self, command: Command, cancel: threading.Event, cgroups: list[str]) -> Completed:
        with contextlib.ExitStack() as stack:
            # Entered first, to be left last: a port forward is over when everything behind it is dead.
            private = command.network is SandboxNetwork.NONE
            doors = stack.enter_context(inner_doors(command.doors if private else ()))
            stack.enter_context(host_doors(() if private else command.doors))
            status, control = Pipe(stack), Pipe(stack)
            channel = Pipe(stack) if command.channel else None
            given = [status.write, control.read, *([channel.write] if channel else [])]
            process = start_supervisor([*(stream.fileno() for stream in given), *doors.given])
            stack.callback(end_supervisor, process)
            spec = self.spec(command, cgroups, *(stream.fileno() for stream in given))
            doors.tell(spec)
            doors.let_go()
            for stream in given:
                stream.close()
            assert process.stdin and process.stdout and process.stderr
            with contextlib.suppress(BrokenPipeError), process.stdin:
                process.stdin.write(encode(spec.fields()))
            doors.receive()
            out, err = Bounded(command.limits.output), Bounded(command.limits.output)
            report, told = Bounded(2**24), Bounded(_CHANNEL_LIMIT)
            shown = (process.stdout.fileno(), process.stderr.fileno())
            sinks = {**dict(zip(shown, (out, err), strict=True)), status.read.fileno(): report}
            if channel:
                sinks[channel.read.fileno()] = told
            log = stack.enter_context(Log(command.log, command.limits.output))

            def tick() -> None:
                if cancel.is_set():
                    with contextlib.suppress(OSError):
                        control.write.write(b"k")

            heard = channel.read.fileno() if channel else -1

            def seen(descriptor: int, data: bytes) -> None:
                if descriptor in shown:
                    log.write(data)
                elif descriptor == heard and command.told:
                    command.told(data)

            pump(sinks, tick, seen)
            process.wait()
            found = _report(report.value(), process.returncode, err.value())
            return Completed(
                exit=found.exit.model_copy(update={"output_truncated": out.truncated or err.truncated}),
                stdout=out.value(),
                stderr=err.value(),
                channel=told.value(),
                rejected=found.rejected,
            )

    def spec(self, command: Command, cgroups: list[str], status: int, control: int, channel: int = -1) -> Spec:
        """The description of a command for the supervisor."""
        env = {**_BASE_ENV, **command.env}
        if channel >= 0:
            env["REPOASSAY_CHANNEL"] = str(channel)
        as_root = os.geteuid() == 0
        for collect in command.collect:
            collect.into.mkdir(parents=True, exist_ok=True)
        return Spec(
            argv=list(command.argv),
            env=list(env.items()),
            cwd=command.cwd,
            stdin=command.stdin,
            mountpoint=str(self._cache.mountpoint),
            system=_system(),
            hide=[str(_PACKAGE), os.path.realpath(self._cache.path)],
            binds=[Bind(os.path.realpath(m.source), m.target, m.access.value) for m in command.mounts],
            scratch=list(command.scratch),
            writes=[
                Write(path, None if edit is None else edit.content,
                      edit is not None and edit.executable)
                for path, edit in command.edits.items()
            ],
            gather=[
                Gather(c.source, str(c.into.resolve()), c.max_bytes, c.max_files, list(c.skip))
                for c in command.collect
            ],
            host_network=command.network is SandboxNetwork.HOST,
            seconds=command.limits.seconds,
            memory=command.limits.memory,
            disk=command.limits.disk,
            processes=command.limits.processes,
            uid=SANDBOX_UID if as_root else os.geteuid(),
            gid=SANDBOX_UID if as_root else os.getegid(),
            cgroups=cgroups,
            status_fd=status,
            control_fd=control,
            channel_fd=channel,
        )  # fmt: skip


@functools.cache
def _system() -> list[Bind]:
    """The host's programs and libraries, and our interpreter's installation, each at its own place."""
    folders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
    base = os.path.realpath(sys.base_prefix)
    if not base.startswith("/usr/"):
        folders.append(base)
    # A base prefix reached through a link (as version managers make them) must work by that name too.
    return [Bind(folder, folder, "read") for folder in dict.fromkeys([*folders, sys.base_prefix])]


def start_supervisor(given: Sequence[int]) -> subprocess.Popen[bytes]:
    """Start a supervisor that waits for its `Spec` on standard input and inherits the descriptors `given`."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _START, str(_PACKAGE.parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        start_new_session=True,
        pass_fds=given,
    )


class Pipe:
    """Both ends of a pipe, each closed exactly once: a number closed twice may by then be another thread's."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        read, write = os.pipe()
        self.read = stack.enter_context(open(read, "rb", buffering=0))  # noqa: PTH123, SIM115 - a descriptor; the stack closes it
        self.write = stack.enter_context(open(write, "wb", buffering=0))  # noqa: PTH123, SIM115 - the same


def end_supervisor(process: subprocess.Popen[bytes]) -> None:
    """Make sure of the supervisor's end, and with it of everything inside, whatever went wrong here."""
    if process.poll() is None:
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _report(status: bytes, code: int, stderr: bytes) -> _Report:
    try:
        report = decode(status)
    except (ValueError, EOFError, TypeError):
        text = stderr.decode(errors="replace").strip()[-500:]
        raise InfraFault(f"The sandbox's supervisor ended with {code} and no report. {text}".strip()) from None
    assert isinstance(report, dict)
    if "fault" in report:
        raise InfraFault(f"The sandbox could not be set up: {report['fault']}.", "Run `repoassay doctor`.")
    ended = Ended.CANCELLED if report["ended"] == "abandoned" else Ended(report["ended"])
    return _Report(
        Exit(
            ended=ended,
            code=report["code"],
            signal=report["signal"],
            wall=round(report["wall"], 4),
            cpu=round(report["cpu"], 4),
            peak_memory=report["peak_memory"],
        ),
        tuple(SkippedFile(**item) for item in report["rejected"]),
    )
