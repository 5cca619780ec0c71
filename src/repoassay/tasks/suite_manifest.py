"""What a suite's data must be: `manifest.tsv`, one file a line, and looking whether it is so.

Columns: sha256 and size of the content, and its path in the repository the suite names. A file whose content could not
be had when the manifest was made has `-` for both and the beginning of its git object name instead.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from repoassay.errors import BadInput, BadTask, Problem
from repoassay.tasks import Elsewhere
from repoassay.tasks.contents import read_regular, unreadable
from repoassay.text import printable
from repoassay.types import SuiteData

__all__ = ["MANIFEST", "DataFile", "DataState", "Manifest", "data_folder", "read_manifest"]

MANIFEST = "manifest.tsv"
_MAX_MANIFEST = 16 * 2**20
_CHUNK = 1 << 20


class DataState(StrEnum):
    """State of a data file."""

    RIGHT = "right"
    MISSING = "missing"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file: its path in the repository, and what it must be (`size` is 0 and `sha256` empty where unknown)."""

    path: str
    size: int
    sha256: str
    blob: str = ""

    def state(self, root: Path) -> DataState:
        """Whether the file below `root` is what it must be; links are not followed."""
        place = root / self.path
        try:
            handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return DataState.MISSING
        with os.fdopen(handle, "rb") as stream:
            size = os.fstat(handle).st_size
            if self.sha256 and size != self.size:
                return DataState.CHANGED
            total = hashlib.sha256() if self.sha256 else hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
            while chunk := stream.read(_CHUNK):
                total.update(chunk)
        right = total.hexdigest() == self.sha256 if self.sha256 else total.hexdigest().startswith(self.blob)
        return DataState.RIGHT if right else DataState.CHANGED


@dataclass(frozen=True, slots=True)
class Manifest:
    """Every file of a suite's data, in order of path, and where it belongs."""

    data: SuiteData
    root: Path
    files: tuple[DataFile, ...]

    @property
    def size(self) -> int:
        """Bytes of every file whose size is known."""
        return sum(file.size for file in self.files)

    @property
    def here(self) -> bool:
        """Whether the data was fetched at all."""
        return self.root.is_dir()

    def elsewhere(self, task: str) -> Elsewhere:
        """What the task finds apart from its folder."""
        inputs, truth = (folder.replace("{task}", task) for folder in (self.data.inputs, self.data.truth))
        found = {}
        total = hashlib.sha256()
        for file, name in self._below(inputs, "inputs"):
            found[name] = file.size
            total.update(f"{name} {file.sha256 or file.blob}\n".encode())
        for file, name in self._below(truth, "tests"):
            found[name] = file.size
            total.update(f"{name} {file.sha256 or file.blob}\n".encode())
        return Elsewhere(self.root / inputs, self.root / truth, found, total.hexdigest())

    def of(self, task: str) -> tuple[DataFile, ...]:
        """Files of one task."""
        starts = tuple(folder.replace("{task}", task) + "/" for folder in (self.data.inputs, self.data.truth))
        return tuple(file for file in self.files if file.path.startswith(starts))

    def _below(self, folder: str, called: str) -> Iterator[tuple[DataFile, str]]:
        for file in self.files:
            if file.path.startswith(f"{folder}/"):
                yield file, f"{called}/{file.path.removeprefix(f'{folder}/')}"


def data_folder(suite: str) -> Path:
    """Where a suite's data is kept: `REPOASSAY_DATA`, else `$XDG_DATA_HOME/repoassay`, else `~/.local/share/repoassay`.

    The suite's name is the folder in it.
    """
    value = os.environ.get("REPOASSAY_DATA")
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local/share")
    return (Path(value) if value else Path(base, "repoassay")).absolute() / suite


def read_manifest(folder: Path, name: str, data: SuiteData) -> Manifest:
    """Read the manifest of the suite in `folder`, called `name`.

    Raises:
        BadTask: When it cannot be read.
    """
    try:
        lines = read_regular(folder / MANIFEST, _MAX_MANIFEST).decode().splitlines()
        files = tuple(_file(line, number) for number, line in enumerate(lines, 1) if line and not line.startswith("#"))
    except OSError as error:
        raise BadTask(printable(str(folder), 500), [unreadable(MANIFEST, error)], noun="suite") from error
    except ValueError as error:
        problem = Problem(MANIFEST, "", f"cannot be used: {error}.", "Write sha256, size and path, with tabs between.")
        raise BadTask(printable(str(folder), 500), [problem], noun="suite") from error
    return Manifest(data, data_folder(name), tuple(sorted(files, key=lambda file: file.path)))


def _file(line: str, number: int) -> DataFile:
    fields = line.split("\t")
    if len(fields) != 3:
        raise ValueError(f"line {number} has {len(fields)} fields instead of 3")
    digest, size, path = fields
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\\" in path or str(pure) != path:
        raise ValueError(f"line {number} names a path that leaves its folder")
    if digest.startswith("git:"):
        return DataFile(path, 0, "", digest.removeprefix("git:"))
    if len(digest) != 64 or not size.isdecimal():
        raise ValueError(f"line {number} has no sha256 or no size")
    return DataFile(path, int(size), digest)


def need_data(manifest: Manifest | None, suite: str) -> None:
    """Raise `BadInput` when a suite has data and none of it is on this disk."""
    if manifest and not manifest.here:
        raise BadInput(
            f"The data of the suite {suite} is not here ({manifest.root}).",
            f"Run `repoassay fetch {suite}`, which gets {manifest.size / 1e6:.0f} MB.",
        )
