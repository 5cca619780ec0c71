"""Sets of files made wrong: one is missing, stands for another, or is there once too often."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from repoassay.mutants.outputs.mutant import Expected

__all__ = ["FolderChange", "folder_changes"]


@dataclass(frozen=True, slots=True)
class FolderChange:
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


def folder_changes(outputs: Path, names: Sequence[str], *, open_ended: bool) -> Iterator[FolderChange]:
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
        yield FolderChange("files-exchanged", {first: second, second: first})
        yield FolderChange("file-repeated", dict.fromkeys(found[1:], first))
        yield FolderChange("file-replaced", {last: first}, share=share)
        if open_ended:
            yield FolderChange("file-missing", {}, (last,), share=share)
            yield FolderChange("first-file-only", {}, tuple(found[1:]))
            yield FolderChange("file-extra", {f"{first.removesuffix(suffix)}_again{suffix}": first}, share=share)
