"""Processes that a test finds again from outside, whatever namespaces they are in."""

from __future__ import annotations

import contextlib
import os
import signal
import uuid
from pathlib import Path

__all__ = ["Marked"]


class Marked:
    """A word that processes carry in their command line or environment, to find them by from outside."""

    def __init__(self) -> None:
        self.word = f"marked-{uuid.uuid4().hex}"

    def alive(self) -> list[int]:
        """Processes of this machine, whatever their namespace, that carry the word, but for ourselves."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                carried = b""
                for name in ("cmdline", "environ"):
                    with contextlib.suppress(OSError):  # of one of them perhaps: it is gone, or shows only the other
                        carried += (entry / name).read_bytes()
                if self.word.encode() in carried:
                    found.append(int(entry.name))
        return found

    def kill(self) -> None:
        for pid in self.alive():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
