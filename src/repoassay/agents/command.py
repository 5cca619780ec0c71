"""The agent `command`: any command line, run by the shell in the workspace."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from repoassay.agents.protocol import AgentKind, in_workspace
from repoassay.errors import BadInput
from repoassay.sandbox import Command, Mount
from repoassay.tasks import TaskFolder
from repoassay.text import suggest
from repoassay.types import Limits
from repoassay.workspace import PreparedTask

__all__ = ["CommandAgent", "in_shell"]

_NAMES = ("instruction", "instruction_file", "workspace", "agent", "task")
_FILLED = tuple(f"{{{name}}}" for name in _NAMES)
_PLACEHOLDER = re.compile(rf"\{{({'|'.join(_NAMES)})\}}")
_MEANT = re.compile(r"'[^']*'|(?<![${])(?:\{\{?\s*([A-Za-z][\w-]*)\s*\}\}?|\{(" + "|".join(_NAMES) + r")\b)")
"""A word in braces as a placeholder has it; what the shell is told in single quotes is a program's affair."""
_CLOSED = re.compile(r"""(?:[^'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")*""", re.DOTALL)
"""Not possessive: up to Python 3.11.4 a possessive group may end at a wrong place."""


def in_shell(line: str, place: re.Match[str], word: str) -> str:
    """Return a word of the shell so that it is one, and nothing else, within the quotes around a placeholder as well.

    Raises:
        BadInput: A second shell would read the word, or it stands where quotes cannot be told.
    """
    quote = _quote(line[: place.start()])
    if quote == "'" and not line[place.start() - 1] == line[place.end() : place.end() + 1] == quote:
        raise BadInput(
            f"The command line has {place[0]} among other words in single quotes, where a shell would run it.",
            "Put it outside of them, or use {instruction_file}.",
        )
    if quote == "`":
        raise BadInput(
            f"The command line has {place[0]} in a command substitution, whose quotes are not told apart.",
            "Put it outside of that, or use {instruction_file}.",
        )
    return f"{quote}{word}{quote}"


def _quote(before: str) -> str:
    """The quote that is open behind a piece of a command line; "`" where that cannot be told."""
    inner = before.rpartition("$(")[2]  # in a substitution quotes begin anew
    if inner != before and ")" in inner:
        inner = before
    if before.count("`") % 2 or (inner == before and before.count("$(") > before.count(")")):
        return "`"
    closed = _CLOSED.match(inner)
    return inner[closed.end() :][:1] if closed else ""


class CommandAgent:
    """Runs a command line with the shell, standing in /workspace.

    `{instruction}` (quoted for the shell), `{instruction_file}`, `{workspace}`, `{task}` (its id) and `{agent}` are
    filled in; the last is the folder given with the command, mounted read-only.
    """

    name = "command"
    kind = AgentKind(options=("command", "folder", "folder_sha256"))
    title = "any command line of yours, given with --agent-command"

    def __init__(self, line: str, folder: Path | None = None) -> None:
        if folder is not None and not folder.is_dir():
            raise BadInput(f"The agent's folder {folder} is not a folder.", "Check --agent-dir.")
        for found in _MEANT.finditer(line):
            word = found[1] or found[2]
            if word and found[0] not in _FILLED:
                known = ", ".join(_FILLED)
                meant = suggest(word.lower(), _NAMES, list_known=False)
                raise BadInput(
                    f"The command line has the unknown placeholder {found[0]}.",
                    f"{meant} Known are {known}; put other braces into single quotes.".strip(),
                )
        if "{agent}" in line and folder is None:
            raise BadInput("The command line uses {agent}, but no folder was given.", "Add --agent-dir FOLDER.")
        self._line, self._folder = line, folder
        self._fill({"instruction": ""})

    @classmethod
    def from_settings(cls, settings: Mapping[str, str]) -> CommandAgent:
        """Make it of the settings `command` and `folder`.

        Raises:
            BadInput: When there is no command line.
        """
        if not settings.get("command"):
            raise BadInput("The agent `command` needs a command line.", "Give it with --agent-command.")
        folder = settings.get("folder")
        return cls(settings["command"], Path(folder) if folder else None)

    def needs_workspace(self, folder: TaskFolder) -> bool:
        """Always: nobody knows what the command line looks at."""
        return True

    def command(self, layout: PreparedTask, limits: Limits) -> Command:
        """The command line for one task."""
        values = {
            "instruction": shlex.quote(layout.folder.instruction),
            "instruction_file": layout.instruction,
            "workspace": layout.work,
            "agent": "/agent",
            "task": shlex.quote(layout.folder.task.id),
        }
        mounts = (Mount(self._folder, "/agent"),) if self._folder else ()
        return in_workspace(layout, limits, ("/bin/sh", "-c", self._fill(values)), mounts=mounts)

    def _fill(self, values: Mapping[str, str]) -> str:
        def fill(place: re.Match[str]) -> str:
            value = values.get(place[1], "")
            return in_shell(self._line, place, value) if place[1] == "instruction" else value

        return _PLACEHOLDER.sub(fill, self._line)
