"""The journal of an attempt's model calls, `usage.jsonl`, read back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repoassay.records.lines import JsonLines, record_codec
from repoassay.types import Call

__all__ = ["CallsRead", "read_calls"]


@dataclass(frozen=True, slots=True)
class CallsRead:
    """Whole records in order, and the numbers of the lines that could not be read."""

    calls: tuple[Call, ...]
    torn: tuple[int, ...]


def read_calls(path: Path) -> CallsRead:
    """Read a journal, leaving out lines that are torn or not calls. A missing file is an empty journal.

    Raises:
        BadInput: When it is a link, no regular file, cannot be read, or was written by a newer RepoAssay.
    """
    found = JsonLines(path, record_codec(Call)).read()
    return CallsRead(found.items, found.torn)
