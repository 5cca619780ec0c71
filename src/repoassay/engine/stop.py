"""How a run is asked to stop: from another thread, or by the person at the keyboard."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["Stop"]


class Stop:
    """A request to stop, in two degrees; may be made from any thread, and before the run begins.

    Args:
        patient: Let the first Ctrl-C only `finish`, and the second one `drop`; else the first one drops.
        announce: Called at once by `interrupt`, within a signal handler, with what will happen.
    """

    def __init__(self, *, patient: bool = False, announce: Callable[[str], object] = lambda sentence: None) -> None:
        self._patient = patient
        self._announce = announce
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
            self._announce("Finishing the attempts under way; Ctrl-C again drops them.")
        else:
            self.drop()
            self._announce("Dropping the attempts under way; resume makes them again.")
