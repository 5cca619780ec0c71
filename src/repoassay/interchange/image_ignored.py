"""What a `.dockerignore` keeps out of an image: files of the context that COPY does not see."""

from __future__ import annotations

import re
from fnmatch import translate
from pathlib import Path, PurePosixPath

from repoassay.tasks import read_regular

__all__ = ["leave_out_ignored"]

_MOST_TEXT, _MOST_PATTERNS = 2**16, 1000


def leave_out_ignored(files: dict[str, Path], dockerfile: Path, context: Path) -> None:
    """Take out of an image's files, by their places, what the last pattern that matches it, or its folder, keeps out.

    Args:
        files: Place in the image -> file of the context.
        dockerfile: Whose own patterns, as `Dockerfile.dockerignore`, go before those of the context.
        context: The folder that COPY takes files from.
    """
    try:
        own = dockerfile.with_name(f"{dockerfile.name}.dockerignore")
        text = read_regular(own if own.is_file() else context / ".dockerignore", _MOST_TEXT).decode("utf-8", "replace")
    except OSError:
        return
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    patterns = [(line[0] == "!", _pattern(line.lstrip("!").strip())) for line in lines[:_MOST_PATTERNS]]
    for place, file in list(files.items()):
        if not file.is_relative_to(context):
            continue
        names, kept = file.relative_to(context).parts, True
        for again, pattern in patterns:
            if kept is not again and _matches(pattern, names):
                kept = again
        if not kept:
            del files[place]


def _pattern(line: str) -> list[re.Pattern[str] | None]:
    """A pattern as Docker reads it, a name at a time; None is `**`, any number of folders."""
    parts = [part for part in PurePosixPath("/", line).parts[1:] if part != "."]
    return [None if part == "**" else re.compile(translate(part.replace("[^", "[!"))) for part in parts]


def _matches(pattern: list[re.Pattern[str] | None], names: tuple[str, ...]) -> bool:
    """Whether a pattern matches a path or a folder above it: one pass over the names, however many `**` there are."""
    reached = _with_skipped(pattern, {0})
    for name in names:
        after = set()
        for at in reached - {len(pattern)}:
            part = pattern[at]
            if part is None:
                after.add(at)
            elif part.match(name):
                after.add(at + 1)
        reached = _with_skipped(pattern, after)
        if len(pattern) in reached:
            return True
    return False


def _with_skipped(pattern: list[re.Pattern[str] | None], reached: set[int]) -> set[int]:
    """Places in a pattern, and those behind each `**` at one, which may stand for nothing."""
    for at in range(len(pattern)):
        if at in reached and pattern[at] is None:
            reached.add(at + 1)
    return reached
