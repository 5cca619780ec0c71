"""How a run is asked to stop: from another thread, or by the person at the keyboard."""

from __future__ import annotations

import threading

__all__ = ["Stop"]


class Stop:
    """A request to stop, in two degrees; may be made from any thread, and before the run begins.

    Args:
        patient: Let the first Ctrl-C only `finish`, and the second one `drop`; else the first one drops.
    """

    def __init__(self, *, patient: bool = False) -> None:
        self._patient = patient
        self.starting = threading.Event()
        """Set when nothing new is to be started."""
        self.working = threading.Event()
        """Set when what is under way is to be given up."""

    def finish(self) -> None:
        """Start nothing new; attempts under way end by themselves and count."""
        self.starting.set()

    def drop(self) -> None:
        """Start nothing new and give up what is under way; it is made again on resume."""
        self.starting.set()
        self.working.set()

    def interrupt(self) -> None:
        """Go on by one degree, as Ctrl-C does."""
        if self._patient and not self.starting.is_set():
            self.finish()
        else:
            self.drop()
