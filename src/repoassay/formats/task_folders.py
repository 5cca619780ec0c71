"""Records of folders, one a task: `task.yaml`, `tests.json`, `gold.patch` and `test.patch`.

So some data sets are published in place of rows. YAML is read by the package that the extra `datasets` brings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from repoassay.errors import BadInput, MissingExtra, Problem
from repoassay.formats.json_records import MAX_LINE, parse_json
from repoassay.formats.record_problems import PlacedRecord, Problems, kind_of
from repoassay.records import load_yaml
from repoassay.tasks import read_regular
from repoassay.text import printable, quote

__all__ = ["is_folder", "read_task_folders"]

_HEAD = "task.yaml"
_TEXTS = {
    "patch": ("gold.patch",),
    "test_patch": ("test.patch",),
    "problem_statement": ("problem_statement.md", "instruction.md"),
}
"""Key of a record -> files that hold its text where the head does not."""
_MAX_HEAD = 4 * 2**20
_MAX_FOLDERS = 200_000


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; one that no file can have is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name too long, or with a NUL
        return False


def read_task_folders(folder: Path, problems: Problems) -> Iterator[PlacedRecord]:
    """Yield a record of each task folder in `folder`, in `folder/tasks`, or of `folder` itself.

    Args:
        folder: Where they lie.
        problems: Where folders that cannot be read are told.

    Raises:
        BadInput: When there are none.
        MissingExtra: Without a reader of YAML.
    """
    try:
        import_module("yaml")
    except ImportError as error:
        raise MissingExtra("yaml", "datasets") from error
    found = _folders(folder)
    if not found:
        raise BadInput(f"{quote(folder)} holds no folder with {_HEAD}.", "Name a file of rows, or a folder of tasks.")
    for place in found:
        try:
            yield PlacedRecord(printable(place.name), None, _record(place))
        except (OSError, ValueError) as error:
            reason = printable(" ".join(str(error).split()), 200)
            problems.add(Problem(printable(place.name), "", f"cannot be read: {reason}.", "Write it anew."))


def _folders(folder: Path) -> list[Path]:
    if (folder / _HEAD).is_file():
        return [folder]
    top = folder / "tasks" if (folder / "tasks").is_dir() else folder
    with os.scandir(top) as entries:
        names = [entry.name for _, entry in zip(range(_MAX_FOLDERS), entries, strict=False) if entry.is_dir()]
    return [top / name for name in sorted(names) if (top / name / _HEAD).is_file()]


def _record(place: Path) -> dict[str, object]:
    head = load_yaml(read_regular(place / _HEAD, _MAX_HEAD).decode())
    if not isinstance(head, dict):
        raise ValueError(f"{_HEAD} is {kind_of(head)}")  # noqa: TRY004 - the file is wrong, not our caller
    record: dict[str, object] = {"instance_id": place.name, **head}
    if (place / "tests.json").is_file():
        tests = parse_json(read_regular(place / "tests.json", MAX_LINE))
        if not isinstance(tests, dict):
            raise ValueError(f"tests.json is {kind_of(tests)}")
        record |= tests
    for key, names in _TEXTS.items():
        for name in names:
            if key not in record and (place / name).is_file():
                record[key] = read_regular(place / name, MAX_LINE).decode()
    return record
