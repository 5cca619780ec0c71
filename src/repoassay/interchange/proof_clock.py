"""The time one proof may take: whatever runs for it in a sandbox ends when the time is over, or somebody interrupts."""

from __future__ import annotations

import threading
import time

from repoassay.sandbox import Command, Completed, Sandbox, SandboxSession, SandboxSetup

__all__ = ["ClockedSandbox", "OverTime", "ProofClock"]


class OverTime(Exception):
    """The clock ran out, or somebody interrupted."""


class ProofClock(threading.Event):
    """Is set when the time is over, when it was set itself, or when `interrupt` is.

    Args:
        seconds: Wall time from now on.
        interrupt: Set by Ctrl-C, for every proof of a call.

    Attributes:
        step: What the proof is at, as a subject of a sentence.
    """

    def __init__(self, seconds: float, interrupt: threading.Event | None = None) -> None:
        super().__init__()
        self.seconds, self.interrupt = seconds, interrupt or threading.Event()
        self.step = "Making its environment"
        self._started = time.monotonic()

    def is_set(self) -> bool:
        """Whether what runs for the proof is to end."""
        return super().is_set() or self.interrupt.is_set() or self.is_over()

    def go_on(self, step: str) -> None:
        """Go on to a step, unless what the last one saw was the clock's doing.

        Raises:
            OverTime: It was.
        """
        if self.is_set():
            raise OverTime
        self.step = step

    def is_over(self) -> bool:
        """Whether its own time has passed."""
        return self.elapsed() >= self.seconds

    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._started


class _Either(threading.Event):
    """Set when one of two is."""

    def __init__(self, one: threading.Event, other: threading.Event) -> None:
        super().__init__()
        self._both = (one, other)

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._both)


class ClockedSandbox:
    """A sandbox whose commands end with a clock; in all else it is the sandbox it stands for."""

    def __init__(self, sandbox: Sandbox, clock: ProofClock) -> None:
        self._sandbox, self._clock = sandbox, clock

    def __getattr__(self, name: str) -> object:
        return getattr(self._sandbox, name)

    @property
    def name(self) -> str:
        """See `Sandbox`."""
        return self._sandbox.name

    @property
    def network_is_private(self) -> bool:
        """See `Sandbox`."""
        return self._sandbox.network_is_private

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """See `Sandbox`."""
        return self._sandbox.run(command, self._ends_with(cancel))

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> SandboxSession:
        """See `Sandbox`."""
        return self._sandbox.open(setup, self._ends_with(cancel))

    def _ends_with(self, cancel: threading.Event | None) -> threading.Event:
        return self._clock if cancel is None else _Either(self._clock, cancel)
