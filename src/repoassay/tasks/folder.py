"""A task folder that was read and found sound."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repoassay.model import Task

__all__ = ["TaskFolder"]


@dataclass(frozen=True, slots=True)
class TaskFolder:
    """A task with the folder it came from.

    ::

        task.toml        what this class calls `task`
        instruction.md   what the agent is told
        inputs/          what the agent is given
        environment/     hash-pinned requirements
        tests/           hidden: tests and ground truth
        solution/        hidden: solve.py (deliverable) or changes.diff (edit)

    `digest` is the sha256 over every file of the folder; it is the task's identity.
    """

    path: Path
    task: Task
    instruction: str
    digest: str

    @property
    def inputs(self) -> Path:
        """Folder of what the agent is given."""
        return self.path / "inputs"

    @property
    def tests(self) -> Path:
        """Hidden folder of tests and ground truth."""
        return self.path / "tests"

    @property
    def solution(self) -> Path:
        """Hidden folder of the reference solution."""
        return self.path / "solution"
