"""What the host tells the supervisor: one JSON document on standard input."""

from __future__ import annotations

import base64
import json
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
    """A file to write before the command starts; `content` base64, None deletes."""

    path: str
    content: str | None
    executable: bool = False

    def data(self) -> bytes:
        """The content as bytes."""
        return base64.b64decode(self.content or "")


@dataclass
class Gather:
    """Copy `source` inside to the host folder `into` once everything inside is dead."""

    source: str
    into: str
    max_bytes: int
    max_files: int
    skip: list[str]


@dataclass
class Spec:
    """Everything about one sandbox. Sizes in bytes, times in seconds; `uid` is the host identity of the command."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    stdin: str
    mountpoint: str
    system: list[Bind]
    hide: list[str]
    binds: list[Bind]
    scratch: list[str]
    writes: list[Write]
    gather: list[Gather]
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

    def encode(self) -> bytes:
        """As JSON."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, data: bytes) -> Spec:
        """From JSON written by `encode`."""
        raw = json.loads(data)
        for key, kind in (("system", Bind), ("binds", Bind), ("writes", Write), ("gather", Gather)):
            raw[key] = [kind(**item) for item in raw[key]]
        return cls(**raw)
