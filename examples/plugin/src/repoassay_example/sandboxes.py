"""A sandbox: the bundled one, in which no command runs longer than a minute."""

from __future__ import annotations

import threading
from dataclasses import replace

from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Command, Completed, SandboxSession, SandboxSetup
from repoassay.sandbox.sandbox import open_sandbox
from repoassay.types import Limits


class OneMinute:
    """Runs commands in kernel namespaces, for at most 60 seconds each."""

    network_is_private = True

    def __init__(self, cache: Cache) -> None:
        self._inner = open_sandbox("namespaces", cache)

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end."""
        return self._inner.run(replace(command, limits=_shorter(command.limits)), cancel)

    def open(self, setup: SandboxSetup, cancel: threading.Event | None = None) -> SandboxSession:
        """Open a session, for agents that are Python functions."""
        return self._inner.open(replace(setup, limits=_shorter(setup.limits)), cancel)


def _shorter(limits: Limits) -> Limits:
    return limits.model_copy(update={"seconds": min(limits.seconds, 60)})
