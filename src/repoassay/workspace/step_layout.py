"""What the workspace of a step holds when it begins: what was left by then, and the step's own files laid over it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from repoassay.diffs import apply_patch, read_patch
from repoassay.errors import InfraFault
from repoassay.tasks import TaskFolder, step_files
from repoassay.types import FileEdit

__all__ = ["changes_left", "step_start"]


def changes_left(base: Path, diff: bytes) -> dict[str, FileEdit | None]:
    """The files that a diff of a step changes in a read-only checkout, none where it is empty.

    Raises:
        PatchError: It does not apply.
    """
    return dict(apply_patch(read_patch(diff), base).keep_folders().edits) if diff.strip() else {}


def step_start(step: TaskFolder, base: Path, diff: bytes) -> dict[str, FileEdit | None]:
    """The changed files of the base when a step begins, by path in the base, deletions first.

    Only regular files have crossed into the diff, so that nothing that was left leads the step's files elsewhere;
    what stands in their way is replaced.

    Args:
        step: The step, as `step_folders` gives it.
        base: Read-only checkout of the task's files.
        diff: What the step before it has left; empty for the first.

    Raises:
        PatchError: It does not apply.
        InfraFault: A file of the step lies where the task's own files have a folder.
    """
    edits = changes_left(base, diff)
    for path, file in step_files(step).items():
        if (base / path).is_dir():
            raise InfraFault(
                f"A step of {step.task.id}, {step.step}, has a file where the task has the folder /{path}."
            )
        for above in map(str, PurePosixPath(path).parents):
            if edits.get(above) is not None:
                del edits[above]
            if (base / above).is_file() and above not in edits:
                edits[above] = None
        for below in [name for name in edits if name.startswith(f"{path}/")]:
            del edits[below]
        edits[path] = file
    return dict(sorted(edits.items(), key=lambda item: item[1] is not None))
