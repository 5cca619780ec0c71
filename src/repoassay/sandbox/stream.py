"""Reading what a command prints without letting it fill our memory, our disk or our processor."""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

__all__ = ["Bounded", "Drain", "DrainSource", "Log", "pump"]

_CHUNK = 1 << 16
_PIPE_HOLDS = 1 << 20
"""Bytes that a pipe holds at most, for whoever made it larger."""


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
            self._stream = None

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


@dataclass(slots=True, eq=False)
class DrainSource:
    """A descriptor that a `Drain` reads; its number is kept from others until it has both ended and been taken."""

    descriptor: int
    sink: Bounded
    listener: Callable[[bytes], None]
    ended: bool = False
    taken: bool = False


class Drain:
    """Reads descriptors to their end in a thread of its own, whoever still holds the other ends.

    Nobody inside waits for us then, or finds a pipe broken, whatever a command has left running. Past a sink's limit,
    and once it was taken, reading slows down as in `pump`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._selector = selectors.DefaultSelector()
        self._bell, self._ring = os.pipe()
        self._selector.register(self._bell, selectors.EVENT_READ)
        self._sources: set[DrainSource] = set()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="sandbox-output", daemon=True)
        self._thread.start()

    def add(self, descriptor: int, sink: Bounded, listener: Callable[[bytes], None]) -> DrainSource:
        """Read a descriptor, which is this object's from here on, into `sink`; `listener` is told as well.

        Raises `ValueError` once the drain is closed.
        """
        os.set_blocking(descriptor, False)
        source = DrainSource(descriptor, sink, listener)
        with self._lock:
            if self._closed:
                os.close(descriptor)
                raise ValueError("the drain is closed")
            self._sources.add(source)
            self._selector.register(descriptor, selectors.EVENT_READ, source)
            os.write(self._ring, b"+")
        return source

    def take(self, source: DrainSource) -> None:
        """Read what lies ready, at most what a pipe holds; what comes later is thrown away. Once for a source."""
        with self._lock:
            if source not in self._sources:
                return  # closed
            for _ in range(_PIPE_HOLDS // _CHUNK + 1):
                if source.ended or not self._read(source):
                    break
            source.taken, source.sink, source.listener = True, Bounded(0), lambda _: None
            self._let_go(source)

    def close(self) -> None:
        """Stop reading, and close every descriptor."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.write(self._ring, b"-")
        self._thread.join()

    def _run(self) -> None:
        while not self._closed:
            slow = False
            for key, _ in self._selector.select():
                if key.fd == self._bell:
                    os.read(self._bell, 4096)
                    continue
                with self._lock:
                    if not key.data.ended:
                        self._read(key.data)
                        slow = slow or key.data.sink.truncated
            if slow:
                time.sleep(0.002)
        with self._lock:
            self._selector.close()
            for descriptor in (*(source.descriptor for source in self._sources), self._bell, self._ring):
                os.close(descriptor)
            self._sources.clear()

    def _read(self, source: DrainSource) -> bool:
        """Read once; whether more may lie ready."""
        try:
            data = os.read(source.descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            source.ended = True
            self._selector.unregister(source.descriptor)
            self._let_go(source)
            return False
        source.sink.feed(data)
        source.listener(data)
        return True

    def _let_go(self, source: DrainSource) -> None:
        if source.ended and source.taken:
            self._sources.discard(source)
            os.close(source.descriptor)
