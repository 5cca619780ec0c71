"""The program that makes mutants: inside a sandbox, told what to make by standard input.

It opens what a task's solution left, so it runs where nothing can be lost.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import random
import shutil
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repoassay.mutants.outputs.mutant import Expected, MadeMutant, OutputChange, RightOutput, Same

__all__ = ["main"]

_MODALITIES = {
    "pictures": "picture_changes",
    "videos": "video_changes",
    "sounds": "sound_changes",
    "arrays": "array_changes",
    "documents": "document_changes",
    "records": "record_changes",
    "texts": "text_changes",
}
"""Modules and what makes changes there, in the order in which they are asked whether a file is theirs."""


def main() -> None:
    """Make the mutants; each in a folder of its own, with an index of them all beside."""
    request = json.load(sys.stdin)
    outputs, inputs, mutants_folder = Path(request["outputs"]), Path(request["inputs"]), Path(request["made"])
    inputs_there = [inputs / name for name in request["inputs_named"] if (inputs / name).is_file()]
    planned = [
        (name, source, change)
        for name, formats in request["files"].items()
        for source in [
            RightOutput(outputs / name, inputs_there, formats, zlib.crc32(f"{request['seed']}/{name}".encode()))
        ]
        for change in _changes(source)
    ]
    names = [name for name in request["files"] if (outputs / name).is_file()]
    sets = list(_folder_changes(outputs, names, open_ended=request["open_ended"]))
    chosen, left_out = _sample(planned, request["most"], request["seed"])
    index = [
        each.model_dump(mode="json")
        for number, (name, source, change) in enumerate(chosen)
        if (each := _make(mutants_folder, number, name, source, change)) is not None
    ]
    for number, change in enumerate(sets):
        change.write(outputs, mutants_folder / f"set-{number}")
        index.append(_mutant_record(f"set-{number}", "files", change).model_dump(mode="json"))
    (mutants_folder / "index.json").write_text(json.dumps({"mutants": index, "left_out": left_out}))


def _mutant_record(folder: str, file: str, change: _FolderChange) -> MadeMutant:
    return MadeMutant(
        folder=folder, file=file, name=change.name, expected=change.expected, share=change.share,
        removed=change.removed,
    )  # fmt: skip


def _changes(source: RightOutput) -> Iterator[OutputChange]:
    for name, function in _MODALITIES.items():
        with contextlib.suppress(ImportError):  # a package that no metric of this task needs either
            module: Any = importlib.import_module(f"repoassay.mutants.outputs.{name}")
            if source.path.suffix.lower() in module.SUFFIXES:
                yield from getattr(module, function)(source)
                return


def _sample(planned: Sequence[Any], most: int, seed: str) -> tuple[list[Any], int]:
    """At most so many of the wrong and open ones, and every right one."""
    right = [each for each in planned if each[2].expected is Expected.RIGHT]
    rest = [each for each in planned if each[2].expected is not Expected.RIGHT]
    if len(rest) > most:
        chosen = sorted(random.Random(seed).sample(range(len(rest)), most))  # noqa: S311 - the same every time
        return right + [rest[number] for number in chosen], len(rest) - most
    return [*right, *rest], 0


def _make(into: Path, number: int, name: str, source: RightOutput, change: OutputChange) -> MadeMutant | None:
    folder = into / f"{number:04}"
    place = (folder / name).with_suffix(change.suffix or source.path.suffix)
    place.parent.mkdir(parents=True)
    with contextlib.suppress(Same):
        share = change.write(place)
        return MadeMutant(
            folder=folder.name, file=name, name=change.name, expected=change.expected, sized=change.sized,
            share=change.share if share is None else share, removed=(name,) if change.suffix else (),
        )  # fmt: skip
    shutil.rmtree(folder)
    return None


@dataclass(frozen=True, slots=True)
class _FolderChange:
    """A change of a set of files: what each name is to hold, and which are gone."""

    name: str
    holds: dict[str, str]
    removed: tuple[str, ...] = ()
    expected: Expected = Expected.WRONG
    share: float = 1.0

    def write(self, outputs: Path, folder: Path) -> None:
        """Write the files that are changed."""
        for name, source in self.holds.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(outputs / source, folder / name)


def _folder_changes(outputs: Path, names: Sequence[str], *, open_ended: bool) -> Iterator[_FolderChange]:
    """Changes of the files of one kind, where there are at least two that differ.

    Args:
        outputs: Where they are.
        names: Their names.
        open_ended: Whether the task takes any number of files by a pattern, so that none is missed already.
    """
    kinds: dict[str, list[str]] = {}
    for name in sorted(names):
        kinds.setdefault(Path(name).suffix, []).append(name)
    for suffix, found in kinds.items():
        if len({(outputs / name).read_bytes() for name in found}) < 2:
            continue
        first, second, last = found[0], found[1], found[-1]
        share = 1 / len(found)
        yield _FolderChange("files-exchanged", {first: second, second: first})
        yield _FolderChange("file-repeated", dict.fromkeys(found[1:], first))
        yield _FolderChange("file-replaced", {last: first}, share=share)
        if open_ended:
            yield _FolderChange("file-missing", {}, (last,), share=share)
            yield _FolderChange("first-file-only", {}, tuple(found[1:]))
            yield _FolderChange("file-extra", {f"{first.removesuffix(suffix)}_again{suffix}": first}, share=share)
