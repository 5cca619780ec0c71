"""A sandbox all of whose commands end when an event is set: at a Ctrl-C, or when the time of something is over."""

from __future__ import annotations

import threading

from repoassay.errors import Interrupted
from repoassay.sandbox.protocol import Command, Completed, Sandbox, SandboxSession, SandboxSetup

__all__ = ["CancellableSandbox"]


class _Either(threading.Event):
    """Set when one of two is."""

    def __init__(self, one: threading.Event, other: threading.Event) -> None:
        super().__init__()
        self._both = (one, other)

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._both)


class CancellableSandbox:
    """A sandbox whose commands and sessions end with `cancel`; in all else, `isinstance` too, the one it stands for."""

    def __init__(self, sandbox: Sandbox, cancel: threading.Event) -> None:
        self._sandbox, self._cancel = sandbox, cancel

    def __getattr__(self, name: str) -> object:
        return getattr(self._sandbox, name)

    @property
    def __class__(self) -> type:
        return type(self._sandbox)

    @__class__.setter
    def __class__(self, _: type) -> None:
        raise TypeError("a sandbox keeps its class")

    @property
    def name(self) -> str:
        """See `Sandbox`."""
        return self._sandbox.name

    @property
    def network_is_private(self) -> bool:
        """See `Sandbox`."""
        return self._sandbox.network_is_private

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """See `Sandbox`.

        Raises:
            Interrupted: When the event is set: how a command ended that was cut short is nobody's result.
        """
        done = self._sandbox.run(command, self._ends_with(cancel))
        if self._cancel.is_set():
            raise Interrupted("The work was stopped.")
        return done

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> SandboxSession:
        """See `Sandbox`."""
        return self._sandbox.open(setup, self._ends_with(cancel))

    def _ends_with(self, cancel: threading.Event | None) -> threading.Event:
        return self._cancel if cancel is None else _Either(self._cancel, cancel)
