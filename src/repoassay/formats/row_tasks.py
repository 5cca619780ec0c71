"""The rows of a data set as tasks: written as folders once, and only read from then on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import repoassay
from repoassay.errors import BadInput
from repoassay.formats.edit_row import EditRow
from repoassay.formats.rows import read_rows
from repoassay.formats.write_task import safe_id, write_task
from repoassay.grading import names
from repoassay.tasks import TaskFolder, read_task

__all__ = ["task_of_row", "tasks_of"]


def tasks_of(dataset: Path, place: Path, mirrors: Mapping[str, Path] | None = None) -> dict[str, TaskFolder]:
    """Tasks of a data set's file by row id, written below `place`; those that are there already are only read.

    Raises:
        BadInput: When the file or a row cannot be used.
    """
    return {row.name: task_of_row(row, place, mirrors) for row in read_rows(dataset)}


def task_of_row(row: EditRow, place: Path, mirrors: Mapping[str, Path] | None) -> TaskFolder:
    """The task of one row; `mirrors` maps a repository's URL to the local path it is taken from instead.

    Raises:
        BadInput: When the row cannot be used.
    """
    places = {url: str(path) for url, path in sorted((mirrors or {}).items())}
    digest = hashlib.sha256(repr((json.dumps(row.to_json()), places, repoassay.__version__)).encode()).hexdigest()[:32]
    made = place / digest / safe_id(row.name)
    if not made.is_dir():
        try:
            write_task(row, made.parent, mirrors=places)
        except BadInput:
            if not made.is_dir():  # else somebody else was faster
                raise
    return read_task(made, metrics=names())
