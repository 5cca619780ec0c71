"""What a sandbox is: it runs one command on given mounts within limits, hands back what was asked for, and is gone."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from repoassay.types import Exit, FileEdit, Limits, SkippedFile

__all__ = ["Access", "Command", "Completed", "ExportSpec", "Mount", "PortForward", "Sandbox", "SandboxNetwork"]


class Access(StrEnum):
    """How a mount may be used.

    `COPY_ON_WRITE` looks writable to the command; what it writes is thrown away with the sandbox (or collected).
    `WRITE` changes the host folder and is for building environments, never for agents or tests.
    """

    READ = "read"
    COPY_ON_WRITE = "copy_on_write"
    WRITE = "write"


class SandboxNetwork(StrEnum):
    """What a command reaches: nothing but its own loopback, or the host's network (environment builds only)."""

    NONE = "none"
    HOST = "host"


@dataclass(frozen=True, slots=True)
class Mount:
    """A host file or folder, and where the command sees it (an absolute path)."""

    source: Path
    target: str
    access: Access = Access.READ


@dataclass(frozen=True, slots=True)
class ExportSpec:
    """What crosses out after everything in the sandbox is dead: `source` inside, copied below `into` on the host.

    Only regular files and folders are copied; links, devices, and whatever passes a limit are listed as rejected.
    Entries of the top folder named in `skip` are passed over.
    """

    source: str
    into: Path
    max_bytes: int = 256 * 2**20
    max_files: int = 10_000
    skip: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PortForward:
    """A TCP port on the command's own 127.0.0.1 at which somebody outside answers; make one with `open_door`.

    Before the command starts, `opened` is given the listening socket, which is then its own to close; it must return
    soon, and from then on connections made inside can be accepted outside. `closed` is called once everything inside
    is dead, if `opened` was called. `listening` is the socket where the loopback is the host's, made beforehand.
    """

    port: int
    opened: Callable[[socket.socket], None]
    closed: Callable[[], None] | None = None
    listening: socket.socket | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command and everything it may see.

    `edits` are files written (or, for None, deleted) before the command starts, by absolute path inside; they may
    lie in copy-on-write mounts or scratch folders. `scratch` folders are empty, writable, and share the disk limit.
    With `channel`, the command inherits a pipe whose number is in the environment variable `REPOASSAY_CHANNEL`; what it
    writes there comes back apart from its output, and is handed to `told` as it comes.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/"
    stdin: bytes = b""
    mounts: tuple[Mount, ...] = ()
    scratch: tuple[str, ...] = ()
    edits: Mapping[str, FileEdit | None] = field(default_factory=dict)
    limits: Limits = Limits()
    network: SandboxNetwork = SandboxNetwork.NONE
    doors: tuple[PortForward, ...] = ()
    channel: bool = False
    told: Callable[[bytes], None] | None = None
    collect: tuple[ExportSpec, ...] = ()
    log: Path | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """The result of a command: how it ended, bounded output, what was written to the channel, what stayed inside."""

    exit: Exit
    stdout: bytes = b""
    stderr: bytes = b""
    channel: bytes = b""
    rejected: tuple[SkippedFile, ...] = ()


class Sandbox(Protocol):
    """A kind of isolation.

    `run` blocks until the command and every descendant are gone. Setting `cancel` ends it early with
    `Ended.CANCELLED`. It raises `InfraFault` when the sandbox itself could not be set up, never because of what the
    command did.
    """

    @property
    def name(self) -> str:
        """The kind, as `--isolation` spells it."""

    @property
    def network_is_private(self) -> bool:
        """Whether a command with `SandboxNetwork.NONE` has a loopback of its own, and reaches nothing else."""

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end."""
