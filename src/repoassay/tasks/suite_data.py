"""Taking a suite's data from a folder that has it: each file copied, checked, and only then given its name."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from repoassay.errors import BadInput
from repoassay.tasks.suite_manifest import DataFile, DataState, Manifest
from repoassay.text import printable

__all__ = ["take_data"]


def take_data(
    manifest: Manifest, source: Path, done: Callable[[DataFile, DataState], None] = lambda file, state: None
) -> dict[DataState, list[DataFile]]:
    """Copy what is not here yet from `source` into the suite's data folder; return every file by what became of it.

    What is here and right is kept, so that an interrupted call goes on where it was. What is not what it must be is
    never copied. `done` is called for each file when it is done.

    Raises:
        BadInput: When `source` holds none of the files, or the data folder cannot be written.
    """
    start = _start(manifest, source)
    found: dict[DataState, list[DataFile]] = {state: [] for state in DataState}
    for file in manifest.files:
        state = file.state(manifest.root)
        if state is not DataState.RIGHT:
            state = _take(file, start, manifest.root)
        found[state].append(file)
        done(file, state)
    return found


def _start(manifest: Manifest, source: Path) -> Path:
    """The folder the manifest's paths begin at: `source`, or its folder `data`."""
    for start in (source, source / "data"):
        if any((start / file.path).is_file() for file in manifest.files):
            return start
    first = manifest.files[0].path if manifest.files else ""
    raise BadInput(
        f"{printable(str(source), 500)} holds no file of the suite's data, such as {first}.",
        f"Give the folder in which {first.partition('/')[0]}/ lies.",
    )


def _take(file: DataFile, start: Path, root: Path) -> DataState:
    state = file.state(start)
    if state is not DataState.RIGHT:
        return state
    target = root / file.path
    part = target.with_name(f".{hashlib.sha256(target.name.encode()).hexdigest()[:16]}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(start / file.path, part, follow_symlinks=False)
        part.chmod(0o644)
        if (
            DataFile(part.relative_to(root).as_posix(), file.size, file.sha256, file.blob).state(root)
            is DataState.RIGHT
        ):
            os.replace(part, target)  # noqa: PTH105 - in one step, so that a file that is here is whole
            return DataState.RIGHT
        part.unlink()
    except OSError as error:
        raise BadInput(
            f"The data folder {root} cannot be written: {error.strerror}.",
            "Set REPOASSAY_DATA to one you may write to.",
        ) from error
    return DataState.CHANGED
