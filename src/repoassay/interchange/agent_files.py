"""Runs that agents wrote by themselves, as their batch runners lay them out: a folder with a file or folder a task."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from repoassay.agents import read_transcript
from repoassay.errors import BadInput
from repoassay.sandbox import temporary_folder
from repoassay.text import printable
from repoassay.types import Trajectory

__all__ = ["json_object", "json_value", "plain_files", "steps_of", "text_lines", "trajectory_from"]

_MOST_FILES = 200_000
_MOST_FILE = 64 * 2**20


def plain_files(source: Path, suffix: str) -> Iterator[Path]:
    """Regular files below a folder whose name ends so, in order; or the file itself. Links are passed over.

    Raises:
        BadInput: There are more than 200,000.
    """
    if source.is_file():
        if source.name.endswith(suffix):
            yield source
        return
    for number, path in enumerate(_walk(source, suffix)):
        if number >= _MOST_FILES:
            raise BadInput(f"{source} holds more than {_MOST_FILES:,} files.", "Split it.")
        yield path


def _walk(folder: Path, suffix: str) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise BadInput(f"{printable(str(folder), 500)} cannot be read: {error.strerror}.") from error
    for path in entries:
        if path.is_symlink():
            continue
        if path.is_dir():
            yield from _walk(path, suffix)
        elif path.name.endswith(suffix) and path.is_file():
            yield path


def text_lines(path: Path) -> Iterator[str]:
    """Lines of a text file that hold something, of at most 64 MiB each; a longer one is passed over."""
    with path.open("rb") as stream:
        while line := stream.readline(_MOST_FILE + 1):
            if len(line) <= _MOST_FILE and line.strip():
                yield line.decode("utf-8", "replace")


def json_object(path: Path) -> dict[str, Any]:
    """The object that a file of at most 64 MiB holds; empty where it holds none."""
    found = json_value(path)
    return found if isinstance(found, dict) else {}


def json_value(path: Path) -> Any:
    """What a JSON file of at most 64 MiB holds; None where it cannot be read."""
    try:
        return None if path.is_symlink() or path.stat().st_size > _MOST_FILE else json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def trajectory_from(parser: str, files: Mapping[str, Path], *, agent: str, model: str = "") -> Trajectory:
    """Read an agent's own files by the reader of its transcripts; never fails on their content.

    Args:
        parser: A name among the entry points `repoassay.readers`.
        files: The files, by the path the reader looks for in a transcript's folder.
        agent: The agent's name. `model`: the model's, when the files do not tell.
    """
    with temporary_folder("import") as place:
        for name, origin in files.items():
            target = Path(place, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            if origin.stat().st_size <= _MOST_FILE:
                shutil.copyfile(origin, target, follow_symlinks=False)
        return read_transcript(parser, Path(place), agent=agent, model=model)


def steps_of(trajectory: Trajectory) -> tuple[datetime | None, datetime | None]:
    """When the first and the last step were recorded; None where no step has a time."""
    times = [step.time for step in trajectory.steps if step.time is not None]
    return (min(times), max(times)) if times else (None, None)
