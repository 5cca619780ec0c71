"""What a box is to its session: a process whose streams reach our server inside, and what the host made for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Protocol

__all__ = ["BoxProcess", "RunningBox"]


class BoxProcess(Protocol):
    """The process that was started in a box, as `subprocess.Popen` has it: one of this machine, or of a pod."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """What it reads."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """What it prints."""

    @property
    def stderr(self) -> IO[bytes] | None:
        """Its errors."""

    @property
    def returncode(self) -> int | None:
        """Its exit code, once it has ended."""

    def poll(self) -> int | None:
        """Look for its end."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""

    def kill(self) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class RunningBox:
    """A box that is being started: its process, and the control groups that the host made for it.

    `started` is called once the server inside runs.
    """

    process: BoxProcess
    cgroups: list[str] = field(default_factory=list)
    started: Callable[[], None] = lambda: None
