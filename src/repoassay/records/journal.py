"""The journal of a run: one JSON object a line, appended and fsynced; a torn last line is expected and reported."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from repoassay.records.lines import OBJECTS, Codec, JsonLines

__all__ = ["Journal", "JournalRead"]


@dataclass(frozen=True, slots=True)
class JournalRead:
    """Whole records in order, and the line numbers that could not be read (a crash tears at most the last one)."""

    events: list[dict[str, object]]
    torn: tuple[int, ...]


def _read_event(line: bytes) -> dict[str, object]:
    event = OBJECTS.read(line)
    if "event" not in event:
        raise ValueError("has no event")
    return event


_EVENTS: Codec[dict[str, object]] = Codec(_read_event, OBJECTS.write)


class Journal:
    """Append-only record of what happened in a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = JsonLines(path, _EVENTS)

    def append(self, event: str, **fields: object) -> None:
        """Add one event and return once it is on disk.

        Raises:
            BadInput: When it cannot be written.
        """
        self._lines.append({"event": event, "at": datetime.now(UTC).isoformat(), **fields})

    def read(self) -> JournalRead:
        """Read every whole record, tolerating torn lines.

        Raises:
            BadInput: When it is a link, no regular file, cannot be read, or was written by a newer RepoAssay.
        """
        found = self._lines.read()
        return JournalRead(list(found.items), found.torn)
