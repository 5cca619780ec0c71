"""What an agent printed: the end of an attempt's log, read as the hostile file it is, and its last lines."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from repoassay.agents import last_lines
from repoassay.text import one_line

__all__ = ["LOG_TAIL", "Tail", "log_tail", "printed_last"]

LOG_TAIL = 20_000
"""Bytes of a log that are shown."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The last part of a log, and how many bytes of how many it is."""

    text: str
    shown: int
    size: int


def log_tail(folder: Path, most: int = LOG_TAIL) -> Tail | None:
    """The end of `folder/log.txt`; None where there is none, or it is not a plain file in a plain folder."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.ExitStack() as stack:
        try:
            place = os.open(folder, flags | os.O_DIRECTORY)
            stack.callback(os.close, place)
            descriptor = os.open("log.txt", flags, dir_fd=place)
            stack.callback(os.close, descriptor)
        except OSError:
            return None
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            return None
        content = os.pread(descriptor, most, max(0, facts.st_size - most))
    # A cut may fall inside a character.
    return Tail(content.decode("utf-8", "replace"), len(content), facts.st_size)


def printed_last(folder: Path, width: int, most: int = 6) -> Iterator[str]:
    """The last lines that an attempt's agent printed, after where all of it is; nothing where it printed nothing."""
    tail = log_tail(folder)
    lines = last_lines(tail.text, most) if tail is not None else ()
    if lines:
        yield f"The agent printed last (all of it: {one_line(str(folder / 'log.txt'), 400)}):"
        yield from (f"  {one_line(line, width)}" for line in lines)
