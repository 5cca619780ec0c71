"""A task folder that was read and found sound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repoassay.types import Task

__all__ = ["STEPS", "Elsewhere", "TaskFolder", "step_place"]

STEPS = "steps"
"""Folder of the steps of a state task, each in one called by its name."""


def step_place(top: Path, step: str) -> Path:
    """Where a task's folder, a submission, or an attempt's folder holds what is of one step."""
    return top / STEPS / step


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Inputs and ground truth of a task whose suite keeps them apart from its task folders.

    `files` says what must be there: path as in a task folder (`inputs/NAME`, `tests/NAME`) -> size in bytes, 0 where
    unknown. `digest` is a sha256 over their names and contents as the suite states them.
    """

    inputs: Path
    tests: Path
    files: Mapping[str, int]
    digest: str

    @property
    def absent(self) -> tuple[str, ...]:
        """Files that are not on this disk, by path as in a task folder."""
        places = {"inputs": self.inputs, "tests": self.tests}
        split = ((name, *name.split("/", 1)) for name in sorted(self.files))
        return tuple(name for name, folder, inner in split if not (places[folder] / inner).is_file())


@dataclass(frozen=True, slots=True)
class TaskFolder:
    """A task with the folder it came from.

    ::

        task.toml        what this class calls `task`
        instruction.md   the instruction for the agent; the issue of a pull-request task
        contributing.md  what a contribution must keep to, where task.toml names it (pull-request tasks)
        inputs/          what the agent is given
        environment/     hash-pinned requirements
        tests/           hidden: tests and ground truth
        solution/        hidden: solve.py or make.py (deliverable), changes.diff (edit), and beside that
                         description.md (pull request)

    `step` is set in what `step_folders` makes of a task's steps, whose tests and solutions lie in folders of their own.
    `digest` is the sha256 over every file of the folder (and what lies elsewhere); it is the task's identity.
    """

    path: Path
    task: Task
    instruction: str
    digest: str
    elsewhere: Elsewhere | None = None
    step: str = ""

    @property
    def inputs(self) -> Path:
        """Folder of what the agent is given."""
        return self.elsewhere.inputs if self.elsewhere else self.path / "inputs"

    @property
    def tests(self) -> Path:
        """Hidden folder of tests and ground truth."""
        return self.elsewhere.tests if self.elsewhere else self._own / "tests"

    @property
    def absent(self) -> tuple[str, ...]:
        """Inputs and ground truth that the suite names and this disk lacks."""
        return self.elsewhere.absent if self.elsewhere else ()

    @property
    def solution(self) -> Path:
        """Hidden folder of the reference solution."""
        return self._own / "solution"

    @property
    def _own(self) -> Path:
        return step_place(self.path, self.step) if self.step else self.path
