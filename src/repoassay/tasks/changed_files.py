"""Which task folders files lie in, for programs that know files alone. Imports next to nothing: pytest loads it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["changed_tasks", "is_task_folder", "task_above"]

_OURS = (re.compile(rb"^\s*schema\s*=\s*\d", re.MULTILINE), re.compile(rb"^\s*\[\s*task\s*\]", re.MULTILINE))
"""What a task of ours says, be the rest of the file broken; other tools have a `task.toml` with other keys."""
_MOST_READ = 2**20


def is_task_folder(folder: Path) -> bool:
    """Whether a folder is a task of ours, sound or not."""
    place = folder / "task.toml"
    try:
        if not place.is_file():  # opening a pipe would wait
            return False
        with place.open("rb") as stream:
            text = stream.read(_MOST_READ)
    except (OSError, ValueError):
        return False
    return all(pattern.search(text) for pattern in _OURS)


def task_above(path: Path) -> Path | None:
    """The task folder that a path lies in; None where it lies in none."""
    return next((each for each in path.parents if is_task_folder(each)), None)


def changed_tasks(files: Iterable[Path]) -> list[Path]:
    """The task folders that files lie in, each once; of a `suite.toml` with tasks below the whole suite.

    What belongs to no task is passed over, and so is a task of a suite that is named as a whole.
    """
    suites = {path.parent for path in files if path.name == "suite.toml" and (path.parent / "tasks").is_dir()}
    tasks = {task for path in files if (task := task_above(path)) is not None and task.parent.parent not in suites}
    return sorted(suites | tasks)
