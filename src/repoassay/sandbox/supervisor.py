"""Supervisors as the host sees them: how one is started, what it reports, and how its end is made sure of."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import InfraFault
from repoassay.sandbox.launcher.framing import decode
from repoassay.types import Ended, Exit, SkippedFile

__all__ = [
    "PACKAGE",
    "Pipe",
    "RunningSupervisor",
    "SandboxReport",
    "end_supervisor",
    "start_supervisor",
    "supervisor_report",
]

PACKAGE = Path(__file__).resolve().parent.parent
"""Where our own code lies, which nobody inside sees."""
_START = "import sys; sys.path.insert(0, sys.argv[1]); from repoassay.sandbox.launcher.main import main; main()"


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """How a sandbox ended, and what of it could not be collected."""

    exit: Exit
    rejected: tuple[SkippedFile, ...]


@dataclass(frozen=True, slots=True)
class RunningSupervisor:
    """A supervisor that was told what to do: its process, its report's pipe, its control pipe, its control groups."""

    process: subprocess.Popen[bytes]
    status: io.FileIO
    control: io.FileIO
    cgroups: list[str]

    def cancel(self) -> None:
        """Have it end everything inside, collect and report."""
        with contextlib.suppress(OSError, ValueError):
            self.control.write(b"k")


def start_supervisor(descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
    """Start a supervisor that waits for its `Spec` on standard input and inherits the descriptors `given`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < (most := min(hard, 65536)):  # descriptors are sent to sessions: see `most_files` of the launcher
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _START, str(PACKAGE.parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        cwd="/",
        start_new_session=True,
        pass_fds=descriptors,
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


def supervisor_report(status: bytes, code: int, stderr: bytes) -> SandboxReport:
    """What a supervisor wrote before it ended with `code`; raises `InfraFault` when that was a fault, or nothing."""
    try:
        report = decode(status)
    except (ValueError, EOFError, TypeError):
        text = stderr.decode(errors="replace").strip()[-500:]
        raise InfraFault(f"The sandbox's supervisor ended with {code} and no report. {text}".strip()) from None
    assert isinstance(report, dict)
    if "fault" in report:
        raise InfraFault(f"The sandbox could not be set up: {report['fault']}.", "Run `repoassay doctor`.")
    ended = Ended.CANCELLED if report["ended"] == "abandoned" else Ended(report["ended"])
    return SandboxReport(
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
