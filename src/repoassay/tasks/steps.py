"""The steps of a state task as state tasks by themselves, and what lies in the task's folder for each::

steps/NAME/instruction.md   what the agent is told
steps/NAME/files/           laid over what the step before has left, at their absolute paths
steps/NAME/setup.sh         run then, where the agent will stand
steps/NAME/tests/           hidden
steps/NAME/solution/        hidden: solve.sh, and changes.diff, which is all that changed since the first step began
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from repoassay.errors import BadInput, Problem
from repoassay.tasks.contents import Contents, read_regular
from repoassay.tasks.folder import STEPS, TaskFolder, step_place
from repoassay.text import printable, quote
from repoassay.types import FileEdit, Task, TaskStep

__all__ = ["SETUP", "joined_instructions", "refuse_steps", "step_files", "step_folders", "step_problems"]

SETUP = "setup.sh"
_MOST_BYTES = 64 * 2**20
_PARTS = frozenset({"instruction.md", "files", SETUP, "tests", "solution"})


def step_folders(folder: TaskFolder) -> list[TaskFolder]:
    """Each step of a task as the task that it is by itself, in order; none of a task without.

    Raises:
        OSError: An instruction is not there any more.
    """
    return [
        replace(
            folder,
            task=folder.task.of_step(step),
            instruction=read_regular(step_place(folder.path, step.name) / "instruction.md", _MOST_BYTES).decode(),
            digest=hashlib.sha256(f"{folder.digest} {step.name}".encode()).hexdigest(),
            step=step.name,
        )
        for step in folder.task.steps
    ]


def step_files(step: TaskFolder) -> dict[str, FileEdit]:
    """What is laid over the workspace when a step begins, by path below the root folder."""
    top = step_place(step.path, step.step) / "files"
    return {
        path.relative_to(top).as_posix(): FileEdit(path.read_bytes(), bool(path.stat().st_mode & 0o100))
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }


def joined_instructions(task: Task, texts: Collection[str]) -> str:
    """What all steps ask for together, which no agent is ever told at once."""
    several = len(task.steps)
    titles = (f"# Step {number} of {several}: {step.name}" for number, step in enumerate(task.steps, 1))
    return "\n\n".join(f"{title}\n\n{text.strip()}" for title, text in zip(titles, texts, strict=True)) + "\n"


def refuse_steps(folder: TaskFolder, what: str) -> None:
    """Raise `BadInput` for a task of several steps, where `what` has but one submission."""
    if folder.task.steps:
        several = f"The task {printable(folder.task.id)} has {len(folder.task.steps)} steps"
        raise BadInput(f"{several}, and {what} knows tasks of one alone.", "Make attempts at it with repoassay run.")


def step_problems(task: Task, contents: Contents) -> Iterator[Problem]:
    """What lies in the folder and belongs to no step, or outside of the places that cross.

    The tests of a step, its instruction and its solution are held against the folder as those of any task are.
    """
    names = {step.name for step in task.steps}
    if names and PurePosixPath(task.repository.source.removeprefix("folder:")).parts[:1] == (STEPS,):
        yield Problem("task.toml", "repository.source", "names what agents must not see.", "Put it in another folder.")
    for path in sorted(contents.files) if names else ():
        parts = PurePosixPath(path).parts
        if parts[0] in ("tests", "solution", "instruction.md"):
            yield Problem(printable(path), "", "belongs to no step.", f"Put it below {STEPS}/NAME/, or remove it.")
        elif parts[0] == STEPS and (len(parts) < 3 or parts[1] not in names or parts[2] not in _PARTS):
            what = "is no part of a step that task.toml names."
            yield Problem(printable(path), "", what, "Name the step in task.toml, or remove the file.")
    places = [PurePosixPath(place) for place in task.state.places] if task.state else []
    for step in task.steps:
        yield from _misplaced(step, places, contents)


def _misplaced(step: TaskStep, places: Collection[PurePosixPath], contents: Contents) -> Iterator[Problem]:
    for path in contents.below(f"{STEPS}/{step.name}/files"):
        if not any(PurePosixPath("/", path).is_relative_to(place) for place in places):
            what = f"lies in none of the task's places as {quote(f'/{path}')}."
            yield Problem(printable(f"{STEPS}/{step.name}/files/{path}"), "", what, "Add its folder to [state] places.")
