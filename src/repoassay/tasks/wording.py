"""Making text from hostile files fit to print: no control characters, no lone surrogates, no endless lines."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

__all__ = ["did_you_mean", "listed", "nearest", "quoted", "shown", "shown_text"]

_MOST_COMPARED = 500
"""Names compared for a suggestion; comparing is slow, and a hostile folder may hold a hundred thousand."""


def shown(text: str, limit: int = 120) -> str:
    """Return text as one printable line of at most `limit` characters; what cannot be printed is escaped."""
    line = "".join(_escaped(letter) for letter in text[: limit + 1])
    return line if len(line) <= limit else line[: limit - 3] + "..."


def shown_text(text: str) -> str:
    """Return text of several lines with everything escaped that a terminal could take for a command."""
    return "".join(letter if letter in "\n\t" else _escaped(letter) for letter in text)


def quoted(text: object) -> str:
    """Return text in quotes, fit to print."""
    return f"'{shown(str(text), 80)}'"


def listed(names: Iterable[str], most: int = 20) -> str:
    """Return names as `a, b and 3 more`."""
    every = [shown(name, 80) for name in names]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a sentence that suggests the nearest known name, else lists what is known."""
    every = sorted(known)
    return nearest(name, every) or (f"Known are {listed(every)}." if 0 < len(every) <= _MOST_COMPARED else "")


def nearest(name: str, known: Sequence[str]) -> str:
    """Return a sentence that suggests the nearest known name; empty when none is near."""
    found = difflib.get_close_matches(name[:200], known, n=1) if len(known) <= _MOST_COMPARED else []
    return f"Did you mean {shown(found[0], 80)}?" if found else ""


def _escaped(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()
