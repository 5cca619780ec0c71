"""Agents that are one script each and never read the instruction: they show what must not pass."""

from __future__ import annotations

from pathlib import Path

from repoassay.agents.protocol import AgentKind, scripted
from repoassay.model import Limits
from repoassay.tasks import TaskFolder
from repoassay.workspace import Command, Layout

__all__ = ["SCRIPTS", "ScriptedAgent"]

SCRIPTS = ("nothing", "copycat", "empty", "garbage", "constant", "noise", "vandal")
"""Names of the scripts in `scripts/`, which run inside the workspace."""


class ScriptedAgent:
    """Runs `scripts/<name>.py` in the workspace."""

    kind = AgentKind(takes_model=False)

    def __init__(self, name: str) -> None:
        self.name = name

    def needs_workspace(self, folder: TaskFolder) -> bool:
        """Changes and attacks need the repository; files are made up without it."""
        return self.name == "vandal" or folder.task.kind.changes_repository

    def command(self, layout: Layout, limits: Limits) -> Command:
        """The command for one task."""
        script = "garbage" if self.name in ("constant", "noise") else self.name
        return scripted(layout, limits, Path(__file__).with_name("scripts") / f"{script}.py", fill=self.name)
