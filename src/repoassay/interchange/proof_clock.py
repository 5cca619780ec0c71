"""The time one proof may take: it is over when the time has passed, or somebody interrupts."""

from __future__ import annotations

import threading
import time

__all__ = ["OverTime", "ProofClock"]


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
