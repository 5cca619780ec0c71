"""Shares of one command's work, for schedulers that start many processes: cut by index, each recorded apart.

Share 3 of 40 is the fourth of forty runs of consecutive items, so that items of one task mostly stay together. What a
share records lies beside the file it will be collected into, in `FILE.parts/00003-of-00040.jsonl`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from repoassay.errors import BadInput

__all__ = ["WorkShare", "part_files", "parts_folder", "parts_within"]

MOST_SHARES = 100_000
_PART = re.compile(r"(\d{5})-of-(\d{5})\.jsonl")


@dataclass(frozen=True, slots=True)
class WorkShare:
    """One of `count` shares of a command's work; `index` counts from 0."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> WorkShare:
        """Read `INDEX/COUNT`.

        Raises:
            BadInput: It is none.
        """
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        index, count = (int(found[1]), int(found[2])) if found else (0, 0)
        if not index < count < MOST_SHARES:
            raise BadInput(
                f"{text[:40]!r} is no share of work.",
                f"Write INDEX/COUNT, such as 0/40 to 39/40, with less than {MOST_SHARES:,}.",
            )
        return cls(index, count)

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def span(self, total: int) -> range:
        """The positions (from 0) of `total` items that are this share's; every position is in exactly one share."""
        return range(self.index * total // self.count, (self.index + 1) * total // self.count)

    def part_of(self, results: Path) -> Path:
        """Where the share records what will be collected into `results`."""
        return self.part_in(parts_folder(results))

    def part_in(self, folder: Path) -> Path:
        """The file of the share in a folder of parts."""
        return folder / f"{self.index:05}-of-{self.count:05}.jsonl"


def parts_folder(results: Path) -> Path:
    """The folder of the parts of a file."""
    return results.with_name(f"{results.name}.parts")


def part_files(results: Path) -> list[Path]:
    """The parts of a file that are there, in the order of their shares."""
    return parts_within(parts_folder(results))


def parts_within(folder: Path) -> list[Path]:
    """The parts in a folder, in the order of their shares."""
    return sorted(each for each in folder.iterdir() if _PART.fullmatch(each.name)) if folder.is_dir() else []
