"""Calls written into an agent's text: fenced shell blocks, tags, and search/replace blocks of agents without tools."""

from __future__ import annotations

import re

from repoassay.agents import search_replace_calls
from repoassay.types import StepCall

__all__ = ["embedded_calls"]

_LONGEST = 100_000
_MOST = 50
_FENCE = re.compile(r"^[ \t]{0,8}```[ \t]{0,4}(\w{0,20})[^\n]{0,80}$", re.MULTILINE)
_TAGS = {
    "execute_bash": "bash",
    "execute_ipython": "python",
    "bash": "bash",
    "execute_command": "bash",
}
_SHELLS = frozenset({"bash", "sh", "shell", "console", "zsh"})


def embedded_calls(text: str) -> tuple[StepCall, ...]:
    """The calls in a message, in the order tags, search/replace blocks, fenced blocks; the first sort found counts."""
    text = text[:_LONGEST]
    return (_tagged(text) or search_replace_calls(text) or _fenced(text))[:_MOST]


def _tagged(text: str) -> tuple[StepCall, ...]:
    found: list[StepCall] = []
    for tag, tool in _TAGS.items():
        at = text.find(f"<{tag}>")
        while at >= 0 and len(found) < _MOST:
            begin = at + len(tag) + 2
            end = text.find(f"</{tag}>", begin)
            body = text[begin : end if end >= 0 else len(text)]
            found.append(StepCall(name=tool, arguments={"command" if tool == "bash" else "code": body.strip()}))
            at = text.find(f"<{tag}>", end) if end >= 0 else -1
    return tuple(found)


def _fenced(text: str) -> tuple[StepCall, ...]:
    """Fenced shell blocks, when the message has nothing else fenced: prose that explains commands shows others too."""
    marks = list(_FENCE.finditer(text))[: 2 * _MOST]
    blocks = []
    for opening, closing in zip(marks[::2], marks[1::2], strict=False):
        if opening[1].lower() not in _SHELLS:
            return ()
        blocks.append(text[opening.end() : closing.start()].strip("\n"))
    return tuple(StepCall(name="bash", arguments={"command": block}) for block in blocks if block.strip())
