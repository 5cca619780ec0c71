"""What `codex exec` prints for people: parts that begin with a line of their own, `exec`, `thinking`, `file update`.

The log marks no end of what a command printed, so a line of that which is one of these words begins a part as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from repoassay.agents.transcripts.building import Building
from repoassay.types import Source, StepCall

__all__ = ["is_codex_log", "read_codex_log"]

_FIRST = "OpenAI Codex v"
_PARTS = frozenset({"user", "thinking", "codex", "exec", "file update", "file update:", "plan update", "tokens used"})
_ENDED = re.compile(r"^(?P<command>.*) in (?P<place>/\S*) (?:succeeded|exited (?P<code>-?\d+)) in \S+:$", re.DOTALL)
_SHELL = re.compile(r"(?:\S*/)?(?:bash|sh|zsh) -l?c (?P<quote>['\"]?)(?P<command>.*)(?P=quote)", re.DOTALL)
_PATCHED = re.compile(r"^apply_patch\(.*\) exited (-?\d+) in \S+:$")
_MARKS = {"A": "Add", "M": "Update", "D": "Delete"}
_MOST_LINES = 400
"""Lines that a command may have; one that goes on for longer has lost its end."""


def is_codex_log(text: str) -> bool:
    """Whether a text begins as such a log."""
    return text.lstrip().startswith(_FIRST)


def read_codex_log(text: str, building: Building) -> None:
    """Add what a log tells: version, model, steps; it tells no tokens but their sum, which has no place."""
    head, *_ = text.partition("\nuser\n")
    building.version = text.lstrip().removeprefix(_FIRST).split(maxsplit=1)[0]
    for line in head.split("\n"):
        name, _, value = line.partition(": ")
        if name == "model":
            building.model = building.model or value.strip()
        elif name == "session id":
            building.session = building.session or value.strip()
    reasoning, number = "", 0
    for number, (part, lines) in enumerate(_parts(text), 1):
        body = "\n".join(lines).strip()
        if part == "thinking":
            reasoning = f"{reasoning}\n{body}".strip()
        elif part == "user":
            building.step(Source.USER, body)
        elif part == "codex":
            building.step(Source.AGENT, body, reasoning=reasoning)
            reasoning = ""
        elif part in ("exec", "file update"):
            (_command if part == "exec" else _edit)(lines, reasoning, f"call-{number}", building)
            reasoning = ""
        elif part == "tokens used":
            building.note = f"it tells {body.split(chr(10))[0][:40]} tokens in all, and no dollars"
    building.ending = "completed" if "tokens used" in text[-200:] else ""


def _parts(text: str) -> Iterator[tuple[str, list[str]]]:
    part, lines = "", list[str]()
    for line in text.split("\n"):
        if line in _PARTS:
            if part:
                yield part, lines
            part, lines = line, []
        elif part:
            lines.append(line)
    if part:
        yield part, lines


def _command(lines: list[str], reasoning: str, key: str, building: Building) -> None:
    for end in range(1, min(len(lines), _MOST_LINES) + 1):
        if " in /" not in lines[end - 1]:
            continue
        if ended := _ENDED.match("\n".join(lines[:end])):
            call = StepCall(id=key, name="shell", arguments={"command": _plain(ended["command"])})
            building.step(Source.AGENT, reasoning=reasoning, calls=[call])
            building.observe(key, "\n".join(lines[end:]), failed=ended["code"] not in (None, "0"))
            return
    call = StepCall(id=key, name="shell", arguments={"command": _plain("\n".join(lines[:1]))})
    building.step(Source.AGENT, reasoning=reasoning, calls=[call])


def _plain(command: str) -> str:
    """The command line that the shell was given."""
    found = _SHELL.fullmatch(command.strip())
    return found["command"] if found else command.strip()


def _edit(lines: list[str], reasoning: str, key: str, building: Building) -> None:
    """An edit as the tool takes it; the whole diff that follows each, `file update:`, is passed over."""
    patch, answer, code = ["*** Begin Patch"], list[str](), ""
    for number, line in enumerate(lines):
        if done := _PATCHED.match(line):
            answer, code = lines[number + 1 :], done[1]
            break
        mark, _, path = line.partition(" ")
        patch.append(f"*** {_MARKS[mark]} File: {path}" if mark in _MARKS and path.startswith("/") else line)
    call = StepCall(id=key, name="apply_patch", arguments={"input": "\n".join([*patch, "*** End Patch"])})
    building.step(Source.AGENT, reasoning=reasoning, calls=[call])
    building.observe(key, "\n".join(answer), failed=code not in ("", "0"))
