"""Texts put into files, also as patches say it."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Authored", "from_patch"]

_HEADER = re.compile(r"(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?)(\S.*)")


@dataclass(frozen=True, slots=True)
class Authored:
    """A text the agent put into a file; `path` is empty for a program given on the command line.

    `removed` is what stood there before, as far as the edit says it. `whole` tells a new text from a change.
    """

    path: str
    text: str
    removed: str = ""
    deleted: bool = False


def from_patch(text: str) -> tuple[Authored, ...]:
    """The files of an apply_patch envelope or a unified diff, with the lines added and removed."""
    found: list[Authored] = []
    path, added, removed, deleted = "", list[str](), list[str](), False

    def close() -> None:
        if path:
            found.append(Authored(path[:1000], "\n".join(added), "\n".join(removed), deleted))

    for line in text.split("\n"):
        header = _HEADER.match(line[:1200])
        if header:
            close()
            path, added, removed = header[1].split("\t")[0].strip(), [], []
            deleted = line.startswith("*** Delete")
        elif line.startswith("deleted file mode"):
            deleted = True
        elif line.startswith("+"):
            added.append(line[1:])
        elif line.startswith("-") and not line.startswith("---"):
            removed.append(line[1:])
    close()
    return tuple(found[:500])
