"""A mutant of a solution: all its files, one of them changed once more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from repoassay.types import FileEdit, MutantKind

__all__ = ["Mutant", "Replacement", "line_at"]

_MOST = 160
"""Characters of a line that are told."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """Bytes of a source text that a mutation operator puts in the place of others."""

    kind: MutantKind
    start: int
    end: int
    text: bytes

    def of(self, source: bytes) -> bytes:
        """The source text with it."""
        return source[: self.start] + self.text + source[self.end :]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A solution with one change that its tests should notice.

    Attributes:
        name: The same every time: kind, file, line, and which of several there.
        kind: What was changed.
        path: File in the repository.
        line: First line concerned, in the solution's file.
        was: The text that was there, a line at most; a stranger's.
        now: What stands there instead; empty where it was removed.
        edits: The files of the whole solution, mutated.
    """

    name: str
    kind: MutantKind
    path: str
    line: int
    was: str
    now: str
    edits: Mapping[str, FileEdit | None]


def line_at(source: bytes, start: int) -> str:
    """The line of a source text that holds a place, without its indentation."""
    begin = source.rfind(b"\n", 0, start) + 1
    end = source.find(b"\n", start)
    return source[begin : len(source) if end < 0 else end].decode(errors="replace").strip()[:_MOST]
