"""Reading what a command prints without letting it fill our memory, our disk or our processor."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

__all__ = ["Bounded", "Log", "pump"]

_CHUNK = 1 << 16


class Bounded:
    """Keeps the first and the last half of what it is fed, `limit` bytes in all, and counts the rest."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._last = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Take in more."""
        self.total += len(data)
        room = self._limit - self._last - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._last + _CHUNK:  # seldom, as it copies
            del self._tail[: len(self._tail) - self._last]

    @property
    def truncated(self) -> bool:
        """Whether something had to be left out."""
        return self.total > self._limit

    def value(self) -> bytes:
        """What was kept, with a line that says how much is missing."""
        tail = self._tail[max(0, len(self._tail) - self._last) :]
        missing = self.total - len(self._head) - len(tail)
        middle = f"\n[... {missing} bytes left out ...]\n".encode() if missing else b""
        return bytes(self._head + middle + tail)


class Log:
    """A file that takes the first `limit` bytes as they come, then a note; with no path it takes nothing."""

    def __init__(self, path: Path | None, limit: int) -> None:
        self._left = limit
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = None if path is None else path.open("ab", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def write(self, data: bytes) -> None:
        """Add what was printed."""
        if self._stream is None or self._left <= 0:
            return
        self._stream.write(data[: self._left])
        self._left -= len(data)
        if self._left <= 0:
            self._stream.write(b"\n[... the log ends here: the output limit was reached ...]\n")


def pump(
    sinks: Mapping[int, Bounded],
    tick: Callable[[], None],
    seen: Callable[[int, bytes], None],
    every: float = 0.1,
) -> None:
    """Read every descriptor to its end into its sink, calling `tick` at least every `every` seconds.

    Past a sink's limit reading slows down, so that endless output blocks its writer and not us.
    """
    with selectors.DefaultSelector() as selector:
        for descriptor in sinks:
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(every):
                data = os.read(key.fd, _CHUNK)
                if not data:
                    selector.unregister(key.fd)
                    continue
                sinks[key.fd].feed(data)
                seen(key.fd, data)
                if sinks[key.fd].truncated:
                    time.sleep(0.002)
            tick()
