"""The journal of a run: one JSON object a line, appended and fsynced; a torn last line is expected and reported."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["Journal", "JournalRead"]


@dataclass(frozen=True, slots=True)
class JournalRead:
    """Whole records in order, and the line numbers that could not be read (a crash tears at most the last one)."""

    events: list[dict[str, object]]
    torn: tuple[int, ...]


class Journal:
    """Append-only record of what happened in a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def append(self, event: str, **fields: object) -> None:
        """Add one event and return once it is on disk."""
        line = json.dumps({"event": event, "at": datetime.now(UTC).isoformat(), **fields}, separators=(",", ":"))
        with self._lock:
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                # A torn last line must not swallow the record that follows it.
                size = os.fstat(descriptor).st_size
                torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                os.write(descriptor, (b"\n" if torn else b"") + line.encode() + b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def read(self) -> JournalRead:
        """Read every whole record, tolerating torn lines."""
        if not self.path.exists():
            return JournalRead([], ())
        events: list[dict[str, object]] = []
        torn: list[int] = []
        for number, line in enumerate(self.path.read_bytes().split(b"\n"), 1):
            if not line:
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            if isinstance(record, dict) and "event" in record:
                events.append(record)
            else:
                torn.append(number)
        return JournalRead(events, tuple(torn))
