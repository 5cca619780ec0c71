"""The text of a patch, one line at a time, without a list of all its lines."""

from __future__ import annotations

import re

__all__ = ["Lines"]

_RUN_ENDS = {sign: re.compile(rb"\n(?!%s)" % re.escape(sign)) for sign in (b" ", b"+", b"-")}
_BARE = re.compile(rb"\n+"), re.compile(rb"(?:\r\n){1,4096}")


class Lines:
    """A cursor over lines ended by a line feed; a missing last one is supplied.

    Attributes:
        number: The number of the next line, counted from 1.
        crlf: Whether every line ends in CR LF.
    """

    def __init__(self, data: bytes) -> None:
        feeds = data.count(b"\n")
        self.crlf = 0 < feeds == data.count(b"\r\n")
        if data and not data.endswith(b"\n"):
            data += b"\r\n" if self.crlf and not data.endswith(b"\r") else b"\n"
        self._data = data
        self._at = 0
        self.number = 1

    def take(self) -> bytes | None:
        """Return the next line with its line end and pass it; None at the end."""
        if self._at == len(self._data):
            return None
        end = self._data.index(b"\n", self._at) + 1
        line = self._data[self._at : end]
        self._at = end
        self.number += 1
        return line

    def run(self, limit: int) -> tuple[bytes, int]:
        """Return the lines that start with the next line's sign, without the sign, and how many they are; pass them.

        Lines with nothing in them, not even the space of a context line, are a run of their own. At least one line is
        returned, and at most `limit`.
        """
        sign = self.first()
        if sign in _RUN_ENDS:
            found = _RUN_ENDS[sign].search(self._data, self._at)
            end = found.end() if found else len(self._data)
            count = self._data.count(b"\n", self._at, end)
            while count > limit:
                end = self._data.rfind(b"\n", self._at, end - 1) + 1
                count -= 1
            content = self._data[self._at + 1 : end].replace(b"\n" + sign, b"\n")
        else:
            bare = _BARE[self.crlf].match(self._data, self._at)
            width = 2 if self.crlf else 1
            count = min(len(bare[0]) // width, limit) if bare else 1
            content = self._data[self._at : self._at + count * width]
            end = self._at + len(content)
        self._at = end
        self.number += count
        return content, count

    def first(self) -> bytes:
        """Return the next line's first byte; nothing at the end."""
        return self._data[self._at : self._at + 1]

    def text(self, ahead: int = 0) -> bytes | None:
        """Return the next line, or one further on, without its line end, and stay; None past the end."""
        start = self._at
        for _ in range(ahead):
            start = self._data.find(b"\n", start) + 1
            if not start:
                return None
        if start >= len(self._data):
            return None
        line = self._data[start : self._data.index(b"\n", start)]
        return line.removesuffix(b"\r") if self.crlf else line

    def starts(self, prefix: bytes, ahead: int = 0) -> bool:
        """Tell whether the next line, or one further on, exists and starts so."""
        text = self.text(ahead)
        return text is not None and text.startswith(prefix)
