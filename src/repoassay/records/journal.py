"""The journal of a run: one JSON object a line, appended and fsynced; a torn last line is expected and reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from repoassay.records.file_prefix import FilePrefix
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

    def append_all(self, events: Iterable[dict[str, object]]) -> None:
        """Add whole events, each with its own time, by one write.

        Raises:
            BadInput: When it cannot be written.
        """
        self._lines.append_all(events)

    def unchanged(self, size: int, lines: int, digest: str) -> FilePrefix | None:
        """The first `size` bytes as read, where they still have this sha256; raises as `read` does."""
        return self._lines.unchanged([(size, lines, digest)])

    def after(self, prefix: FilePrefix) -> Iterator[tuple[int, dict[str, object] | None]]:
        """Read on after what was read; raises as `read` does.

        Yields number and event of each further line, None where it is torn; whole lines are added to the prefix first.
        """
        return self._lines.scan(prefix)

    def read(self) -> JournalRead:
        """Read every whole record, tolerating torn lines.

        Raises:
            BadInput: When it is a link, no regular file, cannot be read, or was written by a newer RepoAssay.
        """
        found = self._lines.read()
        return JournalRead(list(found.items), found.torn)
