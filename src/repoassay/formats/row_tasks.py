"""The rows of a data set as tasks: written as folders once, and only read from then on."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import BadInput, Unavailable
from repoassay.formats.edit_row import EditRow
from repoassay.formats.row_supplies import RowSupplies
from repoassay.formats.rows import read_rows, sort_rows
from repoassay.formats.write_task import UnusableRow, safe_id, write_task
from repoassay.grading import names
from repoassay.tasks import TaskFolder, read_task
from repoassay.text import quote

__all__ = ["RowTasks", "task_of_row", "tasks_of", "usable_tasks"]


@dataclass(frozen=True, slots=True)
class RowTasks:
    """Tasks of a data set by row id, why its other rows are none, and where repositories lie that a suite bundles."""

    tasks: Mapping[str, TaskFolder]
    refused: Mapping[str, str]
    repositories: Path | None = None


def tasks_of(dataset: Path, place: Path, mirrors: Mapping[str, Path] | None = None) -> dict[str, TaskFolder]:
    """Tasks of a data set's file by row id, written below `place`; those that are there already are only read.

    Raises:
        BadInput: When the file or a row cannot be used.
    """
    return {row.name: task_of_row(row, place, mirrors) for row in read_rows(dataset)}


def usable_tasks(dataset: Path, place: Path, supplies: RowSupplies) -> RowTasks:
    """Like `tasks_of`, of the rows that can be tasks; the others are refused one by one.

    Raises:
        BadInput: When the file cannot be read, or none of its rows can be used.
    """
    rows, bad = sort_rows(dataset)
    places = {url: Path(path) for url, path in supplies.places(rows).items()}
    tasks: dict[str, TaskFolder] = {}
    refused = {row.name: row.reason for row in bad}
    for row in rows:
        try:
            tasks[row.name] = task_of_row(supplies.supplied(row), place, places)
        except UnusableRow as error:
            refused[row.name] = error.reason
        except (BadInput, Unavailable) as error:
            refused[row.name] = str(error)
    if not tasks:
        name, reason = next(iter(refused.items()))
        raise BadInput(f"None of the {len(refused)} rows of {quote(dataset)} can be made a task; {name}: {reason}")
    return RowTasks(tasks, refused)


def task_of_row(row: EditRow, place: Path, mirrors: Mapping[str, Path] | None) -> TaskFolder:
    """The task of one row; `mirrors` maps a repository's URL to the local path it is taken from instead.

    Raises:
        BadInput: When the row cannot be used.
    """
    places = {url: str(path) for url, path in sorted((mirrors or {}).items())}
    identity = repr((json.dumps(row.to_json()), places, _rules_of(type(row))))
    digest = hashlib.sha256(identity.encode()).hexdigest()[:32]
    folder = place / digest / safe_id(row.name)
    if not folder.is_dir():
        try:
            write_task(row, folder.parent, mirrors=places)
        except BadInput:
            if not folder.is_dir():  # else somebody else was faster
                raise
    return read_task(folder, metrics=names())


@functools.cache
def _rules_of(kind: type) -> str:
    """A digest of the code that makes tasks of rows of a class: this room, and the class's module with its package."""
    own = Path(inspect.getfile(kind))
    files = [*Path(__file__).parent.rglob("*.py"), *(own.parent.rglob("*.py") if "." in kind.__module__ else [own])]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in sorted(files))).hexdigest()
