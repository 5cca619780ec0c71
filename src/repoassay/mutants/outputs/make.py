"""Having mutants made of a task's right outputs, in a sandbox, and laid out as submissions."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from repoassay.errors import InfraFault
from repoassay.grading import run_sandboxed
from repoassay.mutants.outputs.mutant import MadeMutant
from repoassay.sandbox import ExportSpec, Mount, Sandbox
from repoassay.tasks import TaskFolder
from repoassay.types import Limits, Record

__all__ = ["LIMITS", "make_mutants"]

LIMITS = Limits(seconds=900, memory=6 * 2**30, disk=4 * 2**30, processes=64, output=2**20)
"""What making the mutants of one task may take: a video of 300 frames is held twice."""


class _Index(Record):
    mutants: tuple[MadeMutant, ...]
    left_out: int


def make_mutants(
    folder: TaskFolder, outputs: Path, into: Path, sandbox: Sandbox, most: int
) -> tuple[Sequence[MadeMutant], int]:  # fmt: skip
    """Make at most `most` wrong mutants and every right variant below `into`, a whole submission each.

    Returns:
        The mutants, and how many more could have been made.

    Raises:
        InfraFault: They could not be made.
    """
    files = sorted(path for path in outputs.rglob("*") if path.is_file() and not path.is_symlink())
    request = {
        "outputs": "/job/outputs", "inputs": "/job/inputs", "made": "/made", "seed": folder.task.id, "most": most,
        "open_ended": any("*" in each.partition(" | ")[0] for each in folder.task.outputs.files),
        "inputs_named": list(folder.task.inputs.files),
        "files": {path.relative_to(outputs).as_posix(): formats_of(folder, path) for path in files},
    }  # fmt: skip
    mounts = [Mount(outputs, "/job/outputs")]
    mounts += [Mount(folder.inputs, "/job/inputs")] if folder.inputs.is_dir() else []
    command = run_sandboxed(
        "repoassay.mutants.outputs.worker", stdin=json.dumps(request).encode(), mounts=mounts, limits=LIMITS,
        scratch=["/made"], collect=[ExportSpec("/made", into, max_bytes=4 * 2**30, max_files=20_000)],
    )  # fmt: skip
    done = sandbox.run(command)
    try:
        index = _Index.model_validate_json((into / "index.json").read_bytes())
    except (OSError, ValidationError) as error:
        message = done.stderr.decode(errors="replace").strip()[-500:]
        raise InfraFault(f"The mutants of {folder.task.id} could not be made: {message or done.exit.ended}.") from error
    for mutant in index.mutants:
        (into / mutant.folder).mkdir(exist_ok=True)
        _complete(into / mutant.folder, outputs, mutant)
    return index.mutants, index.left_out


def formats_of(folder: TaskFolder, path: Path) -> list[str]:
    """Suffixes that a task names for an output: its first pattern's, not those of patterns that take anything."""
    own = path.suffix.lower()
    for pattern in folder.task.outputs.files:
        suffix = pattern.partition(" | ")[0].rpartition(".")[2]
        named = [f".{each.strip()}" for each in suffix.strip("{}").split(",")]
        if own in named:
            return named
    return [own]


def _complete(place: Path, outputs: Path, mutant: MadeMutant) -> None:
    """Beside what was changed goes what was not."""
    for path in outputs.rglob("*"):
        name = path.relative_to(outputs).as_posix()
        target = place / PurePosixPath(name)
        if path.is_symlink() or not path.is_file() or target.exists() or name in mutant.removed:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target)
        except OSError:  # another file system
            shutil.copyfile(path, target)
