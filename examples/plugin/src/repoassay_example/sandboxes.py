"""A sandbox: the bundled one, in which no command runs longer than a minute."""

from __future__ import annotations

import threading
from dataclasses import replace

from repoassay.sandbox.cache import Cache
from repoassay.sandbox.protocol import Command, Completed
from repoassay.sandbox.sandbox import open_sandbox


class OneMinute:
    """Runs commands in kernel namespaces, for at most 60 seconds each."""

    network_is_private = True

    def __init__(self, cache: Cache) -> None:
        self._inner = open_sandbox("namespaces", cache)

    def run(self, command: Command, cancel: threading.Event | None = None) -> Completed:
        """Run one command to its end."""
        limits = command.limits.model_copy(update={"seconds": min(command.limits.seconds, 60)})
        return self._inner.run(replace(command, limits=limits), cancel)
