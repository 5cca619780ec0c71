"""What a sandbox is: it runs one command on given mounts within limits, hands back what was asked for, and is gone."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol, Self

from repoassay.types import Exit, FileEdit, Limits, SkippedFile

__all__ = [
    "Access",
    "Command",
    "Completed",
    "ExportSpec",
    "Mount",
    "PortForward",
    "Sandbox",
    "SandboxNetwork",
    "SandboxSession",
    "SandboxSetup",
    "SnapshotChange",
]


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
    Entries of the top folder named in `skip` are passed over. With `links`, what the command's symbolic links lead to
    in the sandbox is copied in their place, but for those links, by path below `source`, that stood there before.
    """

    source: str
    into: Path
    max_bytes: int = 256 * 2**20
    max_files: int = 10_000
    skip: tuple[str, ...] = ()
    links: tuple[str, ...] | None = None


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
class SandboxSetup:
    """What a sandbox shows, and what may be used of it: by one command, or by all that run in a session.

    `edits` are files written (or, for None, deleted) before anything starts, by absolute path inside; they may lie in
    copy-on-write mounts or scratch folders. A folder that has nothing in it is deleted so too, and gives way to a file;
    where a path ends with a slash one is made.
    `scratch` folders are empty, writable, and share the disk limit. `log` takes what is printed as it comes. `hosts`
    are further names of the command's own 127.0.0.1, at whose ports below 1024 it may then listen; where the loopback
    is the host's they mean nothing.
    """

    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/"
    mounts: tuple[Mount, ...] = ()
    scratch: tuple[str, ...] = ()
    edits: Mapping[str, FileEdit | None] = field(default_factory=dict)
    limits: Limits = Limits()
    network: SandboxNetwork = SandboxNetwork.NONE
    doors: tuple[PortForward, ...] = ()
    hosts: tuple[str, ...] = ()
    collect: tuple[ExportSpec, ...] = ()
    log: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(SandboxSetup):
    """One command and everything it may see.

    With `channel`, the command inherits a pipe whose number is in the environment variable `REPOASSAY_CHANNEL`; what it
    writes there comes back apart from its output, and is handed to `on_channel` as it comes.

    With `outside`, there is no `argv`: that function is called, in a thread of this process, with a session in the
    sandbox, and returns the exit code. The time limit ends the session, not the function.
    """

    argv: tuple[str, ...] = ()
    stdin: bytes = b""
    channel: bool = False
    on_channel: Callable[[bytes], None] | None = None
    outside: Callable[[SandboxSession], int] | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """The result of a command: how it ended, bounded output, what was written to the channel, what stayed inside."""

    exit: Exit
    stdout: bytes = b""
    stderr: bytes = b""
    channel: bytes = b""
    rejected: tuple[SkippedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class SnapshotChange:
    """A file (or link, or device) that differs from a snapshot; `change` is `added`, `changed` or `deleted`.

    `path` is absolute and as hostile as whoever wrote there; bytes of it that are no UTF-8 are surrogates. `size` is in
    bytes, 0 of what was deleted. `regular` is whether it is a file that `SandboxSession.read` can read.
    """

    path: str
    change: str
    size: int = 0
    regular: bool = True
    executable: bool = False


class SandboxSession(Protocol):
    """A sandbox that stays: commands run in it one after another or at the same time, until it is closed.

    What one command leaves running lives on; the limits are those of the whole session, and passing the limit of time
    or memory ends it. Everything that comes from inside is hostile. A context manager; usable from any thread.

    Every method but `note` and `close` raises `Interrupted` once the session has ended, and `InfraFault` when the
    sandbox itself failed. Relative paths are below the setup's `cwd`.
    """

    @property
    def ended(self) -> bool:
        """Whether it was closed, passed a limit, or was cancelled."""

    def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str = "",
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        output: int | None = None,
        logged: bool = True,
    ) -> Completed:
        """Run a command and wait for it; what it has started and left goes on.

        Args:
            argv: Program and arguments.
            cwd: Where it starts; the setup's `cwd` by default.
            env: Variables besides the setup's.
            stdin: Its standard input.
            timeout: Seconds after which its process group is killed, `Ended.TIMED_OUT`; the session goes on.
            output: Bytes kept of either output, the beginning and the end; by default the setup's limit.
            logged: Whether the setup's `log` takes what it prints.
        """

    def read(self, path: str, limit: int = 32 * 2**20) -> bytes:
        """The content of a regular file of at most `limit` bytes.

        Links are followed as a command's would be, and so never out of the sandbox. Raises `OSError` as `open` does,
        and with `errno.EFBIG` when it is larger.
        """

    def write(self, path: str, content: bytes, executable: bool = False) -> None:
        """Write a regular file, and make the folders above it; raises `OSError` as `open` does."""

    def note(self, line: str) -> None:
        """Add a line to the setup's `log`; nothing once it was closed."""

    def snapshot(self, *folders: str) -> str:
        """Remember which files there are below `folders`, by default the copy-on-write mounts; returns its name.

        It costs a look at every file, and keeps no content. Raises `OSError` when a folder cannot be listed.
        """

    def diff(self, snapshot: str) -> tuple[SnapshotChange, ...]:
        """What differs from a snapshot, in order of path; a file written again with what it held counts as changed."""

    def kill(self) -> None:
        """End every process that runs inside, but not the session."""

    def close(self) -> Completed:
        """End everything inside, then collect what was asked for; a second call returns the same."""

    def __enter__(self) -> Self:
        """Itself."""

    def __exit__(self, *_: object) -> None:
        """Close it."""


class Sandbox(Protocol):
    """A kind of isolation; with an attribute `capabilities` it states what it can do (`capabilities_of`).

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

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> SandboxSession:
        """Open a session, which must be closed; setting `cancel` ends it early."""
