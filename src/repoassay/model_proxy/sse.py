"""Server-sent events out of a stream of bytes, as they come, for reading along."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["EventReader"]

_LONGEST_EVENT = 32 << 20


class EventReader:
    """Cuts chunks into events. Feed it every chunk in order.

    An event is everything up to a blank line. Its data is what its `data:` lines say, joined by line feeds.
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._raw = bytearray()
        self._data: list[bytes] = []
        self.overflowed = False

    def feed(self, chunk: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The events that `chunk` completes, as (raw bytes with the blank line, data)."""
        if self.overflowed:
            return
        self._line += chunk
        start = 0
        while (end := self._line.find(b"\n", start)) >= 0:
            line = bytes(self._line[start : end + 1])
            start = end + 1
            self._raw += line
            text = line.rstrip(b"\r\n")
            if not text:
                if len(self._raw) > len(line) or self._data:
                    yield bytes(self._raw), b"\n".join(self._data)
                self._raw.clear()
                self._data.clear()
            elif text.startswith(b"data:"):
                self._data.append(text[6:] if text.startswith(b"data: ") else text[5:])
        del self._line[:start]
        if len(self._line) + len(self._raw) > _LONGEST_EVENT:
            self.overflowed = True
            self._line.clear()
            self._raw.clear()
            self._data.clear()

    def rest(self) -> bytes:
        """What came after the last whole event."""
        return bytes(self._raw + self._line)
