"""A change as the review page shows it: bounded, with files that wait to be asked for."""

from __future__ import annotations

import re

from repoassay.diffs import DiffRow, FileDiff, read

__all__ = ["is_collapsed", "is_generated", "lines_between", "parse_diff"]

_MAX_FILES = 20_000
_MAX_LINES = 300_000
"""A row takes a hundred bytes, however short its line: a diff of empty lines would take forty times its size."""
_GENERATED = re.compile(
    r"(^|/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|packages\.lock\.json|Pipfile\.lock"
    r"|(yarn|bun|poetry|uv|pdm|Cargo|Gemfile|composer|mix|flake|pubspec|Podfile)\.lock)$"
    r"|\.min\.(js|css|mjs)$|\.(map|snap)$|[._]generated\.\w+$|_pb2(_grpc)?\.pyi?$|\.pb\.(go|cc|h)$|\.g\.dart$"
    r"|(^|/)(dist|vendor|vendored|third_party|node_modules|__snapshots__)/"
)
_LARGE = 600


def parse_diff(text: str) -> tuple[FileDiff, ...]:
    """Return at most 20,000 files of the first 300,000 lines; a note says where the diff was cut."""
    files = read(text, _MAX_LINES, _MAX_FILES)
    lines = text.count("\n") + (not text.endswith("\n"))
    if lines > _MAX_LINES and files:
        notice = f"The rest of the change, {lines - _MAX_LINES:,} lines, is not shown."
        files[-1].rows.append(DiffRow("\\", None, None, notice, max(0, files[-1].hunks - 1)))
    return files


def is_generated(path: str) -> bool:
    """Tell by the name whether a file is locked, packed, generated or of somebody else."""
    return bool(_GENERATED.search(path))


def is_collapsed(file: FileDiff) -> bool:
    """Tell whether the file waits to be asked for: generated, a drawing, or large."""
    return file.additions + file.deletions > _LARGE or is_generated(file.path) or file.path.endswith(".svg")


def lines_between(file: FileDiff, side: str, first: int, last: int) -> list[str]:
    """Return the texts of those lines of a side (`old` or `new`) that the diff shows between two numbers, in order."""
    rows = (row for row in file.rows if row.sign != "@")
    return [row.text for row in rows if first <= ((row.old if side == "old" else row.new) or 0) <= last]
