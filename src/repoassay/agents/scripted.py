"""Agents that are one script each and never read the instruction: they show what must not pass."""

from __future__ import annotations

from pathlib import Path

from repoassay.agents.protocol import scripted
from repoassay.model import Limits
from repoassay.workspace import Command, Layout

__all__ = ["SCRIPTS", "ScriptedAgent"]

SCRIPTS = ("nothing", "copycat", "empty", "garbage", "vandal")
"""Names of the scripts in `scripts/`, which run inside the workspace."""


class ScriptedAgent:
    """Runs `scripts/<name>.py` in the workspace."""

    def __init__(self, name: str) -> None:
        self.name = name

    def command(self, layout: Layout, limits: Limits) -> Command:
        """The command for one task."""
        return scripted(layout, limits, Path(__file__).with_name("scripts") / f"{self.name}.py")
