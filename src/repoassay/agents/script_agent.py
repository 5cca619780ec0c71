"""Agents that are one script each and never read the instruction: they show what must not pass."""

from __future__ import annotations

from pathlib import Path

from repoassay.agents.protocol import AgentKind, script_agent
from repoassay.sandbox import Command
from repoassay.tasks import TaskFolder
from repoassay.types import Limits
from repoassay.workspace import PreparedTask

__all__ = ["ScriptedAgent"]


class ScriptedAgent:
    """Runs `scripts/<name>.py` in the workspace.

    Args:
        name: The script's name.
        title: What the agent is for.
    """

    kind = AgentKind(takes_model=False)

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title

    def needs_workspace(self, folder: TaskFolder) -> bool:
        """Changes and attacks need the repository; files are made up without it."""
        return self.name == "vandal" or folder.task.kind.changes_repository

    def command(self, layout: PreparedTask, limits: Limits) -> Command:
        """The command for one task."""
        script = "garbage" if self.name in ("constant", "noise") else self.name
        return script_agent(layout, limits, Path(__file__).with_name("scripts") / f"{script}.py", fill=self.name)


nothing = ScriptedAgent("nothing", "does nothing; must fail every task")
copycat = ScriptedAgent("copycat", "hands inputs back as outputs; must fail every task")
empty = ScriptedAgent("empty", "leaves every expected file, empty; must fail every task")
garbage = ScriptedAgent("garbage", "leaves valid files with random content; must fail every task")
constant = ScriptedAgent("constant", "leaves valid files of one value, word or tone; must fail every task")
noise = ScriptedAgent("noise", "leaves valid files of noise; must fail every task")
vandal = ScriptedAgent("vandal", "attacks the sandbox and the grader; must fail every task and harm nothing")
