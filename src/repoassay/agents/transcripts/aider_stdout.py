"""What Aider's commands printed: its chat history tells that they ran, its standard output what came of it."""

from __future__ import annotations

import re

__all__ = ["CommandOutputs"]

_MOST_COMMANDS = 2000
_MOST_PLACES = 5000
_ENDS = re.compile(r"Added \d{1,9} lines? of output to the chat\.\s*|Tokens: .{1,60} sent, .{1,60} received\..*")


class CommandOutputs:
    """The outputs, asked for in the order in which the commands ran.

    Aider prints `Running COMMAND`, wrapped to the terminal's width, and below it whatever the command prints.
    """

    def __init__(self, text: str, commands: list[str]) -> None:
        self._lines = text.split("\n")
        starts = [at for at, line in enumerate(self._lines) if line.startswith("Running ")][:_MOST_PLACES]
        self._places = [found for command in commands[:_MOST_COMMANDS] for found in [self._printed(command, starts)]]
        self._next = 0

    def next(self) -> str | None:
        """What the next command printed, None where its start was not printed."""
        if self._next >= len(self._places):
            return None
        place = self._places[self._next]
        self._next += 1
        if place is None:
            return None
        later = (found[0] for found in self._places[self._next :] if found is not None)
        output: list[str] = []
        for line in self._lines[place[1] : next(later, len(self._lines))]:
            if _ENDS.fullmatch(line[:200]):
                break
            output.append(line)
        return "\n".join(output).strip("\n")

    def _printed(self, command: str, starts: list[int]) -> tuple[int, int] | None:
        """Where `Running COMMAND` begins and the line behind it; what lies before is not looked at again."""
        wanted = _squeezed(f"Running {command}")
        for number, start in enumerate(starts):
            read, at = "", start
            while at < len(self._lines) and len(read) < len(wanted):
                read += _squeezed(self._lines[at])
                at += 1
                if not wanted.startswith(read):
                    break
            if read == wanted:
                del starts[: number + 1]
                return start, at
        return None


def _squeezed(text: str) -> str:
    return "".join(text.split())
