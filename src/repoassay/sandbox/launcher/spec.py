"""What the host tells the supervisor: one marshalled document on standard input.

The host builds it as dataclasses; the supervisor reads it back as plain objects with the same attributes, because
importing dataclasses would be a fifth of what a sandbox costs.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

__all__ = ["Bind", "Gather", "Spec", "Write"]


@dataclass
class Bind:
    """Show host path `source` at `target`; `access` as in `workspace.protocol.Access`."""

    source: str
    target: str
    access: str


@dataclass
class Write:
    """A file to write before the command starts; None deletes."""

    path: str
    content: bytes | None
    executable: bool = False


@dataclass
class Gather:
    """Copy `source` inside to the host folder `into` once everything inside is dead; `links` as in `ExportSpec`."""

    source: str
    into: str
    max_bytes: int
    max_files: int
    skip: list[str]
    links: list[str] | None


@dataclass
class Spec:
    """Everything about one sandbox. Sizes in bytes, times in seconds; `uid` is the host identity of the command.

    `hosts` are further names of the sandbox's own loopback. `doors` are ports; their listening sockets are sent over
    the local socket `doors_fd`. With `slots`, the command is a prefork server (`prefork.py`): `argv` is our program and
    what to import beforehand. With `session_fd`, there is no command: process 1 starts what it is asked for over that
    local socket (`session.py`).
    """

    argv: list[str]
    env: list[tuple[str, str]]
    cwd: str
    stdin: bytes
    mountpoint: str
    system: list[Bind]
    hide: list[str]
    binds: list[Bind]
    scratch: list[str]
    writes: list[Write]
    gather: list[Gather]
    hosts: list[str]
    host_network: bool
    seconds: float
    memory: int
    disk: int
    processes: int
    uid: int
    gid: int
    cgroups: list[str] = field(default_factory=list)
    status_fd: int = -1
    control_fd: int = -1
    channel_fd: int = -1
    jobs_fd: int = -1
    results_fd: int = -1
    doors: list[int] = field(default_factory=list)
    doors_fd: int = -1
    slots: int = 0
    session_fd: int = -1

    def fields(self) -> dict[str, object]:
        """As plain containers, for `wire.encode`."""
        return asdict(self)
